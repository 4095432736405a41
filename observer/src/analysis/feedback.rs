//! What second copies do to a system that is busy already.

/// Waiting beyond this utilisation is not predicted: a little more load is a lot more waiting.
pub(super) const MOST: f64 = 0.95;

/// So many iterations find a fixed point, or there is none.
const ITERATIONS: usize = 200;

/// Instances, as far as waiting is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Queueing {
    /// The part of their capacity that is used, from 0 to 1.
    pub(super) utilisation: f64,
    /// How many requests an instance serves at a time.
    pub(super) slots: f64,
}

/// How the load settles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Equilibrium {
    /// The utilisation with second copies.
    pub(super) utilisation: f64,
    /// Waiting times with them ÷ waiting times without.
    pub(super) waiting: f64,
}

impl Queueing {
    /// Mean waiting time in units of service time, but for a factor that load does not change (Sakasegawa's approximation
    /// for several servers):  ρ^(√(2(k+1)) − 1) ÷ (k (1 − ρ)).
    fn waiting(&self, utilisation: f64) -> f64 {
        let exponent = (2.0 * (self.slots + 1.0)).sqrt() - 1.0;
        libm::pow(utilisation, exponent) / (self.slots * (1.0 - utilisation))
    }

    /// Where the load settles if `hedged(w)` of requests are sent twice once waiting times are w times as long: the fixed
    /// point of  ρ' = ρ (1 + h(ρ')). Nothing where there is none that leaves room, which is where hedging feeds itself.
    pub(super) fn settle(&self, hedged: impl Fn(f64) -> f64) -> Option<Equilibrium> {
        if self.utilisation >= MOST {
            return None;
        }
        let before = self.waiting(self.utilisation);
        let waiting = |utilisation: f64| if before > 0.0 { self.waiting(utilisation) / before } else { 1.0 };
        let mut utilisation = self.utilisation;
        for _ in 0..ITERATIONS {
            let next = self.utilisation * (1.0 + hedged(waiting(utilisation)));
            if next >= MOST {
                return None;
            }
            if (next - utilisation).abs() < 1e-6 {
                return Some(Equilibrium { utilisation: next, waiting: waiting(next) });
            }
            utilisation = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINGLE: Queueing = Queueing { utilisation: 0.5, slots: 1.0 };

    #[test]
    fn with_one_slot_waiting_grows_as_in_the_textbook() {
        // M/M/1: ρ ÷ (1 − ρ), times ρ to the power of nothing.
        for utilisation in [0.1, 0.5, 0.9] {
            let expected = utilisation / (1.0 - utilisation);
            assert!((SINGLE.waiting(utilisation) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_budget_bounds_the_load() {
        let settled = SINGLE.settle(|_| 0.05).unwrap();
        assert!((settled.utilisation - 0.525).abs() < 1e-9);
        assert!((settled.waiting - 0.525 / 0.475).abs() < 1e-9);
    }

    #[test]
    fn hedging_that_feeds_itself_has_no_fixed_point() {
        let busy = Queueing { utilisation: 0.89, slots: 8.0 };
        assert_eq!(busy.settle(|waiting| (0.02 * waiting * waiting).min(1.0)), None);
        assert_eq!(Queueing { utilisation: 0.96, slots: 8.0 }.settle(|_| 0.0), None);
    }
}
