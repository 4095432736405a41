//! What one call costs: `cargo test --release -- --ignored --nocapture calls_per_second`.

use std::time::Instant;

use observer_common::Role;

use super::{conversation::Conversation, walker::Walker};
use crate::http2::{Event, Frame, Streams};

#[test]
#[ignore = "measures, and proves nothing"]
fn calls_per_second() {
    const WARM: u32 = 100;
    const CALLS: u32 = 500_000;
    let mut conversation = Conversation::new();
    for call in 0..WARM + CALLS {
        let stream = 2 * call + 1;
        conversation.call(stream, "/shop.Cart/Add").answer(stream).trailers(stream, "0");
    }
    // The walker's part is not what is measured.
    let mut walkers = [Walker::default(), Walker::default()];
    let mut pieces = Vec::new();
    for said in &conversation.said {
        let direction = super::conversation::direction(Role::Client, said.side);
        walkers[said.side as usize].segment(said.now, direction, &said.bytes, &mut |frame| {
            pieces.push((Frame { data: &[], ..*frame }, frame.data.to_vec()));
        });
    }
    let mut streams = Streams::new(Role::Client, true);
    let mut ended = 0;
    let started = Instant::now();
    for (frame, data) in &pieces {
        let frame = Frame { data, ..*frame };
        streams.observe(&frame, &mut |event| ended += u32::from(matches!(event, Event::Ended(_))));
    }
    let spent = started.elapsed();
    assert_eq!(ended, WARM + CALLS);
    println!(
        "{} ns a call of {} pieces",
        spent.as_nanos() / u128::from(ended),
        pieces.len() / ended as usize
    );
}
