//! How a replica spends its time: reproducible from a seed.

use std::time::Duration;

use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_distr::{Distribution, LogNormal};

/// The longest time for which a pausing replica stops answering.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(300);

const SHORTEST_PAUSE: Duration = Duration::from_millis(150);
const BETWEEN_PAUSES: std::ops::Range<Duration> = Duration::from_secs(1)..Duration::from_secs(2);

/// Half of the requests are served faster than this.
const MEDIAN_SERVICE_SECONDS: f64 = 0.000_8;
/// The standard deviation of the logarithm: the slowest of a hundred takes three times the median.
const SERVICE_SPREAD: f64 = 0.5;

/// A replica stops answering, as a garbage collector or a throttled control group would make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// How long it answers before.
    pub(super) after: Duration,
    /// How long it then does not.
    pub(super) length: Duration,
}

/// The pauses of one replica, without end.
#[derive(Debug)]
pub(super) struct Pauses {
    random: SmallRng,
}

impl Pauses {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: SmallRng::seed_from_u64(seed) }
    }
}

impl Iterator for Pauses {
    type Item = Pause;

    fn next(&mut self) -> Option<Pause> {
        Some(Pause {
            after: self.random.random_range(BETWEEN_PAUSES),
            length: self.random.random_range(SHORTEST_PAUSE..=LONGEST_PAUSE),
        })
    }
}

/// How long the requests of one connection take to serve, and how large their answers are, without end.
#[derive(Debug)]
pub(super) struct Service {
    random: SmallRng,
    seconds: LogNormal<f64>,
}

impl Service {
    pub(super) fn new(seed: u64) -> Result<Self, rand_distr::NormalError> {
        let seconds = LogNormal::new(MEDIAN_SERVICE_SECONDS.ln(), SERVICE_SPREAD)?;
        Ok(Self { random: SmallRng::seed_from_u64(seed), seconds })
    }

    /// The next request's service time.
    pub(super) fn duration(&mut self) -> Duration {
        Duration::from_secs_f64(self.seconds.sample(&mut self.random))
    }

    /// The size of the next answer's body, in bytes.
    pub(super) fn body_length(&mut self) -> usize {
        self.random.random_range(100..4_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything() {
        let pauses = |seed| Pauses::new(seed).take(20).collect::<Vec<_>>();
        assert_eq!(pauses(7), pauses(7));
        assert_ne!(pauses(7), pauses(8));
    }

    #[test]
    fn pauses_are_far_longer_than_service_and_leave_time_to_recover() {
        for Pause { after, length } in Pauses::new(1).take(1_000) {
            assert!((SHORTEST_PAUSE..=LONGEST_PAUSE).contains(&length), "{length:?}");
            assert!(BETWEEN_PAUSES.contains(&after), "{after:?}");
        }
    }

    #[test]
    fn service_times_are_small_and_varied() {
        let mut service = Service::new(1).unwrap();
        let mut times: Vec<_> = (0..1_000).map(|_| service.duration()).collect();
        times.sort();
        assert!(
            (Duration::from_micros(700)..Duration::from_micros(900)).contains(&times[500]),
            "{:?}",
            times[500]
        );
        assert!(times[990] > 2 * times[500]);
        assert!(times[999] < SHORTEST_PAUSE / 5);
    }
}
