//! What would have become of late requests if a second copy had been sent?
//!
//! For a late request, a *donor* is taken: a request of the same kind that began at another instance when the second copy
//! would have. What happened to it would have happened to the copy, so the caller would have had its answer after
//! `T = min(L, d + L_donor)`. Since the donor is taken from the same moment, what strikes all instances strikes it too; since
//! it is of the same class, what makes a class slow makes it slow; and it is never at the instance that is slow as a whole.

use observer_common::Nanoseconds;

use super::{
    bootstrap::BLOCKS,
    kinds::Kinds,
    quantiles::Survival,
    races::{Due, End, Races},
    repeatable::Repeatable,
    rounding::{count, times},
    samples::{Sample, Samples, number},
};

/// So much sooner a delay may turn out to be: latency is never the same again.
const SOONER: f64 = 0.97;

/// How closely the races of a delay are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closeness {
    /// About so many late requests race.
    pub(super) late: usize,
    /// So many donors are taken for each, each as likely.
    pub(super) donors: usize,
}

/// So many requests around the moment are looked at to find them.
const REACH: usize = 200;

/// Longer than anything.
pub(super) const NEVER: u64 = u64::MAX / 4;

/// A request that may be late.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    latency: u64,
    row: u32,
    /// Whether it may be sent twice.
    may: bool,
}

/// A request that a second copy may be like.
#[derive(Clone, Copy, Debug)]
struct Donor {
    /// After how long its answer is there, if ever: a failure is none.
    wins: u64,
    /// For how long it kept its instance busy.
    busy: u64,
    instance: u32,
}

/// The donors of one kind, by when they began.
#[derive(Debug, Default)]
struct Donors {
    starts: Vec<u64>,
    donors: Vec<Donor>,
}

/// Requests by latency, and donors for them.
#[derive(Debug)]
pub(super) struct Counterfactual<'a> {
    samples: &'a Samples,
    kinds: &'a Kinds,
    /// Requests, the longest first; those of the shorter half are in no order.
    candidates: Vec<Candidate>,
    /// How many of the first so many, of the longest half, may be sent twice.
    repeatable: Vec<u32>,
    /// Of each kind.
    donors: Vec<Donors>,
    /// When requests began, ascending.
    starts: Vec<u64>,
    /// How long a block of time is.
    block: u64,
    /// Requests in each block.
    requests: [f64; BLOCKS],
    /// The mean latency, in nanoseconds.
    mean: f64,
    /// Donors that began farther away than a late request lasts, and than this, say nothing of its moment.
    near: Nanoseconds,
}

impl<'a> Counterfactual<'a> {
    /// Prepares all requests. Those that must not be sent twice are late all the same, and may be donors.
    pub(super) fn new(
        samples: &'a Samples,
        survival: &Survival,
        kinds: &'a Kinds,
        repeatable: &Repeatable,
        near: Nanoseconds,
    ) -> Self {
        let block = samples.span.0 / BLOCKS as u64 + 1;
        let mut donors: Vec<Donors> = (0..kinds.count()).map(|_| Donors::default()).collect();
        let mut candidates = Vec::with_capacity(samples.primaries.len());
        let mut starts = Vec::with_capacity(samples.primaries.len());
        let mut requests = [0.0; BLOCKS];
        let mut sum = 0.0;
        let may = |row: usize| repeatable.may(row) && samples.is_served_elsewhere(row);
        for (row, sample) in samples.primaries.iter().enumerate() {
            let latency = presumed(sample, survival);
            candidates.push(Candidate { latency, row: number(row), may: may(row) });
            starts.push(sample.start.0);
            requests[block_of(sample, block)] += 1.0;
            sum += sample.latency.0 as f64;
            let of_kind = &mut donors[kinds.of(sample)];
            of_kind.starts.push(sample.start.0);
            of_kind.donors.push(Donor {
                wins: if sample.failed { NEVER } else { latency },
                busy: sample.latency.0,
                instance: sample.instance,
            });
        }
        let longest = |candidate: &Candidate| std::cmp::Reverse((candidate.latency, candidate.row));
        let half = candidates.len() / 2;
        if half > 0 {
            candidates.select_nth_unstable_by_key(half, longest);
        }
        candidates[..half].sort_unstable_by_key(longest);
        let mut repeatable = vec![0];
        for candidate in &candidates[..half] {
            repeatable.push(repeatable[repeatable.len() - 1] + u32::from(candidate.may));
        }
        let mean = (sum / samples.primaries.len().max(1) as f64).max(1.0);
        Self { samples, kinds, candidates, repeatable, donors, starts, block, requests, mean, near }
    }

    /// How many requests are longer than this, at most half of all.
    fn late(&self, delay: Nanoseconds) -> usize {
        let longer = &self.candidates[..self.candidates.len() / 2];
        longer.partition_point(|candidate| candidate.latency > delay.0)
    }

