//! What can make requests slow.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What makes requests slow, in the words of a report's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Single replicas stop for a moment, each at times of its own
    Independent,
    /// One replica is slow as a whole, for want of processor time
    Instance,
    /// The store behind all replicas stands still now and then
    Shared,
    /// More requests arrive than the replicas have slots for
    Saturated,
    /// The client does not read its answers for a while
    Caller,
    /// The path to the replicas delays segments, and loses some until they are sent again
    Network,
    /// Some requests cost more, at whichever replica
    Request,
    /// Nothing: every fault is off
    NoTail,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 8] = [
        Self::Independent,
        Self::Instance,
        Self::Shared,
        Self::Saturated,
        Self::Caller,
        Self::Network,
        Self::Request,
        Self::NoTail,
    ];

    /// As on the command line and in a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Instance => "instance",
            Self::Shared => "shared",
            Self::Saturated => "saturated",
            Self::Caller => "caller",
            Self::Network => "network",
            Self::Request => "request",
            Self::NoTail => "no-tail",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_one_name() {
        for cause in Cause::ALL {
            assert_eq!(Cause::from_str(cause.name(), false), Ok(cause));
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.name());
        }
    }
}
