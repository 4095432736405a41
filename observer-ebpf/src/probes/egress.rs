//! Packets that leave, after routing and address translation.

use aya_ebpf::{macros::cgroup_skb, programs::SkBuffContext};
use observer_common::Direction;

use crate::packet;

/// Let every packet pass.
const PASS: i32 = 1;

#[cgroup_skb]
fn egress(context: SkBuffContext) -> i32 {
    packet::observe(&context, Direction::Egress);
    PASS
}
