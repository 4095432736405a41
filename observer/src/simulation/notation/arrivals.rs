//! Arrivals: `poisson`, `bursty:factor=3,share=10%,length=1s`, `closed:clients=100,think=10ms`.

use std::{fmt, num::NonZeroU32, str::FromStr};

use observer_common::Nanoseconds;

use super::{
    NotationError,
    fields::Fields,
    quantities::{DurationText, ShareText, count, duration, share},
};
use crate::simulation::{Arrivals, Bursts, Rate, Share};

/// Arrivals, but for their rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Independently of each other.
    Poisson,
    /// In bursts.
    Bursty {
        /// How many times the mean rate they arrive in a burst.
        factor: f64,
        /// Which share of the time bursts take.
        share: Share,
        /// How long a burst lasts on average.
        length: Nanoseconds,
    },
    /// After each answer, which decides the rate.
    Closed {
        /// How many clients there are.
        clients: NonZeroU32,
        /// How long each thinks on average.
        think: Nanoseconds,
    },
}

impl Pattern {
    /// The arrivals at this rate, which a closed loop has no use for.
    pub fn at(self, rate: Rate) -> Result<Arrivals, NotationError> {
        match self {
            Self::Poisson => Ok(Arrivals::Poisson(rate)),
            Self::Bursty { factor, share, length } => {
                Ok(Arrivals::Bursty(Bursts::new(rate, factor, share, length)?))
            }
            Self::Closed { clients, think } => Ok(Arrivals::ClosedLoop { clients, think }),
        }
    }
}

impl FromStr for Pattern {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let (name, mut fields) = Fields::split(text, |_| "clients")?;
        match name {
            "poisson" => {
                fields.finish("'poisson' alone")?;
                Ok(Self::Poisson)
            }
            "bursty" => {
                let factor = fields.take("factor", factor)?.unwrap_or(3.0);
                let share = fields.take("share", share)?.unwrap_or(Share::percent(10));
                let length = fields.take("length", duration)?.unwrap_or(SECOND);
                fields.finish("factor, share, length")?;
                Ok(Self::Bursty { factor, share, length })
            }
            "closed" => {
                let clients = fields.take("clients", count)?;
                let think = fields.take("think", duration)?.unwrap_or(Nanoseconds(0));
                fields.finish("clients, think")?;
                let what = "a number of clients, such as 'closed:100'";
                Ok(Self::Closed {
                    clients: clients.ok_or(NotationError::Missing { of: "closed", what })?,
                    think,
                })
            }
            _ => Err(NotationError::Unknown {
                found: name.into(),
                known: "'poisson', 'bursty:factor=3,share=10%,length=1s', 'closed:100,think=10ms'",
            }),
        }
    }
}

const SECOND: Nanoseconds = Nanoseconds(1_000_000_000);

fn factor(text: &str) -> Result<f64, NotationError> {
    text.parse().map_err(|_| NotationError::Value {
        found: text.into(),
        expected: "factor of the mean rate, such as '3'",
    })
}

impl fmt::Display for Arrivals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson(_) => formatter.write_str("poisson"),
            Self::Bursty(bursts) => write!(
                formatter,
                "bursty:factor={},share={},length={}",
                bursts.factor(),
                ShareText(bursts.share()),
                DurationText(bursts.length())
            ),
            Self::ClosedLoop { clients, think } => {
                write!(formatter, "closed:{clients},think={}", DurationText(*think))
            }
        }
    }
}