    /// The quantile without second copies.
    pub(super) fn quantile(&self, quantile: f64) -> u64 {
        let beyond = count((1.0 - quantile) * self.candidates.len() as f64);
        self.candidates.get(beyond).map_or(0, |candidate| candidate.latency)
    }

    /// Lets all requests that are late after `delay` race; of the less late ones only so many that there are about as
    /// many as is asked for, each standing for several.
    pub(super) fn races(&self, delay: Nanoseconds, Closeness { late: most, donors }: Closeness) -> Races {
        let late_count = self.late(delay);
        let late = &self.candidates[..late_count];
        // The longest half are all looked at.
        let whole = (most / 2).min(late_count);
        let step = ((late_count - whole) / (most / 2).max(1)).max(1);
        let mut chosen: Vec<(u32, u64, bool, f64)> = late[..whole]
            .iter()
            .map(|candidate| (candidate, 1.0))
            .chain(
                late[whole..].iter().skip(step / 2).step_by(step).map(|candidate| (candidate, step as f64)),
            )
            .map(|(candidate, weight)| (candidate.row, candidate.latency, candidate.may, weight))
            .collect();
        // In the order of time, which is that in which copies are due.
        chosen.sort_unstable_by_key(|(row, ..)| *row);
        let mut ends = Vec::with_capacity(chosen.len() * (donors + 1));
        let mut due = Vec::with_capacity(chosen.len());
        let mut found = Vec::with_capacity(donors);
        for (row, latency, may, weight) in chosen {
            let sample = &self.samples.primaries[row as usize];
            let late = number(due.len());
            let block = u8::try_from(block_of(sample, self.block)).unwrap_or(u8::MAX);
            let moment = Nanoseconds(sample.start.0.saturating_add(delay.0));
            found.clear();
            if may {
                self.find_donors(sample, moment, donors, &mut found);
            }
            let end = |duration, with_copy, weight| End { duration, weight, late, block, with_copy };
            ends.push(end(latency, false, weight));
            if found.is_empty() {
                ends.push(end(latency, true, weight));
            }
            for donor in &found {
                let duration = latency.min(delay.0.saturating_add(donor.wins));
                ends.push(end(duration, true, weight / found.len() as f64));
            }
            let sum: f64 = found.iter().map(|donor| donor.busy as f64).sum();
            let work = if found.is_empty() { 1.0 } else { sum / found.len() as f64 / self.mean };
            let work_if_costly = sample.latency.0 as f64 / self.mean;
            let begun = number(self.starts.partition_point(|start| *start <= moment.0));
            let won = found.iter().filter(|donor| delay.0.saturating_add(donor.wins) < latency).count();
            let wins = won as f64 / found.len().max(1) as f64;
            due.push(Due { begun, weight: if may { weight } else { 0.0 }, work, work_if_costly, wins });
        }
        ends.sort_unstable_by_key(|end| std::cmp::Reverse(end.duration));
        let sooner = self.late(times(delay, SOONER));
        Races {
            delay,
            late: f64::from(self.repeatable[late_count]) / self.candidates.len().max(1) as f64,
            steep: if late_count > 0 { sooner as f64 / late_count as f64 } else { 1.0 },
            ends,
            due,
            requests: self.requests,
        }
    }

    /// Requests of the same kind at other instances that began nearest to `moment`.
    fn find_donors(&self, sample: &Sample, moment: Nanoseconds, most: usize, found: &mut Vec<Donor>) {
        let Donors { starts, donors } = &self.donors[self.kinds.of(sample)];
        let near = self.near.0.max(sample.latency.0);
        let middle = starts.partition_point(|start| *start < moment.0);
        let (mut before, mut after) = (middle, middle);
        for _ in 0..REACH {
            let distance = |place: Option<usize>| {
                let distance =
                    place.and_then(|place| starts.get(place)).map(|start| start.abs_diff(moment.0));
                distance.filter(|distance| *distance <= near)
            };
            let donor = match (distance(before.checked_sub(1)), distance(Some(after))) {
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
            if donor.instance != sample.instance {
                found.push(donor);
            }
            if found.len() == most {
                break;
            }
        }
    }
}

/// The block of time that a request began in.
fn block_of(sample: &Sample, block: u64) -> usize {
    usize::try_from(sample.start.0 / block).unwrap_or(BLOCKS).min(BLOCKS - 1)
}

/// The latency of a request without an answer is presumed to be the median of those that took longer than it waited.
fn presumed(sample: &Sample, survival: &Survival) -> u64 {
    if sample.answered {
        return sample.latency.0;
    }
    let median = survival.quantile(1.0 - survival.beyond(sample.latency) / 2.0);
    if median.at_least || median.duration <= sample.latency { NEVER } else { median.duration.0 }
}
