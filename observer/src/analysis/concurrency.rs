//! How many requests are under way at an instance, and what that does to latency.

use observer_common::Nanoseconds;

use super::{
    bursts::Burst,
    feedback::Queueing,
    samples::{Sample, Samples},
    slow::Slow,
};

/// For each sample, how many others of this client were under way at its instance when it began: further copies of
/// requests too, where a log tells them apart.
pub(super) fn in_flight_at_start(samples: &Samples) -> Vec<u32> {
    let mut in_flight = vec![0; samples.primaries.len()];
    let mut copies: Vec<Vec<&Sample>> = vec![Vec::new(); samples.by_instance.len()];
    // One that was over at once was never under way.
    let lasts = |sample: &Sample| sample.arrived() > sample.start;
    for copy in samples.copies.iter().filter(|copy| lasts(copy)) {
        copies[copy.instance as usize].push(copy);
    }
    let mut ends = Vec::new();
    for (rows, copies) in samples.by_instance.iter().zip(&copies) {
        ends.clear();
        let rows = rows.iter().map(|row| (*row as usize, &samples.primaries[*row as usize]));
        ends.extend(rows.clone().filter(|(_, sample)| lasts(sample)).map(|(_, sample)| sample.arrived()));
        ends.extend(copies.iter().map(|copy| copy.arrived()));
        ends.sort_unstable();
        let (mut before, mut over, mut sent_again) = (0_usize, 0_usize, 0_usize);
        for (row, sample) in rows {
            while ends.get(over).is_some_and(|end| *end <= sample.start) {
                over += 1;
            }
            sent_again += copies[sent_again..].iter().take_while(|copy| copy.start < sample.start).count();
            in_flight[row] = u32::try_from(before + sent_again - over).unwrap_or(u32::MAX);
            before += usize::from(lasts(sample));
        }
    }
    in_flight
}

/// How busy instances are, as far as their one observed client can tell.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Load {
    /// Requests under way at an instance, on average (Little: rate × latency).
    pub(super) concurrency: f64,
    /// Work under way at an instance if nobody waited: rate × latency of those that found little to wait for.
    pub(super) work: f64,
    /// How long a request takes that found little to wait for, in seconds.
    pub(super) unloaded: f64,
    /// From how many under way on latency grows; absent where it does not grow.
    pub(super) knee: Option<f64>,
    /// Whether an instance serves one request at a time: who finds another one under way is later than who finds none.
    /// Absent where too few found any.
    pub(super) one_at_a_time: Option<bool>,
    /// What each instance is offered; absent where too few requests found no other under way to tell.
    pub(super) offered: Option<Offered>,
    /// Rank correlation of latency with how many were under way, for requests that are not slow by themselves.
    pub(super) correlation: f64,
}

/// Work that arrives in a second, in seconds: requests a second × mean latency of those that found no other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offered {
    /// On average over instances.
    pub(super) mean: f64,
    /// To each instance.
    to: Vec<f64>,
}

impl Load {
    /// Work ÷ knee: the utilisation, where there is a knee.
    pub(super) fn utilisation(&self) -> Option<f64> {
        self.knee.map(|knee| self.work / knee)
    }

    /// The utilisation of the instances that bursts strike, where it is known: of those that serve one request at a time
    /// from what is offered to each, of others from the knee.
    pub(super) fn utilisation_where(&self, bursts: &[Burst]) -> Option<f64> {
        let of_bursts = |offered: &Offered| {
            let slow: f64 = bursts.iter().map(|burst| f64::from(burst.slow)).sum();
            let to = |burst: &Burst| f64::from(burst.slow) * offered.to[burst.instance as usize];
            (slow > 0.0).then(|| bursts.iter().map(to).sum::<f64>() / slow)
        };
        let offered = self.offered.as_ref().filter(|_| self.one_at_a_time == Some(true));
        self.utilisation().into_iter().chain(offered.and_then(of_bursts)).reduce(f64::max)
    }

