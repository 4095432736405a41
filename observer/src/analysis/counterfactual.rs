//! What would have become of late requests if a second copy had been sent?
//!
//! For a late request, a *donor* is taken: a request of the same kind that began at another instance when the second copy
//! would have. What happened to it would have happened to the copy, so the caller would have had its answer after
//! `T = min(L, d + L_donor)`. Since the donor is taken from the same moment, what strikes all instances strikes it too; since
//! it is of the same class, what makes a class slow makes it slow; and it is never at the instance that is slow as a whole.

use std::num::NonZeroU32;

use observer_common::Nanoseconds;

use super::{
    bootstrap::BLOCKS,
    kinds::Kinds,
    quantiles::Survival,
    repeatable::Repeatable,
    rounding::{count, times},
    samples::{Sample, Samples, number},
};

/// So much sooner a delay may turn out to be: latency is never the same again.
const SOONER: f64 = 0.97;

/// Where so many times as many requests would be late then, the delay lies at the edge of a mode.
const STEEP: f64 = 1.2;

/// So many donors are taken for a late request, each as likely.
const DONORS: usize = 6;

/// So many requests around the moment are looked at to find them.
const REACH: usize = 200;

/// Longer than anything.
pub(super) const NEVER: u64 = u64::MAX / 4;

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
}

/// A request that may be late.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    row: u32,
    latency: u64,
}

/// Requests by latency, and donors for them.
#[derive(Debug)]
pub(super) struct Counterfactual<'a> {
    samples: &'a Samples,
    kinds: &'a Kinds,
    /// Requests, the longest first.
    candidates: Vec<Candidate>,
    /// Beginnings of requests that may be donors, with their places.
    donors: Vec<Vec<u32>>,
    block: u64,
    /// Requests that may be sent twice.
    total: f64,
    /// They ÷ requests.
    earning: f64,
    /// The mean latency, in nanoseconds.
    mean: f64,
}

/// All late requests of one delay, racing against their donors.
#[derive(Debug)]
pub(super) struct Races {
    /// After how long a second copy is sent.
    pub(super) delay: Nanoseconds,
    /// Late requests ÷ requests.
    pub(super) late: f64,
    /// So many times as many requests would be late if all took a little longer.
    steep: f64,
    /// Ends, the longest first: of late requests without a second copy and with one.
    ends: Vec<End>,
    /// Late requests, in the order in which they are: which of them, and how many requests had begun when it was.
    due: Vec<(u32, u32)>,
    /// For how many requests each late one stands.
    weights: Vec<f64>,
    /// How long the second copy of each late request takes, in parts of the mean latency.
    work: Vec<f64>,
    total: f64,
    earning: f64,
}

#[derive(Clone, Copy, Debug)]
struct End {
    duration: u64,
    /// Which of the late requests.
    late: u32,
    block: u8,
    with_copy: bool,
    weight: f64,
}

impl<'a> Counterfactual<'a> {
    /// Prepares the requests that may be sent twice. Any request may be a donor.
    pub(super) fn new(
        samples: &'a Samples,
        survival: &Survival,
        kinds: &'a Kinds,
        repeatable: &Repeatable,
    ) -> Self {
        let mut candidates: Vec<Candidate> = samples
            .primaries
            .iter()
            .enumerate()
            .filter(|(_, sample)| repeatable.may(sample))
            .map(|(row, sample)| Candidate { row: number(row), latency: presumed(sample, survival) })
            .collect();
        candidates.sort_unstable_by_key(|candidate| std::cmp::Reverse((candidate.latency, candidate.row)));
        let total = candidates.len();
        let mut donors = vec![Vec::new(); kinds.count()];
        for (row, sample) in samples.primaries.iter().enumerate() {
            if !sample.failed {
                donors[kinds.of(sample)].push(number(row));
            }
        }
        Self {
            samples,
            kinds,
            candidates,
            donors,
            block: samples.span.0 / BLOCKS as u64 + 1,
            total: total as f64,
            earning: total as f64 / samples.primaries.len().max(1) as f64,
            mean: samples.primaries.iter().map(|sample| sample.latency.0 as f64).sum::<f64>()
                / samples.primaries.len().max(1) as f64,
        }
    }

    /// The share of requests that are longer than this.
    fn late(&self, delay: Nanoseconds) -> f64 {
        self.candidates.partition_point(|candidate| candidate.latency > delay.0) as f64 / self.total
    }

    /// The quantile without second copies.
    pub(super) fn quantile(&self, quantile: f64) -> u64 {
        let beyond = count((1.0 - quantile) * self.total);
        self.candidates.get(beyond).map_or(0, |candidate| candidate.latency)
    }

