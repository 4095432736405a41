//! One exchange, as compact as an assessment allows.

use std::num::{NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64};

use observer_common::{Nanoseconds, Outcome, Timestamp};

use crate::exchange::{Exchange, NameId};

/// Which latency is assessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Until the first response byte.
    #[default]
    FirstByte,
    /// Until the last response byte.
    LastByte,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::FirstByte, Self::LastByte];

    /// The name in reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstByte => "first-byte",
            Self::LastByte => "last-byte",
        }
    }
}

/// One exchange: 64 bytes, what an assessment needs of it and no more.
///
/// What may be unknown is kept plus one, so that zero says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    start: Timestamp,
    latency: Nanoseconds,
    read_lag: Option<NonZeroU64>,
    head_hash: Option<NonZeroU64>,
    request: Option<NonZeroU64>,
    instance: NameId,
    class: Option<NameId>,
    status: Option<NameId>,
    srtt: Option<NonZeroU32>,
    attempt: Option<NonZeroU16>,
    censored: bool,
    failed: bool,
    retransmitted: Option<bool>,
    request_size: Option<NonZeroU8>,
    response_size: Option<NonZeroU8>,
}

impl Row {
    /// The row of an exchange, with the latency of this metric.
    ///
    /// Where the last byte is asked for and is not known, the answer took at least until its first one: censored. A
    /// first byte that was read late makes the last byte late only where it was read after the last one had come.
    pub fn of(exchange: &Exchange, metric: Metric) -> Self {
        let answered = exchange.outcome == Outcome::Ok;
        let complete = exchange.complete.filter(|_| answered).map(|complete| complete.max(exchange.latency));
        let (latency, censored) = match (metric, complete) {
            (Metric::FirstByte, _) => (exchange.latency, !answered),
            (Metric::LastByte, Some(complete)) => (complete, false),
            (Metric::LastByte, None) => (exchange.latency, true),
        };
        let read_lag = exchange.read_lag.map(|lag| {
            let read = exchange.latency.0.saturating_add(lag.0);
            read.saturating_sub(latency.0)
        });
        Self {
            start: exchange.start,
            latency,
            read_lag: read_lag.and_then(plus_one),
            head_hash: exchange.head_hash.and_then(plus_one),
            request: exchange.request.and_then(plus_one),
            instance: exchange.instance,
            class: exchange.class,
            status: exchange.status,
            srtt: exchange.srtt.and_then(|srtt| {
                NonZeroU32::new(u32::try_from(srtt.0.saturating_add(1)).unwrap_or(u32::MAX))
            }),
            attempt: exchange.attempt.and_then(|attempt| {
                NonZeroU16::new(u16::try_from(attempt.saturating_add(1)).unwrap_or(u16::MAX))
            }),
            censored,
            failed: exchange.failed,
            retransmitted: exchange.retransmits.map(|retransmits| retransmits > 0),
            request_size: exchange.request_bytes.and_then(size),
            response_size: exchange.response_bytes.and_then(size),
        }
    }

    /// When the request began.
    pub const fn start(&self) -> Timestamp {
        self.start
    }

    /// Until the first or the last response byte, whichever is measured; at least that where it [is
    /// censored](Self::is_censored).
    pub const fn latency(&self) -> Nanoseconds {
        self.latency
    }

    /// Whether the latency is only a lower bound: there is no answer, or its last byte is asked for and was not seen.
    pub const fn is_censored(&self) -> bool {
        self.censored
    }

    /// How long the response waited until the application looked at it, where that is known.
    pub fn read_lag(&self) -> Option<Nanoseconds> {
        self.read_lag.map(|lag| Nanoseconds(lag.get() - 1))
    }

    /// What the caller experienced: the latency, and how long the response waited.
    pub fn experienced(&self) -> Nanoseconds {
        Nanoseconds(self.latency.0.saturating_add(self.read_lag().unwrap_or_default().0))
    }

    /// The backend.
    pub const fn instance(&self) -> NameId {
        self.instance
    }

    /// What kind of request it was, where that is known.
    pub const fn class(&self) -> Option<NameId> {
        self.class
    }

    /// The protocol's own status.
    pub const fn status(&self) -> Option<NameId> {
        self.status
    }

    /// Smoothed round-trip time; four seconds where it was longer.
    pub fn srtt(&self) -> Option<Nanoseconds> {
        self.srtt.map(|srtt| Nanoseconds(u64::from(srtt.get() - 1)))
    }

    /// Whether a segment was seen again, where that is known.
    pub const fn retransmitted(&self) -> Option<bool> {
        self.retransmitted
    }