    /// Instances as queues, as far as they are seen to be such.
    pub(super) fn queueing(&self) -> Option<Queueing> {
        if self.one_at_a_time == Some(true) {
            return Some(Queueing { utilisation: self.offered.as_ref()?.mean, slots: 1.0 });
        }
        // Work by the mean of those that found no other counts long ones; where there are too few, half of them are longer
        // than the median.
        let slots = self.knee?.max(1.0);
        let work = self.offered.as_ref().map_or(self.work, |offered| offered.mean.max(self.work));
        Some(Queueing { utilisation: work / slots, slots })
    }
}

/// Latency counts as grown from so many times on.
const GROWN: f64 = 1.4;

/// So many requests tell a knee, and so many a correlation.
const SAMPLE: usize = 25_000;
const CORRELATED: usize = 5_000;

/// So many requests tell a median.
const ENOUGH: usize = 40;

/// Load over all instances that have their fair share of requests.
pub(super) fn load(samples: &Samples, slow: &Slow, in_flight: &[u32]) -> Load {
    let span = samples.span.as_seconds().max(1e-9);
    let instances = samples.by_instance.len().max(1) as f64;
    let total: f64 = samples.primaries.iter().chain(&samples.copies).map(latency).sum();
    let concurrency = total / span / instances;
    let (knee, least) = knee(samples, in_flight);
    let executions = (samples.primaries.len() + samples.copies.len()) as f64;
    let work = executions * least / span / instances;
    let offered = offered(samples, in_flight, span);
    // More than one at a time cannot be served one at a time.
    let has_room = offered.as_ref().is_some_and(|offered| offered.mean < 1.0);
    Load {
        concurrency,
        work,
        unloaded: least,
        knee,
        one_at_a_time: one_at_a_time(samples, slow, in_flight).map(|one| one && has_room),
        offered,
        correlation: correlation(samples, in_flight),
    }
}

fn offered(samples: &Samples, in_flight: &[u32], span: f64) -> Option<Offered> {
    let alone = samples.primaries.iter().zip(in_flight).filter(|(_, found)| **found == 0);
    let (sum, count) =
        alone.fold((0.0, 0_usize), |(sum, count), (sample, _)| (sum + latency(sample), count + 1));
    let mean_alone = (count >= TELLING).then(|| sum / count as f64)?;
    let mut requests: Vec<usize> = samples.by_instance.iter().map(Vec::len).collect();
    for copy in &samples.copies {
        requests[copy.instance as usize] += 1;
    }
    let to: Vec<f64> = requests.iter().map(|requests| *requests as f64 / span * mean_alone).collect();
    Some(Offered { mean: to.iter().sum::<f64>() / to.len().max(1) as f64, to })
}

/// Requests that are not late and found one other take so many times as long as those that found none.
const ONE_AT_A_TIME: f64 = 1.2;

/// So many of them tell that.
const TELLING: usize = 10;

/// In so many slices of time that is looked at by itself, since latency may change for other reasons.
const SLICES: u64 = 8;

