//! Going on in another program: what does not fit into one.

use aya_ebpf::programs::SkBuffContext;
use observer_common::{Direction, Route};

use crate::maps::WALKERS;

/// Goes on with the same packet in another program. Returns only where that program is not there, or where too many
/// have run already.
#[inline(always)]
pub(crate) fn continue_with(context: &SkBuffContext, next: Route, direction: Direction) {
    // SAFETY: `cb` is scratch space of the packet, for programs to talk to each other.
    unsafe {
        (*context.skb.skb).cb[0] = direction.number().into();
        (*context.skb.skb).cb[1] = 0;
        WALKERS.tail_call(context, next.walker());
    }
}

/// Runs the program at hand once more, where it left off.
#[inline(always)]
pub(crate) fn once_more(context: &SkBuffContext, this: Route) {
    // SAFETY: as above.
    unsafe {
        (*context.skb.skb).cb[1] = 1;
        WALKERS.tail_call(context, this.walker());
    }
}

/// What the program before has said: the direction, and whether this is the first turn.
#[inline(always)]
pub(crate) fn told(context: &SkBuffContext) -> (Direction, bool) {
    // SAFETY: as above.
    unsafe {
        let skb = context.skb.skb;
        let direction = if (*skb).cb[0] == 0 { Direction::Egress } else { Direction::Ingress };
        (direction, (*skb).cb[1] == 0)
    }
}
