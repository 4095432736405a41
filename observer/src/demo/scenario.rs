//! A cause, how bad it is, and the system that it strikes.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use rand::{RngExt, SeedableRng, rngs::SmallRng};
use serde::{Deserialize, Serialize};

use super::{
    cause::Cause,
    client::PATIENCE,
    episodes::Episodes,
    hedging::Policy,
    service_time::ServiceTime,
    system::{Balancing, System, Wire},
};
use crate::quantity::{Rate, Share};

/// How bad a fault is: 1 as it is by default, 2 twice as bad. [`Scenario::severity`] says what that means.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Severity(f64);

impl Severity {
    /// As bad as it is by default.
    pub const USUAL: Self = Self(1.0);

    /// So many times as bad as by default; nothing if that is below a hundredth or beyond a hundred: then a fault would
    /// be none that a clock can tell, or never over.
    pub fn times(value: f64) -> Option<Self> {
        (0.01..=100.0).contains(&value).then_some(Self(value))
    }

    /// How many times as bad as by default.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// What makes requests slow.
    pub cause: Cause,
    /// How bad it is.
    ///
    /// Pauses and stalls last so many times as long (150 to 300 ms at 1). A replica's quota is half of what it needs,
    /// divided by this. Bursts arrive at 1.3 × this × the capacity. Of segments on a bad path 10 % × this are lost. An
    /// expensive request takes 20 × this as long as others.
    pub severity: Severity,
    /// How much of the time the fault is on; of [`Cause::Request`], how many of the requests are expensive.
    pub duty_cycle: Share,
    /// What it strikes.
    pub system: System,
    /// What the client does about slow requests, if anything.
    pub hedging: Option<Policy>,
}

impl Scenario {
    /// The cause as it is shown by default: three replicas, with rates that a small machine bears.
    pub fn of(cause: Cause) -> Self {
        let duty_cycle = match cause {
            Cause::Independent | Cause::Saturated | Cause::Network => Share::percent(30),
            Cause::Shared | Cause::Caller => Share::percent(20),
            Cause::Instance => Share::percent(60),
            Cause::Request => Share::percent(5),
            Cause::NoTail => Share::NONE,
        };
        let (slots, rate, service) = match cause {
            // Few slots and long service: what is full is the slots, not this machine's processors.
            Cause::Saturated => (TWO, per_second(100), ServiceTime::log_normal(ms(20), 0.2)),
            // Requests cost processor time here, so there are fewer of them.
            Cause::Instance => (EIGHT, per_second(120), ServiceTime::log_normal(ms(4), 0.2)),
            // Long service: this machine's own hiccups are no tail beside it.
            Cause::NoTail => (EIGHT, per_second(300), ServiceTime::log_normal(ms(20), 0.2)),
            _ => (EIGHT, per_second(300), ServiceTime::log_normal(ms(4), 0.2)),
        };
        let system = System {
            replicas: THREE,
            slots,
            service,
            rate,
            duration: Duration::from_secs(8),
            balancing: Balancing::Turns,
            wire: Wire::Http1,
            seed: 2_026,
        };
        Self { cause, severity: Severity::USUAL, duty_cycle, system, hedging: None }
    }

    /// What the client really does about slow requests: it never waits for ever.
    pub(super) fn policy(&self) -> Option<Policy> {
        self.hedging.map(|policy| Policy { deadline: policy.deadline.or(Some(PATIENCE)), ..policy })
    }

    /// When the fault is on, if the cause is `cause`; never, if it is another.
    pub(super) fn episodes(&self, cause: Cause) -> Episodes {
        let share = if self.cause == cause { self.duty_cycle } else { Share::NONE };
        let (shortest, longest) = match cause {
            // Long enough for a queue to grow.
            Cause::Instance | Cause::Saturated => (ms(700), ms(1_200)),
            Cause::Network => (ms(400), ms(800)),
            _ => (ms(150).mul_f64(self.severity.0), ms(300).mul_f64(self.severity.0)),
        };
        Episodes { seed: self.seed(Purpose::Faults), share, shortest, longest }
    }

    /// A seed for one purpose.
    pub(super) fn seed(&self, purpose: Purpose) -> u64 {
        let number = match purpose {
            Purpose::Faults => 1,
            Purpose::Victims => 2,
            Purpose::Arrivals => 3,
            Purpose::Balancing => 4,
            Purpose::Chance => 5,
            Purpose::Replica(index) => 1_000 + index as u64,
            Purpose::Path(index) => 2_000 + index as u64,
        };
        SmallRng::seed_from_u64(self.system.seed.wrapping_add(number)).random()
    }
}

/// What a seed is for, so that no two things are drawn alike.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Faults,
    Victims,
    Arrivals,
    Balancing,
    Chance,
    Replica(usize),
    Path(usize),
}

const EIGHT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);
const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
const THREE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// So many a second, at least one.
const fn per_second(number: u32) -> Rate {
    Rate::whole(NonZeroU32::MIN.saturating_add(number.saturating_sub(1)))
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_bears_its_load_while_the_fault_is_off() {
        for cause in Cause::ALL {
            let utilization = Scenario::of(cause).system.utilization();
            assert!(utilization < 0.5, "{cause}: {utilization}");
        }
    }

    #[test]
    fn only_the_scenarios_own_fault_is_ever_on() {
        for cause in Cause::ALL {
            let scenario = Scenario::of(cause);
            for other in Cause::ALL {
                let is_on = scenario.episodes(other).share > Share::NONE;
                assert_eq!(is_on, cause == other && cause != Cause::NoTail, "{cause}, {other}");
            }
        }
    }

    #[test]
    fn a_scenario_survives_being_written_down() {
        for cause in Cause::ALL {
            let hedging = Some(Policy::after(ms(30)));
            let scenario = Scenario { hedging, ..Scenario::of(cause) };
            let text = serde_json::to_string(&scenario).unwrap();
            assert_eq!(serde_json::from_str::<Scenario>(&text).unwrap(), scenario, "{text}");
        }
    }
}
