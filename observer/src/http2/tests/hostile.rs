//! Whatever passes, nothing panics and nothing grows without bound.

use observer_common::{Direction, Outcome, Place, Role, Timestamp};
use proptest::prelude::*;

use crate::http2::{Event, Frame, Streams};

#[derive(Clone, Debug)]
struct Piece {
    egress: bool,
    kind: u8,
    flags: u8,
    stream: u32,
    length: u32,
    offset: u32,
    data: Vec<u8>,
    complete: bool,
    jump: bool,
    now: u64,
    place: Place,
}

prop_compose! {
    fn piece()(
        egress: bool,
        kind in prop_oneof![9 => 0_u8..10, 1 => any::<u8>()],
        flags in prop_oneof![Just(0_u8), Just(4), Just(5), any::<u8>()],
        stream in prop_oneof![9 => 0_u32..8, 1 => any::<u32>()],
        data in prop::collection::vec(any::<u8>(), 0..40),
        honest in prop::bool::weighted(0.9),
        length: u32,
        offset in prop_oneof![3 => Just(0_u32), 1 => 0_u32..40],
        complete in prop::bool::weighted(0.8),
        jump in prop::bool::weighted(0.02),
        now in 0_u64..1000,
        place in prop_oneof![
            6 => Just(Place::InOrder), 2 => Just(Place::Behind), 1 => Just(Place::Fills), 1 => Just(Place::Filled), 1 => Just(Place::Missed)
        ],
    ) -> Piece {
        let length = if honest { u32::try_from(data.len()).unwrap() } else { length };
        Piece { egress, kind, flags, stream, length, offset, data, complete, jump, now, place }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn anything_may_pass(
        pieces in prop::collection::vec(piece(), 0..120),
        from_the_start: bool,
        server: bool,
    ) {
        let role = if server { Role::Server } else { Role::Client };
        let mut streams = Streams::new(role, from_the_start);
        let mut numbers = [0_u32; 2];
        let mut begun = 0_usize;
        let mut ended = 0_usize;
        let mut count = |event: Event<'_>| ended += usize::from(matches!(event, Event::Ended(_)));
        for piece in &pieces {
            let number = &mut numbers[usize::from(piece.egress)];
            *number += if piece.jump { 2 } else { 1 };
            begun += usize::from(piece.kind == 1 || piece.kind == 9);
            let frame = Frame {
                now: Timestamp(piece.now),
                direction: if piece.egress { Direction::Egress } else { Direction::Ingress },
                kind: piece.kind,
                flags: piece.flags,
                stream: piece.stream,
                length: piece.length,
                offset: piece.offset,
                data: &piece.data,
                complete: piece.complete,
                number: *number,
                place: piece.place,
            };
            streams.observe(&frame, &mut count);
            prop_assert!(streams.open(Timestamp(500)).count() <= begun);
        }
        streams.close(Timestamp(2000), Outcome::Reset, &mut count);
        prop_assert!(ended <= begun);
        prop_assert_eq!(streams.open(Timestamp(500)).count(), 0);
        let (bytes, slots) = streams.held();
        prop_assert!(bytes < 1024 * 1024 && slots <= 2048);
    }
}
