//! Late requests racing against second copies, and what a policy makes of that.

use std::num::NonZeroU32;

use observer_common::Nanoseconds;

use super::bootstrap::BLOCKS;

/// Where so many times as many requests would be late if all took a little longer, the delay lies at the edge of a mode.
const STEEP: f64 = 1.2;

/// A policy whose outcome is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// Second copies ÷ requests at most.
    pub(super) budget: f64,
    /// How many may be saved up.
    pub(super) burst: NonZeroU32,
    /// So many times as many requests are late as before, since second copies make others wait.
    pub(super) stress: f64,
}

/// What a policy would have done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Effect {
    /// The target quantile.
    pub(super) target: Nanoseconds,
    /// Second copies ÷ requests.
    pub(super) rate: f64,
    /// With which probability a late request is sent again.
    pub(super) probability: f64,
    /// Work of second copies ÷ work of requests.
    pub(super) work: f64,
    /// The same if requests are late because they are costly, each time that they are sent.
    pub(super) work_if_costly: f64,
    /// The share of second copies that answer first.
    pub(super) wins: f64,
}

/// All late requests of one delay, racing against their donors.
#[derive(Debug)]
pub(super) struct Races {
    /// After how long a second copy is sent.
    pub(super) delay: Nanoseconds,
    /// Requests that are late and may be sent twice ÷ requests.
    pub(super) late: f64,
    /// So many times as many would be late if all took a little longer.
    pub(super) steep: f64,
    /// Ends, the longest first: of late requests without a second copy and with one.
    pub(super) ends: Vec<End>,
    /// Late requests in the order in which their second copies are due.
    pub(super) due: Vec<Due>,
    /// Requests in each block of time.
    pub(super) requests: [f64; BLOCKS],
}

/// One way in which a late request may end.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// When it is over, after it began.
    pub(super) duration: u64,
    /// For how many requests it stands.
    pub(super) weight: f64,
    /// Which of the late requests, by when their second copies are due.
    pub(super) late: u32,
    /// In which block of time.
    pub(super) block: u8,
    /// Whether a second copy is sent.
    pub(super) with_copy: bool,
}

/// A second copy that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// How many requests have begun by then.
    pub(super) begun: u32,
    /// For how many requests it stands; none where the request must not be sent twice.
    pub(super) weight: f64,
    /// How long it takes, in parts of the mean latency.
    pub(super) work: f64,
    /// How long it takes if it is as slow as the first copy.
    pub(super) work_if_costly: f64,
    /// With which probability it answers first.
    pub(super) wins: f64,
}

impl Races {
    /// What these races come to within a budget: with probability q = min(1, budget ÷ late) a late request is sent again
    /// (`SingleR` of Kaler, He and Elnikety, 2017), as long as there is a token for it.
    pub(super) fn within(&self, trial: Trial, target: f64) -> Effect {
        let granted = self.granted(trial);
        let (mut sent, mut work, mut work_if_costly, mut won) = (0.0, 0.0, 0.0, 0.0);
        for (granted, due) in granted.iter().zip(&self.due) {
            sent += granted * due.weight;
            work += granted * due.weight * due.work;
            work_if_costly += granted * due.weight * due.work_if_costly;
            won += granted * due.weight * due.wins;
        }
        let total = self.requests.iter().sum::<f64>();
        let ends = self.ends.iter().map(|end| (end.duration, end.weight(&granted)));
        let [duration] = descend(ends, [(1.0 - target) * total], 1);
        Effect {
            target: Nanoseconds(duration.unwrap_or(self.delay.0)),
            rate: sent / total.max(1.0),
            probability: self.probability(trial),
            work: work / total.max(1.0),
            work_if_costly: work_if_costly / total.max(1.0),
            wins: if sent > 0.0 { won / sent } else { 0.0 },
        }
    }

    /// Late requests as they end with second copies that are granted, or without any.
    pub(super) fn mixture(&self, granted: &[f64]) -> Mixture {
        let ends = self.ends.iter().map(|end| (end.duration, end.weight(granted), end.block));
        Mixture { ends: ends.filter(|(_, weight, _)| *weight > 0.0).collect(), requests: self.requests }
    }

    /// So many times as many requests are late as before.
    fn stress(&self, trial: Trial) -> f64 {
        if self.steep > STEEP { trial.stress.max(self.steep) } else { trial.stress }
    }

    fn probability(&self, trial: Trial) -> f64 {
        if self.late > 0.0 { (trial.budget / (self.late * self.stress(trial))).min(1.0) } else { 1.0 }
    }

    /// With which probability each late request is sent again: a token bucket that earns `budget` with each request, paid
    /// with fractions of tokens.
    pub(super) fn granted(&self, trial: Trial) -> Vec<f64> {
        let (probability, stress) = (self.probability(trial), self.stress(trial));
        let most = f64::from(trial.burst.get());
        let (mut tokens, mut before) = (0.0, 0);
        let grant = |due: &Due| {
            let earned = trial.budget * f64::from(due.begun - before);
            tokens = f64::min(tokens + earned, most);
            before = due.begun;
            let wanted = probability * due.weight * stress;
            let paid = wanted.min(tokens);
            tokens -= paid;
            if wanted > 0.0 { probability * paid / wanted } else { 0.0 }
        };
        self.due.iter().map(grant).collect()
    }
}

impl End {
    /// For how many requests it stands where second copies are granted with these probabilities.
    fn weight(&self, granted: &[f64]) -> f64 {
        let granted = granted[self.late as usize];
        self.weight * if self.with_copy { granted } else { 1.0 - granted }
    }
}

/// How late requests end, the longest first: durations, for how many requests each stands, and in which block of time.
#[derive(Debug)]
pub(super) struct Mixture {
    ends: Vec<(u64, f64, u8)>,
    requests: [f64; BLOCKS],
}

impl Mixture {
    /// The first so many of these quantiles of all requests, the highest first, where each block of time counts so many
    /// times; nothing where one lies among requests that are not late.
    pub(super) fn quantiles<const N: usize>(
        &self,
        times: &[u8; BLOCKS],
        quantiles: [f64; N],
        first: usize,
    ) -> [Option<u64>; N] {
        let times = times.map(f64::from);
        let total: f64 = self.requests.iter().zip(&times).map(|(requests, times)| requests * times).sum();
        let ends = self.ends.iter().map(|(end, weight, block)| (*end, weight * times[usize::from(*block)]));
        descend(ends, quantiles.map(|quantile| (1.0 - quantile) * total), first)
    }
}

/// From the longest durations down, each of which stands for so many requests: which one is reached once so many requests
/// are longer. Fewer come first.
fn descend<const N: usize>(
    ends: impl Iterator<Item = (u64, f64)>,
    beyond: [f64; N],
    first: usize,
) -> [Option<u64>; N] {
    let mut found = [None; N];
    let (mut place, mut sum) = (0, 0.0);
    for (duration, weight) in ends.take_while(|_| first > 0) {
        sum += weight;
        while sum >= beyond[place] && sum > 0.0 {
            found[place] = Some(duration);
            place += 1;
            if place == first {
                return found;
            }
        }
    }
    found
}
