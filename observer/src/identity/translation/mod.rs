//! The real instance behind a virtual address: destination translation (DNAT) as conntrack does it.
//!
//! Where a container's connection to a virtual address is translated in the host's network namespace, the
//! container's own packets show only the virtual address. The kernel's connection tracking knows both: its
//! "original" tuple is what the client's socket sees, its "reply" tuple starts at the real backend.
//!
//! What was tried on 6.18 with nftables, in namespaces joined by a veth pair, and what follows from it:
//!
//! - The default `net.netfilter.nf_conntrack_events = 2` suffices: entries made while somebody on the host listens
//!   raise events. Entries made before raise none at their end, so what [`Conntrack::dump`] found leaves a table
//!   only when a new connection takes its place or newer ones need the room.
//! - A namespace without rules that need connection tracking tracks nothing: no events, an empty dump, no error.
//! - An event is there before the client's `connect` returns, that is before any exchange.
//! - A socket hears the network namespace that it was opened in, and no other. Run in the host's, it hears what
//!   containers' connections go through; a translation inside a container shows in the container's own packets.
//!
//! Balancers that bypass connection tracking are not seen: programs at the socket hooks (they show the socket the
//! real instance, so nothing is missing), and those at the network device (there the address stays virtual).

mod conntrack;
mod decode;
mod table;
#[cfg(test)]
mod tests;

use observer_common::Endpoint;

pub use self::{
    conntrack::{Conntrack, ConntrackError},
    table::Translations,
};

/// One TCP connection whose destination is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Translation {
    /// The client, as its own socket sees itself, unless its source was translated before.
    pub client: Endpoint,
    /// What the client dialled: the virtual address.
    pub dialled: Endpoint,
    /// Who answers: the real instance.
    pub backend: Endpoint,
}

/// What happened to a translated connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its first packet was let through.
    New(Translation),
    /// It is forgotten: some time after its end, 120 seconds in an orderly case.
    Gone(Translation),
}
