//! Which lab `observer demo` runs.

use std::num::NonZeroUsize;

use clap::Args;
use jiff::SignedDuration;

use super::{super::number, duration};
use crate::{
    demo::{Balancing, Cause, MOST_REPLICAS, PATIENCE, Scenario, Severity, Wire, hedging::Policy},
    quantity::{Rate, Share},
    settings::parse_share,
};

/// The most replicas there are addresses for.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(MOST_REPLICAS - 1);

/// What makes requests slow, and what is done about it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lab")]
pub(super) struct LabArguments {
    /// What makes requests slow
    #[arg(long, value_name = "CAUSE", env = "OBSERVER_CAUSE", default_value = "independent")]
    cause: Cause,
    /// How bad it is: 2 is twice as bad as by default
    #[arg(
        long,
        value_name = "FACTOR",
        env = "OBSERVER_SEVERITY",
        default_value = "1",
        allow_negative_numbers = true,
        value_parser = severity
    )]
    severity: Severity,
    /// How much of the time the fault is on, such as 20%; with 'request', how many requests are expensive
    #[arg(long, value_name = "PERCENT", env = "OBSERVER_DUTY_CYCLE", value_parser = parse_share)]
    duty_cycle: Option<Share>,
    /// Decides arrivals, service times and faults
    #[arg(
        long,
        value_name = "N",
        env = "OBSERVER_SEED",
        allow_negative_numbers = true,
        value_parser = number::whole(0, u64::MAX)
    )]
    seed: Option<u64>,
    /// Requests a second
    #[arg(long, value_name = "N", env = "OBSERVER_RATE", allow_negative_numbers = true, value_parser = rate)]
    rate: Option<Rate>,
    /// How many replicas there are
    #[arg(
        long,
        value_name = "N",
        env = "OBSERVER_REPLICAS",
        allow_negative_numbers = true,
        value_parser = number::whole(NonZeroUsize::MIN, MOST)
    )]
    replicas: Option<NonZeroUsize>,
    /// What client and replicas speak
    #[arg(long, value_name = "PROTOCOL", env = "OBSERVER_PROTOCOL")]
    protocol: Option<Wire>,
    /// Which replica a request goes to
    #[arg(long, value_name = "HOW", env = "OBSERVER_BALANCING")]
    balancing: Option<Balancing>,
    /// Send a second copy of requests that are not answered within this delay, such as 30ms; --budget bounds them, at
    /// 5% if it is not set
    #[arg(long, value_name = "DELAY", env = "OBSERVER_HEDGE_AFTER", value_parser = hedge_after)]
    hedge_after: Option<SignedDuration>,
}

impl LabArguments {
    /// The lab with so much time for requests, and such a budget for second copies.
    pub(super) fn scenario(&self, duration: SignedDuration, budget: Option<Share>) -> Scenario {
        let mut scenario = Scenario::of(self.cause);
        scenario.severity = self.severity;
        scenario.duty_cycle = self.duty_cycle.unwrap_or(scenario.duty_cycle);
        let system = &mut scenario.system;
        system.duration = duration.unsigned_abs();
        system.seed = self.seed.unwrap_or(system.seed);
        system.rate = self.rate.unwrap_or(system.rate);
        system.replicas = self.replicas.unwrap_or(system.replicas);
        system.wire = self.protocol.unwrap_or(system.wire);
        system.balancing = self.balancing.unwrap_or(system.balancing);
        scenario.hedging = self.hedge_after.map(|delay| {
            let mut policy = Policy::after(delay.unsigned_abs());
            policy.budget.per_primary = budget.unwrap_or(policy.budget.per_primary);
            policy
        });
        scenario
    }
}

fn severity(text: &str) -> Result<Severity, String> {
    text.parse()
        .ok()
        .and_then(Severity::times)
        .ok_or_else(|| "write a number from 0.01 to 100, such as 2".into())
}

fn rate(text: &str) -> Result<Rate, String> {
    let number = text.parse().ok().filter(|number| (0.1..=1e5).contains(number));
    number.and_then(Rate::per_second).ok_or_else(|| "write a number from 0.1 to 100000, such as 300".into())
}

fn hedge_after(text: &str) -> Result<SignedDuration, String> {
    let delay = duration::parse(text)?;
    if delay.unsigned_abs() < PATIENCE {
        Ok(delay)
    } else {
        Err(format!("write a delay below {PATIENCE:?}, after which the client waits no longer, such as 30ms"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_and_rates_are_what_a_lab_can_do() {
        assert_eq!(severity("2.5"), Ok(Severity::times(2.5).unwrap()));
        for wrong in ["0", "-1", "1e-9", "1e9", "NaN", "inf", "much"] {
            assert!(severity(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_hedge_leaves_before_the_client_gives_up() {
        assert_eq!(hedge_after("9999ms"), Ok(SignedDuration::from_millis(9_999)));
        assert!(hedge_after("10s").unwrap_err().contains("below 10s"));
        assert!(hedge_after("1h").is_err() && hedge_after("30").is_err());
    }
}