fn one_at_a_time(samples: &Samples, slow: &Slow, in_flight: &[u32]) -> Option<bool> {
    let width = samples.span.0 / SLICES + 1;
    let mut ratios = Vec::new();
    let rows = samples.primaries.iter().zip(&slow.late).zip(in_flight);
    let mut latencies: Vec<[Vec<u64>; 2]> = (0..SLICES).map(|_| [Vec::new(), Vec::new()]).collect();
    for ((sample, late), found) in rows {
        if !late && *found < 2 {
            let slice = usize::try_from(sample.start.0 / width).unwrap_or(0);
            latencies[slice][*found as usize].push(sample.latency.0);
        }
    }
    for [none, one] in &mut latencies {
        if none.len() >= TELLING && one.len() >= TELLING {
            ratios.push(median(one) / median(none).max(1.0));
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).map(|ratio| *ratio >= ONE_AT_A_TIME)
}

fn median(values: &mut [u64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable(middle).1 as f64
}

fn latency(sample: &Sample) -> f64 {
    Nanoseconds(sample.latency.0 - sample.read_lag.0).as_seconds()
}

/// The median latency of requests that found at most so many others, for each number with enough of them; the knee is
/// the first number from which on it stays grown.
fn knee(samples: &Samples, in_flight: &[u32]) -> (Option<f64>, f64) {
    let step = (in_flight.len() / SAMPLE).max(1);
    let mut found: Vec<(u32, u64)> = in_flight
        .iter()
        .zip(&samples.primaries)
        .step_by(step)
        .map(|(found, sample)| (*found, sample.latency.0 - sample.read_lag.0))
        .collect();
    found.sort_unstable();
    // Groups of neighbouring numbers with enough requests each.
    let size = ENOUGH.max(found.len() / 50);
    let mut groups: Vec<(f64, f64)> = Vec::new();
    let mut begin = 0;
    while begin < found.len() {
        let mut end = (begin + size).min(found.len());
        while end < found.len() && found[end].0 == found[end - 1].0 {
            end += 1;
        }
        let group = &mut found[begin..end];
        if group.len() >= ENOUGH || groups.is_empty() {
            let mean = group.iter().map(|(found, _)| f64::from(*found)).sum::<f64>() / group.len() as f64;
            let middle = group.len() / 2;
            let (_, median, _) = group.select_nth_unstable_by_key(middle, |(_, latency)| *latency);
            groups.push((mean, Nanoseconds(median.1).as_seconds()));
        }
        begin = end;
    }
    let Some(&(_, least)) = groups.first() else { return (None, 0.0) };
    let least = groups.iter().take(3).map(|group| group.1).fold(least, f64::min);
    let mut knee = None;
    for &(found, median) in groups.iter().rev() {
        if median < GROWN * least {
            break;
        }
        knee = Some((found + 1.0) / GROWN);
    }
    (knee, least)
}

/// Spearman's rank correlation over a sample of the requests.
fn correlation(samples: &Samples, in_flight: &[u32]) -> f64 {
    let step = (samples.primaries.len() / CORRELATED).max(1);
    let chosen: Vec<usize> = (0..samples.primaries.len()).step_by(step).collect();
    let ranks = |key: &dyn Fn(usize) -> u64| {
        let mut sorted: Vec<(u64, usize)> =
            chosen.iter().enumerate().map(|(place, row)| (key(*row), place)).collect();
        sorted.sort_unstable();
        let mut ranks = vec![0.0; chosen.len()];
        let mut begin = 0;
        while begin < sorted.len() {
            let same = sorted[begin..].iter().take_while(|(value, _)| *value == sorted[begin].0).count();
            for (_, place) in &sorted[begin..begin + same] {
                ranks[*place] = begin as f64 + same as f64 / 2.0;
            }
            begin += same;
        }
        ranks
    };
    let latencies = ranks(&|row| samples.primaries[row].latency.0);
    let found = ranks(&|row| u64::from(in_flight[row]));
    pearson(&latencies, &found)
}

fn pearson(one: &[f64], other: &[f64]) -> f64 {
    let count = one.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (mean_one, mean_other) = (mean(one), mean(other));
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for (a, b) in one.iter().zip(other) {
        both += (a - mean_one) * (b - mean_other);
        first += (a - mean_one).powi(2);
        second += (b - mean_other).powi(2);
    }
    if first > 0.0 && second > 0.0 { both / (first * second).sqrt() } else { 0.0 }
}

/// Where a number lies among others, from 0 to 1; equal ones count half.
#[derive(Debug)]
pub(super) struct Ranks {
    sorted: Vec<u32>,
}

impl Ranks {
    /// Among these.
    pub(super) fn of(mut numbers: Vec<u32>) -> Self {
        numbers.sort_unstable();
        Self { sorted: numbers }
    }

    /// The share of them below `number`, and half of those equal to it.
    pub(super) fn rank(&self, number: u32) -> f64 {
        if self.sorted.is_empty() {
            return 0.5;
        }
        let below = self.sorted.partition_point(|other| *other < number);
        let not_above = self.sorted.partition_point(|other| *other <= number);
        (below + not_above) as f64 / 2.0 / self.sorted.len() as f64
    }
}
