//! What forwarders do.

use super::{Direction, Packet, Verdict};

/// Everything goes on.
pub fn pass(_: &Packet) -> Verdict {
    Verdict::Pass
}

/// Every `n`-th new segment with payload is lost, in one direction.
pub fn lose_every(n: u32, direction: Direction) -> impl FnMut(&Packet) -> Verdict + Send + 'static {
    move |packet| {
        let chosen = packet.direction == direction && packet.length > 0 && packet.data.is_multiple_of(n);
        if chosen && !packet.again { Verdict::Drop } else { Verdict::Pass }
    }
}

/// Of every `n` bare acknowledgements in one direction all but the last are lost: the other side sends again what
/// has arrived already.
pub fn lose_acknowledgements(
    n: u32,
    direction: Direction,
) -> impl FnMut(&Packet) -> Verdict + Send + 'static {
    let mut count = 0;
    move |packet| {
        if packet.direction != direction || !packet.is_pure_ack() {
            return Verdict::Pass;
        }
        count += 1;
        if u32::is_multiple_of(count, n) { Verdict::Pass } else { Verdict::Drop }
    }
}

/// Every segment with payload goes on twice.
pub fn duplicate(packet: &Packet) -> Verdict {
    if packet.length > 0 { Verdict::Twice } else { Verdict::Pass }
}

/// Every `n`-th segment with payload is overtaken by the two behind it, in one direction.
pub fn reorder_every(n: u32, direction: Direction) -> impl FnMut(&Packet) -> Verdict + Send + 'static {
    move |packet| {
        let chosen = packet.direction == direction && packet.length > 0 && packet.data % n == 1;
        if chosen && !packet.again { Verdict::Behind(2) } else { Verdict::Pass }
    }
}
