//! The system on the command line.

use std::{num::NonZeroU32, path::PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum, ValueHint};

use super::{
    super::{console::Console, number},
    Failure, input,
};
use crate::simulation::{
    Balancing, Discipline, Rate, ServiceTime, System,
    notation::{self, Pattern},
};

/// What is simulated, apart from policies.
#[derive(Debug, Args)]
#[command(next_help_heading = "System")]
pub(super) struct SystemArguments {
    /// When requests arrive: 'poisson', 'bursty:factor=3,share=10%,length=1s', or 'closed:100,think=10ms' for clients
    /// that wait for their answers
    #[arg(long, value_name = "PATTERN", env = "OBSERVER_ARRIVALS", default_value = "poisson")]
    arrivals: Pattern,
    /// How many requests arrive on average; a closed loop finds its own rate
    #[arg(long, value_name = "RATE", env = "OBSERVER_RATE", default_value = "2500/s", value_parser = notation::rate)]
    rate: Rate,
    /// How many calls a request makes at once; it is answered when all of them are
    #[arg(long, value_name = "N", env = "OBSERVER_FANOUT", default_value = "1", allow_negative_numbers = true, value_parser = count)]
    fanout: NonZeroU32,
    /// How many instances there are
    #[arg(long, value_name = "N", env = "OBSERVER_INSTANCES", default_value = "10", allow_negative_numbers = true, value_parser = count)]
    instances: NonZeroU32,
    /// How many calls an instance serves at the full rate at a time
    #[arg(long, value_name = "N", env = "OBSERVER_SLOTS", default_value = "8", allow_negative_numbers = true, value_parser = count)]
    slots: NonZeroU32,
    /// What an instance does with more calls than slots
    #[arg(long, value_name = "DISCIPLINE", env = "OBSERVER_DISCIPLINE", default_value = "fifo")]
    discipline: DisciplineChoice,
    /// Which instance a call goes to
    #[arg(long, value_name = "BALANCING", env = "OBSERVER_BALANCING", default_value = "two-choices")]
    balancing: BalancingChoice,
    /// How long a call takes to serve: '10ms', 'uniform=5ms..15ms', 'exponential=20ms', 'lognormal=10ms/1' (median and
    /// sigma), each perhaps with '5ms+' before it; or a mixture, such as '98%:10ms,2%:300ms'
    #[arg(long, value_name = "TIME", env = "OBSERVER_SERVICE", default_value = "5ms+lognormal=5ms/1")]
    service: ServiceTime,
    /// Take the service time from the latencies of a recording (.csv, .parquet) or of a report in JSON
    #[arg(
        long,
        value_name = "FILE",
        env = "OBSERVER_INPUT",
        value_hint = ValueHint::FilePath,
        conflicts_with = "service"
    )]
    input: Option<PathBuf>,
}

/// What an instance does with more calls than slots.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum DisciplineChoice {
    /// Those that came later wait
    Fifo,
    /// All are served at once, each at an equal part of the rate
    Sharing,
}

/// Which instance a call goes to.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum BalancingChoice {
    /// Any
    Random,
    /// Each in turn
    RoundRobin,
    /// Of two at random, the one with fewer calls in flight
    TwoChoices,
    /// The one with the fewest calls in flight
    LeastInFlight,
    /// Of two at random, the one with the lower product of recent latency and calls in flight
    LatencyAware,
}

impl SystemArguments {
    /// The system for them.
    pub(super) fn system(&self, console: &mut Console) -> Result<System, Failure> {
        let arrivals = self
            .arrivals
            .at(self.rate)
            .map_err(|error| Failure::Usage(anyhow!("--arrivals cannot be used: {error}")))?;
        let service = match &self.input {
            Some(path) => input::service_time(path, console)?,
            None => self.service.clone(),
        };
        Ok(System {
            arrivals,
            width: self.fanout,
            balancing: self.balancing.into(),
            instances: self.instances,
            slots: self.slots,
            discipline: self.discipline.into(),
            service,
        })
    }
}

impl From<DisciplineChoice> for Discipline {
    fn from(choice: DisciplineChoice) -> Self {
        match choice {
            DisciplineChoice::Fifo => Self::FirstInFirstOut,
            DisciplineChoice::Sharing => Self::ProcessorSharing,
        }
    }
}

impl From<BalancingChoice> for Balancing {
    fn from(choice: BalancingChoice) -> Self {
        match choice {
            BalancingChoice::Random => Self::Random,
            BalancingChoice::RoundRobin => Self::RoundRobin,
            BalancingChoice::TwoChoices => Self::TwoChoices,
            BalancingChoice::LeastInFlight => Self::LeastInFlight,
            BalancingChoice::LatencyAware => Self::LatencyAware,
        }
    }
}

/// The most instances, slots or calls of a request: more would be a slip of the finger.
const MOST: NonZeroU32 = NonZeroU32::MIN.saturating_add(999_999);

fn count(text: &str) -> Result<NonZeroU32, String> {
    number::whole(NonZeroU32::MIN, MOST)(text)
}