    /// Lets all requests that are late after `delay` race; of the less late ones only so many that there are about
    /// `most`, each standing for several.
    pub(super) fn races(&self, delay: Nanoseconds, most: usize) -> Races {
        let late_count = self.candidates.partition_point(|candidate| candidate.latency > delay.0);
        let late = &self.candidates[..late_count];
        // The longest half are all looked at.
        let whole = (most / 2).min(late_count);
        let step = ((late_count - whole) / (most / 2).max(1)).max(1);
        let chosen = late[..whole].iter().map(|candidate| (candidate, 1.0)).chain(
            late[whole..].iter().skip(step / 2).step_by(step).map(|candidate| (candidate, step as f64)),
        );
        let mut ends = Vec::with_capacity((whole + most / 2) * (DONORS + 1));
        let mut due = Vec::with_capacity(whole + most / 2);
        let mut work = Vec::with_capacity(whole + most / 2);
        let mut weights = Vec::with_capacity(whole + most / 2);
        let mut found = Vec::with_capacity(DONORS);
        for (candidate, weight) in chosen {
            let sample = &self.samples.primaries[candidate.row as usize];
            let late = number(due.len());
            let block = u8::try_from(sample.start.0 / self.block).unwrap_or(u8::MAX);
            let moment = Nanoseconds(sample.start.0.saturating_add(delay.0));
            found.clear();
            self.find_donors(sample, moment, &mut found);
            let end = |duration, with_copy, weight| End { duration, late, block, with_copy, weight };
            ends.push(end(candidate.latency, false, weight));
            if found.is_empty() {
                ends.push(end(candidate.latency, true, weight));
            }
            for donor in &found {
                let duration = candidate.latency.min(delay.0.saturating_add(*donor));
                ends.push(end(duration, true, weight / found.len() as f64));
            }
            let sum: f64 = found.iter().map(|donor| *donor as f64).sum();
            work.push(sum / found.len().max(1) as f64 / self.mean);
            due.push((candidate.row, late));
            weights.push(weight);
        }
        ends.sort_unstable_by_key(|end| std::cmp::Reverse(end.duration));
        due.sort_unstable();
        for (row, _) in &mut due {
            let moment = self.samples.primaries[*row as usize].start.0.saturating_add(delay.0);
            *row = number(self.samples.primaries.partition_point(|sample| sample.start.0 <= moment));
        }
        let due = due.into_iter().map(|(begun, late)| (late, begun)).collect();
        let sooner = if late_count > 0 {
            self.late(times(delay, SOONER)) * self.total / late_count as f64
        } else {
            1.0
        };
        Races {
            delay,
            weights,
            late: late_count as f64 / self.total,
            steep: sooner,
            ends,
            due,
            work,
            total: self.total,
            earning: self.earning,
        }
    }

    /// Latencies of requests of the same kind at other instances that began nearest to `moment`.
    fn find_donors(&self, sample: &Sample, moment: Nanoseconds, found: &mut Vec<u64>) {
        let primaries = &self.samples.primaries;
        let donors = &self.donors[self.kinds.of(sample)];
        let middle = donors.partition_point(|row| primaries[*row as usize].start < moment);
        let (mut before, mut after) = (middle, middle);
        for _ in 0..REACH {
            let distance = |place: Option<usize>| {
                place
                    .and_then(|place| donors.get(place))
                    .map(|row| primaries[*row as usize].start.0.abs_diff(moment.0))
            };
            let row = match (distance(before.checked_sub(1)), distance(Some(after))) {
                (None, None) => break,
                (Some(behind), ahead) if ahead.is_none_or(|ahead| behind <= ahead) => {
                    before -= 1;
                    donors[before]
                }
                _ => {
                    after += 1;
                    donors[after - 1]
                }
            };
            let donor = &primaries[row as usize];
            if donor.instance == sample.instance {
                continue;
            }
            // One that gave up early tells nothing.
            if donor.answered || donor.latency >= sample.latency {
                found.push(donor.latency.0);
            }
            if found.len() == DONORS {
                break;
            }
        }
    }
}

/// The latency of a request without an answer is presumed to be the median of those that took longer than it waited.
fn presumed(sample: &Sample, survival: &Survival) -> u64 {
    if sample.answered {
        return sample.latency.0;
    }
    let median = survival.quantile(1.0 - survival.beyond(sample.latency) / 2.0);
    if median.at_least || median.duration <= sample.latency { NEVER } else { median.duration.0 }
}

impl Races {
    /// What these races come to within a budget: with probability q = min(1, budget ÷ late) a late request is sent again
    /// (`SingleR` of Kaler, He and Elnikety, 2017), as long as there is a token for it.
    pub(super) fn within(&self, trial: Trial, target: f64) -> Effect {
        let probability = self.probability(trial);
        let granted = self.granted(trial);
        let duration = self.quantile(&granted, &[1; BLOCKS], target);
        let (mut sent, mut work) = (0.0, 0.0);
        for ((granted, weight), own) in granted.iter().zip(&self.weights).zip(&self.work) {
            sent += granted * weight;
            work += granted * weight * own;
        }
        Effect {
            target: Nanoseconds(duration),
            rate: sent / self.total,
            probability,
            work: work / self.total,
        }
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
        let mut granted = vec![0.0; self.due.len()];
        let most = f64::from(trial.burst.get());
        let (mut tokens, mut before) = (0.0, 0);
        for (late, begun) in &self.due {
            let earned = trial.budget * self.earning * f64::from(begun - before);
            tokens = f64::min(tokens + earned, most);
            before = *begun;
            let wanted = probability * self.weights[*late as usize] * stress;
            let paid = wanted.min(tokens);
            tokens -= paid;
            granted[*late as usize] = if wanted > 0.0 { probability * paid / wanted } else { 0.0 };
        }
        granted
    }

    /// The quantile of all requests, where each block of time counts so many times.
    pub(super) fn quantile(&self, granted: &[f64], times: &[u8; BLOCKS], quantile: f64) -> u64 {
        let mut left = (1.0 - quantile) * self.total;
        for end in &self.ends {
            let granted = granted[end.late as usize];
            let part = if end.with_copy { granted } else { 1.0 - granted };
            left -= part * end.weight * f64::from(times[usize::from(end.block)]);
            if left <= 0.0 {
                return end.duration;
            }
        }
        self.delay.0
    }
}