    /// Whether the answer is a failure.
    pub const fn is_failed(&self) -> bool {
        self.failed
    }

    /// Keyed hash of the request's head.
    pub fn head_hash(&self) -> Option<u64> {
        self.head_hash.map(|hash| hash.get() - 1)
    }

    /// Which logical request this is a copy of, where the client logs it.
    pub fn request(&self) -> Option<u64> {
        self.request.map(|request| request.get() - 1)
    }

    /// Which copy: 0 the primary, 1 the hedge.
    pub fn attempt(&self) -> Option<u32> {
        self.attempt.map(|attempt| u32::from(attempt.get() - 1))
    }

    /// How large the request was: 0 for no byte, n for less than 2ⁿ and not less than half of that.
    pub fn request_size(&self) -> Option<u8> {
        self.request_size.map(|size| size.get() - 1)
    }

    /// How large the response was, in the same steps.
    pub fn response_size(&self) -> Option<u8> {
        self.response_size.map(|size| size.get() - 1)
    }
}

/// The highest number alone cannot be kept: it counts as unknown.
const fn plus_one(number: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(number.wrapping_add(1))
}

#[expect(clippy::cast_possible_truncation, reason = "a number of 64 bits has at most 65 sizes")]
fn size(bytes: u64) -> Option<NonZeroU8> {
    NonZeroU8::new((u64::BITS - bytes.leading_zeros()) as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Names;

    fn exchange() -> Exchange {
        let mut names = Names::default();
        Exchange::new(Timestamp(5), names.id("search"), names.id("192.0.2.1:80"), Nanoseconds(100))
    }

    #[test]
    fn a_row_is_a_cache_line() {
        assert_eq!(size_of::<Row>(), 64);
    }

    #[test]
    fn what_is_known_is_kept_and_what_is_not_stays_unknown() {
        let unknown = Row::of(&exchange(), Metric::FirstByte);
        assert_eq!((unknown.read_lag(), unknown.srtt(), unknown.retransmitted()), (None, None, None));
        assert_eq!((unknown.head_hash(), unknown.request(), unknown.attempt()), (None, None, None));
        assert_eq!((unknown.request_size(), unknown.response_size()), (None, None));
        for number in [0, 1, 7, u64::from(u32::MAX), u64::MAX - 1] {
            let known = Row::of(
                &Exchange {
                    head_hash: Some(number),
                    request: Some(number),
                    read_lag: Some(Nanoseconds(number.min(1 << 40))),
                    srtt: Some(Nanoseconds(number)),
                    attempt: Some(u32::try_from(number.min(3)).unwrap()),
                    retransmits: Some(0),
                    request_bytes: Some(number),
                    ..exchange()
                },
                Metric::FirstByte,
            );
            assert_eq!((known.head_hash(), known.request()), (Some(number), Some(number)));
            assert_eq!(known.read_lag(), Some(Nanoseconds(number.min(1 << 40))));
            assert_eq!(known.srtt(), Some(Nanoseconds(number.min(u64::from(u32::MAX) - 1))));
            assert_eq!(known.attempt().map(u64::from), Some(number.min(3)));
            assert_eq!(known.retransmitted(), Some(false));
        }
    }

    #[test]
    fn sizes_are_powers_of_two() {
        for (bytes, bucket) in
            [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1_023, 10), (1_024, 11), (u64::MAX, 64)]
        {
            let row = Row::of(&Exchange { response_bytes: Some(bytes), ..exchange() }, Metric::FirstByte);
            assert_eq!(row.response_size(), Some(bucket), "{bytes}");
        }
    }

    #[test]
    fn the_last_byte_is_measured_where_it_is_asked_for() {
        let late =
            Exchange { complete: Some(Nanoseconds(400)), read_lag: Some(Nanoseconds(350)), ..exchange() };
        let first = Row::of(&late, Metric::FirstByte);
        assert_eq!((first.latency().0, first.experienced().0, first.is_censored()), (100, 450, false));
        let last = Row::of(&late, Metric::LastByte);
        assert_eq!((last.latency().0, last.experienced().0, last.is_censored()), (400, 450, false));
        let unknown = Row::of(&exchange(), Metric::LastByte);
        assert_eq!((unknown.latency().0, unknown.is_censored()), (100, true));
    }

    #[test]
    fn what_has_no_answer_is_censored() {
        for outcome in Outcome::ALL {
            for metric in Metric::ALL {
                let complete = Some(Nanoseconds(200));
                let row = Row::of(&Exchange { complete, outcome, ..exchange() }, metric);
                assert_eq!(row.is_censored(), outcome != Outcome::Ok);
            }
        }
    }
}
