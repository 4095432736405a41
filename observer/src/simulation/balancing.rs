//! Which instance a call goes to.

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::moment::Moment;

/// Which instance a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balancing {
    /// To any, evenly.
    Random,
    /// To each in turn.
    RoundRobin,
    /// Of two drawn evenly, to the one with fewer calls in flight.
    TwoChoices,
    /// To the one with the fewest calls in flight; evenly among several.
    LeastInFlight,
    /// Of two drawn evenly, to the one with the lower product of recent latency and calls in flight. The recent latency
    /// jumps up to a higher one at once and falls exponentially to lower ones (a peak-sensitive moving average).
    LatencyAware,
}

/// How fast a latency is forgotten: after this, a third of it is left.
const MEMORY_NS: f64 = 1e10;

/// What a balancer knows about the instances.
pub(super) trait Instances {
    /// How many there are; at least one.
    fn count(&self) -> u32;

    /// How many calls are waiting at one or being served.
    fn in_flight(&self, instance: u32) -> u32;

    /// Whether a call may go there.
    fn allows(&self, instance: u32) -> bool;

    /// To how many of them a call may go; at least one.
    fn allowed(&self) -> u32;
}

/// Chooses instances.
#[derive(Debug)]
pub(super) struct Balancer {
    balancing: Balancing,
    /// Where the turn is.
    next: u32,
    /// Which part each instance gets, if not an even one.
    weights: Vec<f64>,
    /// What the latency of each instance was lately; only what needs it pays for it.
    recent: Vec<Recent>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    latency_ns: f64,
    at: Moment,
}

impl Balancer {
    pub(super) fn new(balancing: Balancing, instances: u32) -> Self {
        let remembered = if balancing == Balancing::LatencyAware { instances as usize } else { 0 };
        Self { balancing, next: 0, weights: Vec::new(), recent: vec![Recent::default(); remembered] }
    }

    /// The same, but with random balancing each instance gets such a part of the calls; none of them means even ones.
    pub(super) fn weighted(self, weights: &[f64]) -> Self {
        Self { weights: weights.into(), ..self }
    }

    /// Chooses one of the allowed instances.
    pub(super) fn choose(&mut self, instances: &impl Instances, random: &mut Pcg64) -> u32 {
        match self.balancing {
            Balancing::Random if self.weights.is_empty() => any(instances, random),
            Balancing::Random => by_weight(&self.weights, instances, random),
            Balancing::RoundRobin => self.in_turn(instances),
            Balancing::TwoChoices => {
                lower_of_two(instances, random, |instance| instances.in_flight(instance))
            }
            Balancing::LeastInFlight => least_in_flight(instances, random),
            Balancing::LatencyAware => lower_of_two(instances, random, |instance| {
                // Without an answer yet, an instance is worth a try.
                self.recent[instance as usize].latency_ns * f64::from(instances.in_flight(instance) + 1)
            }),
        }
    }

    /// Learns how long an instance took to answer.
    pub(super) fn learn(&mut self, instance: u32, latency: Nanoseconds, now: Moment) {
        let Some(recent) = self.recent.get_mut(instance as usize) else { return };
        let latency_ns = latency.0 as f64;
        if latency_ns >= recent.latency_ns {
            recent.latency_ns = latency_ns;
        } else {
            let kept = libm::exp(-(now.since(recent.at).0 as f64) / MEMORY_NS);
            recent.latency_ns = recent.latency_ns * kept + latency_ns * (1.0 - kept);
        }
        recent.at = now;
    }

    fn in_turn(&mut self, instances: &impl Instances) -> u32 {
        loop {
            let instance = self.next;
            self.next = (self.next + 1) % instances.count();
            if instances.allows(instance) {
                return instance;
            }
        }
    }
}

#[inline]
fn any(instances: &impl Instances, random: &mut Pcg64) -> u32 {
    loop {
        let instance = random.random_range(0..instances.count());
        if instances.allows(instance) {
            return instance;
        }
    }
}

/// One of the allowed instances, each as often as its weight says; evenly where none of them has any.
#[cold]
fn by_weight(weights: &[f64], instances: &impl Instances, random: &mut Pcg64) -> u32 {
    let allowed = || (0..).zip(weights).filter(|(instance, _)| instances.allows(*instance));
    let mut left = random.random::<f64>() * allowed().map(|(_, weight)| *weight).sum::<f64>();
    let chosen = allowed().filter(|(_, weight)| **weight > 0.0).find(|(_, weight)| {
        left -= **weight;
        left < 0.0
    });
    // Rounding may leave a little, and weights may all be zero.
    chosen.map_or_else(|| any(instances, random), |(instance, _)| instance)
}

fn lower_of_two<Cost: PartialOrd>(
    instances: &impl Instances,
    random: &mut Pcg64,
    cost: impl Fn(u32) -> Cost,
) -> u32 {
    let first = any(instances, random);
    if instances.allowed() == 1 {
        return first;
    }
    let second = loop {
        let second = any(instances, random);
        if second != first {
            break second;
        }
    };
    if cost(second) < cost(first) { second } else { first }
}

