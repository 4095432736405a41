//! Who asks, and where the instance that answers really is.
//!
//! The probes know addresses, cookies and numbers; people know names. Each part here turns one kind of the first
//! into one kind of the second, from what the host already says, and sends nothing to anybody:
//!
//! ```text
//! DNS answer seen on the wire ──> DnsNames ─────────┐
//! conntrack event (netlink) ────> Translations ──> locate ──> Facts ──> Services ──> name of the service
//! cgroup identifier ────────────> Cgroups ──> describe
//! sockets older than the tool ──> Processes
//! ```
//!
//! What needs privileges happens when a part is made ([`Conntrack::subscribe`], [`Processes::scan`]); afterwards
//! all of them work without any. Every table has a bound, and whatever falls out of it is the oldest.

mod cgroup;
mod names;
#[cfg(test)]
mod namespaces;
mod netlink;
mod processes;
mod service;
mod translation;

pub use cgroup::{CgroupError, Cgroups, describe};
pub use names::DnsNames;
pub use processes::{Missing, Owner, Processes};
pub use service::{
    AddressPattern, Facts, Glob, Location, PatternError, Reach, Rule, RuleError, Services, locate,
};
pub use translation::{Change, Conntrack, ConntrackError, Translation, Translations};
