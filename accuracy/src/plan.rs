//! Systems of all sizes.

use anyhow::{Context as _, Result};
use observer::simulation::{Arrivals, Balancing, Bursts, Discipline, System};

use crate::{draw::Draw, pace::Pace, units};

/// Every way to choose instances.
pub(crate) const ALL: &[Balancing] = &[
    Balancing::Random,
    Balancing::RoundRobin,
    Balancing::TwoChoices,
    Balancing::LeastInFlight,
    Balancing::LatencyAware,
];

/// The ways that go on choosing an instance which answers late.
pub(crate) const BLIND: &[Balancing] = &[Balancing::Random, Balancing::RoundRobin];

/// The ways that keep queues equally long.
pub(crate) const LEVEL: &[Balancing] =
    &[Balancing::RoundRobin, Balancing::TwoChoices, Balancing::LeastInFlight];

/// Between what the numbers of a system are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// How many instances.
    pub(crate) instances: (u32, u32),
    /// Requests a second.
    pub(crate) rate: (f64, f64),
    /// Which part of the capacity is used.
    pub(crate) utilisation: (f64, f64),
    /// How long serving takes, in seconds.
    pub(crate) service: (f64, f64),
    /// How instances are chosen.
    pub(crate) balancing: &'static [Balancing],
    /// How requests arrive.
    pub(crate) arriving: &'static [Arriving],
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arriving {
    /// Independently of each other.
    Alone,
    /// More in some times than in others, never as many as could be served.
    InBursts,
    /// From clients that wait for their answers.
    AfterAnswers,
}

/// Mostly independently of each other.
const MOSTLY_ALONE: &[Arriving] =
    &[Arriving::Alone, Arriving::Alone, Arriving::Alone, Arriving::InBursts, Arriving::AfterAnswers];

impl Default for Plan {
    fn default() -> Self {
        Self {
            instances: (3, 30),
            rate: (50.0, 2_000.0),
            utilisation: (0.1, 0.6),
            service: (0.001, 0.05),
            balancing: ALL,
            arriving: MOSTLY_ALONE,
        }
    }
}

/// Which part of the capacity bursts use at most, where they are not to overload anything.
const CALM: f64 = 0.75;

/// How many requests a second an instance gets at least: its own part has to be seen.
const PER_INSTANCE: f64 = 6.0;

impl Plan {
    /// Draws a system.
    pub(crate) fn draw(&self, draw: &mut Draw, pace: Pace) -> Result<System> {
        let rate = draw.magnitude(self.rate.0, self.rate.1);
        // Few more often than many, as it is.
        let instances = draw.magnitude(f64::from(self.instances.0), f64::from(self.instances.1) + 0.49);
        let instances = units::whole(instances.min((rate / PER_INSTANCE).max(f64::from(self.instances.0))));
        let utilisation = draw.between(self.utilisation.0, self.utilisation.1);
        let service = draw.magnitude(self.service.0, self.service.1);
        let slots = units::whole((rate * service / utilisation / f64::from(instances.get())).ceil());
        // Slots are whole, so it is the service time that makes the utilisation exact.
        let service = utilisation * f64::from(instances.get()) * f64::from(slots.get()) / rate;
        let arriving = draw.one_of(self.arriving);
        Ok(System {
            arrivals: arriving.drawn(draw, rate, utilisation, service)?,
            width: units::whole(1.0),
            balancing: draw.one_of(self.balancing),
            instances,
            slots,
            discipline: if draw.chance(0.15) {
                Discipline::ProcessorSharing
            } else {
                Discipline::FirstInFirstOut
            },
            service: pace.of_mean(service)?,
        })
    }
}

impl Arriving {
    fn drawn(self, draw: &mut Draw, rate: f64, utilisation: f64, service: f64) -> Result<Arrivals> {
        let most = CALM / utilisation;
        Ok(match self {
            Self::InBursts if most > 1.2 => {
                let factor = draw.between(1.1, most.min(4.0));
                let part = draw.between(0.1, 0.9 / factor.max(2.0));
                bursts(rate, factor, part, draw.magnitude(0.2, 5.0))?
            }
            Self::AfterAnswers => {
                let think = service * draw.magnitude(1.0, 20.0);
                Arrivals::ClosedLoop {
                    clients: units::whole(rate * (think + service)),
                    think: units::seconds(think),
                }
            }
            Self::Alone | Self::InBursts => Arrivals::Poisson(units::rate(rate)?),
        })
    }
}

/// Bursts of `factor` times the mean rate in a `part` of the time, each as long as this or as a request needs.
pub(crate) fn bursts(rate: f64, factor: f64, part: f64, length: f64) -> Result<Arrivals> {
    let length = units::seconds(length.max(1.1 / rate / factor));
    let bursts = Bursts::new(units::rate(rate)?, factor, units::share(part), length)
        .with_context(|| format!("bursts of {factor} in {part} of the time"))?;
    Ok(Arrivals::Bursty(bursts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_as_loaded_as_planned() {
        let mut draw = Draw::new("plan", 1);
        for _ in 0..500 {
            let plan = Plan::default();
            let pace = Pace::any(&mut draw);
            let system = plan.draw(&mut draw, pace).unwrap();
            if let Some(utilisation) = system.utilisation() {
                assert!((0.099..0.601).contains(&utilisation), "{utilisation}: {system:?}");
            }
            assert!((3..=30).contains(&system.instances.get()), "{system:?}");
        }
    }
}
