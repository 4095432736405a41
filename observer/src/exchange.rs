//! The one type that every source ends in and everything else begins with.

use std::num::NonZeroU32;

use observer_common::{Nanoseconds, Outcome, Role, Timestamp};

use crate::maps::IndexSet;

/// A name that was seen before: an index into [`Names`], counted from one, so that an optional one takes no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(NonZeroU32);

/// Every text that exchanges refer to, each kept once, so that an [`Exchange`] is copied without allocation.
#[derive(Debug, Default)]
pub struct Names {
    texts: IndexSet<Box<str>>,
}

impl Names {
    /// The id of `text`, which is kept if it is new. Allocates only then.
    ///
    /// # Panics
    ///
    /// Never in practice: 2³² distinct names do not fit into memory.
    pub fn id(&mut self, text: &str) -> NameId {
        let index = match self.texts.get_index_of(text) {
            Some(index) => index,
            None => self.texts.insert_full(text.into()).0,
        };
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        #[expect(clippy::expect_used, reason = "2^32 distinct names do not fit into memory")]
        NameId(number.expect("fewer than 2^32 names"))
    }

    /// The text behind an id of this table.
    pub fn text(&self, id: NameId) -> &str {
        &self.texts[id.0.get() as usize - 1]
    }

    /// How many distinct texts are kept.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether no text is kept.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

/// One request and its response on one connection.
///
/// What the caller experienced is `latency + read_lag`. Where `outcome` is not [`Outcome::Ok`], `latency` is how
/// long was waited: a right-censored value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// First new payload byte of the request, on the observed host's monotonic clock.
    pub start: Timestamp,
    /// Instances that a client uses interchangeably.
    pub service: NameId,
    /// The backend's address, `ip:port`.
    pub instance: NameId,
    /// Until the first response byte that the application could read.
    pub latency: Nanoseconds,
    /// Until the last response byte.
    pub complete: Option<Nanoseconds>,
    /// Until the last request byte.
    pub sent: Option<Nanoseconds>,
    /// From the first response byte until the application first looked at it.
    pub read_lag: Option<Nanoseconds>,
    /// How it ended.
    pub outcome: Outcome,
    /// What kind of request it was.
    pub class: Option<NameId>,
    /// Payload bytes of the request.
    pub request_bytes: Option<u64>,
    /// Payload bytes of the response.
    pub response_bytes: Option<u64>,
    /// Smoothed round-trip time at the end of the exchange.
    pub srtt: Option<Nanoseconds>,
    /// Segments seen again during the exchange.
    pub retransmits: Option<u32>,
    /// The connection: the socket's cookie where the kernel observed it.
    pub connection: Option<u64>,
    /// Who asked.
    pub client: Option<NameId>,
    /// Which side was observed.
    pub role: Role,
    /// The protocol, where it was recognised.
    pub protocol: Option<NameId>,
    /// The protocol's own status.
    pub status: Option<NameId>,
    /// Whether the answer is a failure: fast, but no answer to hedge for.
    pub failed: bool,
    /// Name of the observed process.
    pub comm: Option<NameId>,
    /// The observed process.
    pub pid: Option<u32>,
    /// The observed process's control group.
    pub cgroup: Option<NameId>,
    /// What the client dialled, where that is not the instance.
    pub service_address: Option<NameId>,
    /// Keyed hash of the request's head.
    pub head_hash: Option<u64>,
    /// Which logical request this is a copy of, where a hedging client logs it.
    pub request: Option<u64>,
    /// Which copy: 0 the primary, 1 the hedge.
    pub attempt: Option<u32>,
}

impl Exchange {
    /// An exchange of which only what every log must have is known.
    pub const fn new(start: Timestamp, service: NameId, instance: NameId, latency: Nanoseconds) -> Self {
        Self {
            start,
            service,
            instance,
            latency,
            complete: None,
            sent: None,
            read_lag: None,
            outcome: Outcome::Ok,
            class: None,
            request_bytes: None,
            response_bytes: None,
            srtt: None,
            retransmits: None,
            connection: None,
            client: None,
            role: Role::Client,
            protocol: None,
            status: None,
            failed: false,
            comm: None,
            pid: None,
            cgroup: None,
            service_address: None,
            head_hash: None,
            request: None,
            attempt: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let mut names = Names::default();
        let a = names.id("192.0.2.1:80");
        let b = names.id("192.0.2.2:80");
        assert_ne!(a, b);
        assert_eq!(names.id("192.0.2.1:80"), a);
        assert_eq!(names.text(b), "192.0.2.2:80");
        assert_eq!(names.len(), 2);
    }
}