fn least_in_flight(instances: &impl Instances, random: &mut Pcg64) -> u32 {
    let allowed = (0..instances.count()).filter(|instance| instances.allows(*instance));
    let fewest = allowed.clone().map(|instance| instances.in_flight(instance)).min();
    let mut chosen = 0;
    let best = allowed.filter(|instance| Some(instances.in_flight(*instance)) == fewest);
    for (before, instance) in (1..).zip(best) {
        if random.random_range(0..before) == 0 {
            chosen = instance;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::random::Streams;

    struct Fixed {
        in_flight: Vec<u32>,
        refused: Option<u32>,
    }

    impl Instances for Fixed {
        fn count(&self) -> u32 {
            u32::try_from(self.in_flight.len()).unwrap()
        }

        fn in_flight(&self, instance: u32) -> u32 {
            self.in_flight[instance as usize]
        }

        fn allows(&self, instance: u32) -> bool {
            self.refused != Some(instance)
        }

        fn allowed(&self) -> u32 {
            self.count() - u32::from(self.refused.is_some())
        }
    }

    const ALL: [Balancing; 5] = [
        Balancing::Random,
        Balancing::RoundRobin,
        Balancing::TwoChoices,
        Balancing::LeastInFlight,
        Balancing::LatencyAware,
    ];

    fn chosen(balancing: Balancing, in_flight: &[u32], refused: Option<u32>) -> Vec<u32> {
        let instances = Fixed { in_flight: in_flight.into(), refused };
        let mut balancer = Balancer::new(balancing, instances.count());
        let mut random = Streams::new(1).balancing;
        let mut counts = vec![0; in_flight.len()];
        for _ in 0..12_000 {
            counts[balancer.choose(&instances, &mut random) as usize] += 1;
        }
        counts
    }

    #[test]
    fn equal_instances_are_chosen_equally_often() {
        for balancing in ALL {
            for count in chosen(balancing, &[2; 4], None) {
                assert!((2_760..3_240).contains(&count), "{balancing:?}: {count} of 3,000");
            }
        }
    }

    #[test]
    fn what_is_not_allowed_is_never_chosen() {
        for balancing in ALL {
            let counts = chosen(balancing, &[0; 3], Some(1));
            assert_eq!(counts[1], 0, "{balancing:?}");
            assert!(counts[0] > 4_000 && counts[2] > 4_000, "{balancing:?}: {counts:?}");
        }
        for balancing in ALL {
            assert_eq!(chosen(balancing, &[0; 2], Some(0)), [0, 12_000]);
            assert_eq!(chosen(balancing, &[9], None), [12_000]);
        }
    }

    #[test]
    fn busy_instances_are_avoided() {
        assert_eq!(chosen(Balancing::LeastInFlight, &[3, 1, 2], None), [0, 12_000, 0]);
        // The busiest is chosen only against itself; the idlest whenever it is among the two.
        let counts = chosen(Balancing::TwoChoices, &[3, 1, 2], None);
        assert_eq!(counts[0], 0);
        assert!((7_700..8_300).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn slow_instances_are_avoided_until_that_is_forgotten() {
        let instances = Fixed { in_flight: vec![0; 2], refused: None };
        let mut balancer = Balancer::new(Balancing::LatencyAware, 2);
        let mut random = Streams::new(1).balancing;
        let [fast, slow] = [10, 300].map(|ms| Nanoseconds(ms * 1_000_000));
        balancer.learn(0, fast, Moment(0));
        balancer.learn(1, slow, Moment(0));
        assert!((0..100).all(|_| balancer.choose(&instances, &mut random) == 0));
        balancer.learn(1, Nanoseconds(1), Moment(100_000_000_000));
        assert!((0..100).all(|_| balancer.choose(&instances, &mut random) == 1));
    }

    #[test]
    fn calls_are_shared_out_by_weight_among_those_that_are_allowed() {
        let share_out = |weights: &[f64], refused| {
            let instances = Fixed { in_flight: vec![0; weights.len()], refused };
            let mut balancer = Balancer::new(Balancing::Random, 3).weighted(weights);
            let mut random = Streams::new(1).balancing;
            let mut counts = [0; 3];
            (0..12_000).for_each(|_| counts[balancer.choose(&instances, &mut random) as usize] += 1);
            counts
        };
        let [a, b, none] = share_out(&[1.0, 3.0, 0.0], None);
        assert!((2_760..3_240).contains(&a) && a + b == 12_000 && none == 0);
        assert_eq!(share_out(&[1.0, 3.0, 0.0], Some(1)), [12_000, 0, 0]);
        let [a, _, b] = share_out(&[0.0, 1.0, 0.0], Some(1));
        assert!((5_700..6_300).contains(&a) && a + b == 12_000);
    }
}
