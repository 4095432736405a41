//! Where nothing ever waits, latency has a closed form.

use observer_common::Nanoseconds;

use super::{
    ServiceTime, Share, System,
    policy::{Hedge, Policy, Tactic},
};

/// The latency of requests to a system in which nothing ever waits, exactly.
#[derive(Clone, Copy, Debug)]
pub struct WithoutQueues<'a> {
    service: &'a ServiceTime,
    width: f64,
    copying: Copying,
}

/// Which copies there are, as far as formulas know them.
#[derive(Clone, Copy, Debug)]
enum Copying {
    AtOnce { copies: f64 },
    Late { delay: Nanoseconds, probability: f64 },
}

impl<'a> WithoutQueues<'a> {
    /// For one copy, several at once, or a hedge that nothing bounds; no formula covers the rest.
    pub fn new(system: &'a System, policy: &Policy) -> Option<Self> {
        if policy.deadline.is_some() {
            return None;
        }
        let copying = match policy.tactic {
            Tactic::Single => Copying::AtOnce { copies: 1.0 },
            Tactic::AtOnce { copies } => Copying::AtOnce { copies: f64::from(copies.get()) },
            Tactic::Hedge(Hedge { delay, probability, budget: None, per_request: None, .. }) => {
                Copying::Late { delay, probability: probability.as_fraction() }
            }
            Tactic::Hedge(_) | Tactic::Tied { .. } | Tactic::Retry { .. } => return None,
        };
        Some(Self { service: &system.service, width: f64::from(system.width.get()), copying })
    }

    /// The share of requests that take longer than this.
    ///
    /// With `S` of the service time, `Sⁿ(t)` for `n` copies at once; `S(t)` up to the delay `d` of a hedge with
    /// probability `q`, and `S(t) · (1 − q + q · S(t − d))` from there on; `1 − (1 − s)ʷ` for `w` calls of `s` each.
    pub fn survival(&self, duration: Nanoseconds) -> f64 {
        let first = self.service.survival(duration);
        let call = match self.copying {
            Copying::AtOnce { copies } => libm::pow(first, copies),
            Copying::Late { delay, probability } => match duration.0.checked_sub(delay.0) {
                Some(since) => {
                    let second = self.service.survival(Nanoseconds(since));
                    first * (1.0 - probability + probability * second)
                }
                None => first,
            },
        };
        self.of_any(call)
    }

    /// The shortest duration that the share `quantile` of requests does not exceed.
    pub fn quantile(&self, quantile: f64) -> Nanoseconds {
        let beyond = 1.0 - quantile;
        smallest(|duration| self.survival(duration) <= beyond)
    }

    /// The share of requests of which a call has a second copy.
    pub fn hedged_share(&self) -> f64 {
        match self.copying {
            Copying::AtOnce { copies } => f64::from(u8::from(copies > 1.0)),
            Copying::Late { .. } => self.of_any(self.hedged_calls()),
        }
    }

    /// Copies ÷ requests, where none is cancelled.
    pub fn copies_per_request(&self) -> f64 {
        match self.copying {
            Copying::AtOnce { copies } => self.width * copies,
            Copying::Late { .. } => self.width * (1.0 + self.hedged_calls()),
        }
    }

    fn hedged_calls(&self) -> f64 {
        match self.copying {
            Copying::AtOnce { .. } => 0.0,
            Copying::Late { delay, probability } => probability * self.service.survival(delay),
        }
    }

    /// The share of requests of which any call is among this share of calls.
    fn of_any(&self, calls: f64) -> f64 {
        // As 1 − (1 − calls)ʷ, without losing the digits of small shares.
        -libm::expm1(self.width * libm::log1p(-calls))
    }
}

impl ServiceTime {
    /// The shortest duration that the share `quantile` of requests does not exceed.
    pub fn quantile(&self, quantile: Share) -> Nanoseconds {
        let beyond = 1.0 - quantile.as_fraction();
        smallest(|duration| self.survival(duration) <= beyond)
    }
}

