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

/// Acknowledgements that carry nothing else are lost, in one direction, except for the first: it ends the
/// handshake. Where nothing else is said for a while, the other side sends again what has arrived already.
///
/// Once it has done so, what follows passes until there is something new to acknowledge: no conversation starves.
pub fn lose_acknowledgements(direction: Direction) -> impl FnMut(&Packet) -> Verdict + Send + 'static {
    let mut passing = true;
    move |packet| {
        if packet.direction != direction {
            if packet.length > 0 {
                passing = packet.again;
            }
            return Verdict::Pass;
        }
        if passing || !packet.is_pure_ack() { Verdict::Pass } else { Verdict::Drop }
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
