//! What an access log does not tell.

use crate::provenance::Degradation;

/// Something that a log lacks besides what all of them lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lack {
    /// When a request ended is known to the second alone.
    WholeSeconds,
    /// When the first byte of a response came.
    FirstByte,
    /// How long connecting took.
    Connecting,
    /// How much of the backend's time was spent on connecting and on tries before the last.
    Tries,
    /// What is shorter than a tick of the kernel.
    Tick,
    /// Which time zone its times are in.
    TimeZone,
}

impl Lack {
    /// As the report says it.
    pub(super) fn degradation(self) -> Degradation {
        let (what, reason, consequence) = match self {
            Self::WholeSeconds => (
                "start of requests",
                "the log has no msec, only times in whole seconds",
                "a request may have started up to one second later than is said, so that slow requests of the same \
                 moment cannot be told from those of another",
            ),
            Self::FirstByte => (
                "first-byte latency",
                "the log does not say when responses began",
                "the time until the whole response stands for it",
            ),
            Self::Connecting => (
                "connecting",
                "the log does not say how long it took",
                "latency includes it wherever a connection was opened",
            ),
            Self::Tries => (
                "single tries",
                "an Envoy log has one line a request",
                "latency includes connecting, waiting for a connection and tries of other instances",
            ),
            Self::Tick => (
                "resolution",
                "nginx measures durations by a clock that moves on with each tick of the kernel",
                "latency is off by up to a tick: 1 to 10 ms, mostly 4 ms",
            ),
            Self::TimeZone => (
                "time zone",
                "HAProxy logs local time without its offset",
                "times are shown as if they were UTC",
            ),
        };
        Degradation { what: what.into(), reason: reason.into(), consequence: consequence.into() }
    }

    /// What every access log lacks.
    pub(super) fn of_all() -> Degradation {
        Degradation {
            what: "access log".into(),
            reason: "it was written by a proxy or client, with times in milliseconds".into(),
            consequence:
                "read lag, round-trip time and retransmissions are not in it, so that causes in the caller \
                          and in the network cannot be told; times have millisecond resolution"
                    .into(),
        }
    }
}