/// The smallest duration with a property that all longer ones have too; the longest there is, if none has it.
fn smallest(has: impl Fn(Nanoseconds) -> bool) -> Nanoseconds {
    let (mut without, mut with) = (0, u64::MAX);
    if has(Nanoseconds(without)) {
        return Nanoseconds(without);
    }
    while with - without > 1 {
        let middle = without + (with - without) / 2;
        if has(Nanoseconds(middle)) { with = middle } else { without = middle }
    }
    Nanoseconds(with)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::simulation::{Arrivals, Balancing, Discipline, Part, Rate, Shape};

    const MILLISECOND: u64 = 1_000_000;

    fn system(width: u32, service: ServiceTime) -> System {
        let count = |number| NonZeroU32::new(number).unwrap();
        System {
            arrivals: Arrivals::Poisson(Rate::per_second(1.0).unwrap()),
            width: count(width),
            balancing: Balancing::Random,
            instances: count(1),
            slots: count(1),
            discipline: Discipline::FirstInFirstOut,
            service,
        }
    }

    fn milliseconds(system: &System, policy: &Policy, quantile: f64) -> f64 {
        WithoutQueues::new(system, policy).unwrap().quantile(quantile).0 as f64 / 1e6
    }

    fn shifted(shape: Shape) -> ServiceTime {
        let shift = Nanoseconds(5 * MILLISECOND);
        ServiceTime::mixture(vec![Part { share: Share::ALL, shift, shape }]).unwrap()
    }

    /// By hand: 5 + 20 · ln(1 ÷ (1 − p)) ÷ n, in milliseconds.
    #[test]
    fn the_minimum_of_exponentials_is_exponential() {
        let system = system(1, shifted(Shape::Exponential { mean: Nanoseconds(20 * MILLISECOND) }));
        for copies in 1..=5 {
            let policy = Policy::of(Tactic::AtOnce { copies: NonZeroU32::new(copies).unwrap() });
            for quantile in [0.5_f64, 0.95, 0.99] {
                let expected = 5.0 - 20.0 * (1.0 - quantile).ln() / f64::from(copies);
                assert!((milliseconds(&system, &policy, quantile) - expected).abs() < 2e-6);
            }
        }
    }

    /// From tables of the normal distribution: z = 1.644 854 at 95 %, and 2.326 348 at 99 %.
    #[test]
    fn quantiles_of_a_log_normal_are_those_of_the_tables() {
        let shape = Shape::LogNormal { median: Nanoseconds(10 * MILLISECOND), sigma: 1.0 };
        let system = system(1, shifted(shape));
        for (quantile, z) in [(0.5, 0.0), (0.95, 1.644_853_627_f64), (0.99, 2.326_347_874)] {
            let expected = 5.0 + 10.0 * z.exp();
            assert!((milliseconds(&system, &Policy::NONE, quantile) - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn any_of_many_is_slow_more_often() {
        let part = |part, time| Part {
            share: Share::new(part).unwrap(),
            shift: Nanoseconds(time),
            shape: Shape::Constant(Nanoseconds(0)),
        };
        let service = ServiceTime::mixture(vec![part(0.99, 1), part(0.01, 10)]).unwrap();
        for (width, expected) in
            [(1, 0.01), (10, 0.095_618), (50, 0.394_994), (100, 0.633_968), (1_000, 0.999_957)]
        {
            let system = system(width, service.clone());
            let slow = WithoutQueues::new(&system, &Policy::NONE).unwrap().survival(Nanoseconds(5));
            assert!((slow - expected).abs() < 1e-6, "{width}: {slow}");
        }
    }

    /// Two of two exceed what one exceeds with 5 % in 0.25 %.
    #[test]
    fn two_copies_square_the_tail() {
        let system = system(1, shifted(Shape::Exponential { mean: Nanoseconds(20 * MILLISECOND) }));
        let tail = system.service.quantile(Share::new(0.95).unwrap());
        let twice = Policy::of(Tactic::AtOnce { copies: NonZeroU32::new(2).unwrap() });
        let both = WithoutQueues::new(&system, &twice).unwrap().survival(tail);
        assert!((both - 0.002_5).abs() < 1e-9);
    }

    #[test]
    fn below_the_delay_a_hedge_changes_nothing_and_beyond_it_helps() {
        let system = system(1, shifted(Shape::Exponential { mean: Nanoseconds(20 * MILLISECOND) }));
        let delay = Nanoseconds(30 * MILLISECOND);
        let policy = Policy::of(Tactic::Hedge(Hedge::after(delay)));
        let [hedged, single] =
            [&policy, &Policy::NONE].map(|policy| WithoutQueues::new(&system, policy).unwrap());
        for ms in [1, 10, 29] {
            let duration = Nanoseconds(ms * MILLISECOND);
            assert!((hedged.survival(duration) - single.survival(duration)).abs() < 1e-12);
        }
        assert!(
            hedged.survival(Nanoseconds(50 * MILLISECOND)) < single.survival(Nanoseconds(50 * MILLISECOND))
        );
        assert!((hedged.copies_per_request() - 1.0 - system.service.survival(delay)).abs() < 1e-12);
    }

    #[test]
    fn no_formula_covers_a_budget_or_a_deadline() {
        let system = system(1, shifted(Shape::Constant(Nanoseconds(1))));
        let deadline = Policy { deadline: Some(Nanoseconds(1)), ..Policy::NONE };
        let tied = Policy::of(Tactic::Tied { message: Nanoseconds(0) });
        assert!(WithoutQueues::new(&system, &deadline).is_none());
        assert!(WithoutQueues::new(&system, &tied).is_none());
    }
}
