//! Packets that arrive at their socket, before TCP takes them.

use aya_ebpf::{macros::cgroup_skb, programs::SkBuffContext};
use observer_common::Direction;

use crate::packet;

/// Let every packet pass.
const PASS: i32 = 1;

#[cgroup_skb]
fn ingress(context: SkBuffContext) -> i32 {
    packet::observe(&context, Direction::Ingress);
    PASS
}
