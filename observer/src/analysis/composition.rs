//! What explains the slow requests.
//!
//! Causes are looked for one after the other, from what strikes a request for certain to what is only seen in many; each
//! explains a part of every slow request, and the next one only what is left of it.

use observer_common::Nanoseconds;
use rand_pcg::Pcg64;

use super::{
    bootstrap::Bootstrap,
    bursts::{Burst, Burstiness, burstiness, bursts},
    clusters::{Clusters, clusters},
    coincidence::{Coincidence, Mark, coincidence},
    concurrency::{Load, in_flight_at_start, load},
    elevated::{self, Group, Member},
    hung::hung,
    neighbours::{Nearest, nearest},
    samples::{Samples, number},
    slow::Slow,
};

/// What explains slow requests, in the order in which it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Explanation {
    Caller,
    Network,
    Request,
    Instance,
    Shared,
    Saturated,
    Independent,
}

impl Explanation {
    pub(super) const ALL: [Self; 7] = [
        Self::Caller,
        Self::Network,
        Self::Request,
        Self::Instance,
        Self::Shared,
        Self::Saturated,
        Self::Independent,
    ];
}

/// How much of a slow request each explanation explains: in the order of [`Explanation::ALL`], adding up to one.
pub(super) type Parts = [f64; Explanation::ALL.len()];

/// What explains the slow requests, and what was found on the way.
#[derive(Debug)]
pub(super) struct Findings {
    /// Slow requests by their place among the samples, each with its parts.
    pub(super) slow: Vec<(u32, Parts)>,
    /// Requests by class.
    pub(super) classes: Vec<Group>,
    /// Requests by instance.
    pub(super) instances: Vec<Group>,
    /// Instances that pause together.
    pub(super) clusters: Clusters,
    /// Whether instances are slow together.
    pub(super) coincidence: Option<Coincidence>,
    /// The same by nearest neighbours.
    pub(super) nearest: Option<Nearest>,
    /// Slowness within instances.
    pub(super) burstiness: Burstiness,
    /// Runs of slow requests that nothing before explains.
    pub(super) bursts: Vec<Burst>,
    /// How busy instances are.
    pub(super) load: Load,
    /// Over all bursts, what share of requests that are not slow find fewer under way than the first of a burst.
    pub(super) queued: f64,
    /// The share of answers that say that there is too much to do, at the median instance.
    pub(super) busy_share: f64,
    /// How often requests with a segment that was seen again are slow, and how often others are.
    pub(super) retransmitted: Option<(f64, f64)>,
}

/// Slow requests whose answer lay unread for this part of their excess are the caller's.
const UNREAD: f64 = 0.5;

/// What explains slow requests makes requests slow so many times as often.
const OFTEN: f64 = 3.0;

/// The same for the part that the round-trip time is longer than usual.
const ROUND_TRIP: f64 = 0.4;

/// A request cannot be slow because of a queue if those at the head of its burst found no more under way than this
/// share of others.
pub(super) const QUEUED: f64 = 0.8;

/// Instances that use less of their capacity than this are not full.
pub(super) const FULL: f64 = 0.75;

/// Late requests are late together if this share of them is.
const MOSTLY: f64 = 0.5;

/// From this share of answers on that say so, instances are full.
const BUSY: f64 = 0.01;

/// Looks for what explains the slow requests. `hosts` says for each instance which host it is on.
pub(super) fn findings(samples: &Samples, slow: &Slow, hosts: &[u32], random: &mut Pcg64) -> Findings {
    let in_flight = in_flight_at_start(samples);
    let mut left: Vec<f64> = slow.is.iter().map(|slow| f64::from(u8::from(*slow))).collect();
    let mut parts: Vec<Parts> = vec![Parts::default(); left.len()];
    let mut explain = |row: usize, by: Explanation, part: f64, left: &mut [f64]| {
        let part = left[row] * part.clamp(0.0, 1.0);
        parts[row][by as usize] += part;
        left[row] -= part;
    };

    for row in caller(samples, slow) {
        explain(row, Explanation::Caller, 1.0, &mut left);
    }
    let (network, retransmitted) = network(samples, slow, &left);
    for (row, part) in network {
        explain(row, Explanation::Network, part, &mut left);
    }
    let (classes, by_class) = classes(samples, slow, &left);
    for row in slow_rows(slow) {
        let class = samples.primaries[row].class as usize;
        explain(row, Explanation::Request, by_class[class], &mut left);
    }
    let behind = behind_costly(samples, &classes);
    let part = attributable_to(&behind, &left);
    for row in slow_rows(slow).filter(|row| behind[*row]) {
        explain(row, Explanation::Request, part, &mut left);
    }
    let (instances, by_instance) = instances(samples, slow, &left, &in_flight);
    for row in slow_rows(slow) {
        let instance = samples.primaries[row].instance as usize;
        explain(row, Explanation::Instance, by_instance[instance], &mut left);
    }

    // What is left is looked at together with requests that are not slow, at instances that are not slow as a whole.
    let counts = |row: usize| {
        !instances[samples.primaries[row].instance as usize].is_elevated
            && (left[row] >= 0.5 || !slow.is[row])
    };
    let load = load(samples, slow, &in_flight);
    let bursts = bursts(samples, slow, &in_flight, counts);
    let burstiness = burstiness(samples, &slow.is, |row| counts(row));
    let least_width = least_width(samples, slow);
    let clusters = clusters(&marks(samples, &slow.is, &counts), hosts, samples.span, least_width);
    let of = |flags: &[bool], random: &mut Pcg64| {
        let marks = clusters.merge(&marks(samples, flags, &counts));
        coincidence(&marks, samples.span, least_width, random)
    };
    let of_slow = of(&slow.is, random);
    // In a long episode the slow requests are those at its end, when instances are no longer slow at the same moments.
    // That they were late together tells it.
    let of_late =
        of(&slow.late, random).filter(|late| late.is_significant() && late.share >= MOSTLY).map(|late| {
            late.of_others(slow_rows(slow).filter(|row| counts(*row)).map(|row| samples.primaries[row].start))
        });
    let coincidence = match (of_slow, of_late) {
        (Some(slow), Some(late)) if slow.is_significant() && slow.share >= late.share => Some(slow),
        (_, Some(late)) => Some(late),
        (slow, None) => slow,
    };
    let nearest =
        nearest(samples, &slow.is, counts, neighbourhood(samples, least_width), &Bootstrap::new(100, random));
    let queued = queued(&bursts);
    let busy_share = busy_share(samples);
    let is_full = busy_share >= BUSY
        || (queued >= QUEUED
            && load.utilisation_where(&bursts).is_some_and(|utilisation| utilisation >= FULL));
    let together = match &coincidence {
        Some(coincidence) if coincidence.is_significant() => Some(coincidence),
        _ => None,
    };
    // Of those in coincident windows, this many are there by more than chance.
    let together = together.map(|together| {
        let inside: u32 = together.in_windows().filter(|(is, _)| *is).map(|(_, slow)| slow).sum();
        let all: u32 = together.slow.iter().sum();
        (together, (together.share * f64::from(all) / f64::from(inside.max(1))).min(1.0))
    });
    for row in slow_rows(slow) {
        if left[row] == 0.0 {
            continue;
        }
        let sample = &samples.primaries[row];
        if let Some((together, part)) = together
            && !instances[sample.instance as usize].is_elevated
        {
            let window = (sample.start.0 / together.width.0) as usize;
            if together.windows.get(window) == Some(&true) {
                let by = if queued >= QUEUED || busy_share >= BUSY {
                    Explanation::Saturated
                } else {
                    Explanation::Shared
                };
                explain(row, by, part, &mut left);
            }
        }
        if is_full {
            explain(row, Explanation::Saturated, 1.0, &mut left);
        }
        explain(row, Explanation::Independent, 1.0, &mut left);
    }
    let slow = slow_rows(slow).map(|row| (number(row), parts[row])).collect();
    Findings {
        slow,
        classes,
        instances,
        clusters,
        coincidence,
        nearest,
        burstiness,
        bursts,
        load,
        queued,
        busy_share,
        retransmitted,
    }
}

fn slow_rows(slow: &Slow) -> impl Iterator<Item = usize> {
    slow.is.iter().enumerate().filter(|(_, is)| **is).map(|(row, _)| row)
}

/// Slow requests that would not be slow if their answers had been read at once, or not by half.
fn caller(samples: &Samples, slow: &Slow) -> impl Iterator<Item = usize> {
    slow_rows(slow).filter(|row| {
        let sample = &samples.primaries[*row];
        let excess = sample.latency.0.saturating_sub(slow.median.0);
        sample.read_lag.0 as f64 >= UNREAD * excess as f64
    })
}

/// Slow requests during which a segment was seen again, as far as those are slow more often than others, and slow requests
/// whose round-trip time is that much longer than usual.
fn network(samples: &Samples, slow: &Slow, left: &[f64]) -> (Vec<(usize, f64)>, Option<(f64, f64)>) {
    let (mut again, mut not) = ([0.0; 2], [0.0; 2]);
    for (row, sample) in samples.primaries.iter().enumerate() {
        let counts = if sample.retransmitted { &mut again } else { &mut not };
        counts[0] += 1.0;
        counts[1] += left[row];
    }
    let rates = (again[0] > 0.0 && not[0] > 0.0).then(|| (again[1] / again[0], not[1] / not[0]));
    let marked: Vec<bool> = samples.primaries.iter().map(|sample| sample.retransmitted).collect();
    let attributable = attributable_to(&marked, left);
    let usual = usual_round_trip(samples);
    let mut explained = Vec::new();
    for row in slow_rows(slow) {
        let sample = &samples.primaries[row];
        let excess = sample.latency.0.saturating_sub(slow.median.0) as f64;
        let longer = match (sample.round_trip, usual) {
            (Some(own), Some(usual)) => own.0.saturating_sub(usual.0) as f64,
            _ => 0.0,
        };
        if longer >= ROUND_TRIP * excess {
            explained.push((row, 1.0));
        } else if sample.retransmitted && attributable > 0.0 {
            explained.push((row, attributable));
        }
    }
    (explained, rates)
}

/// The lower quartile of the round-trip times.
fn usual_round_trip(samples: &Samples) -> Option<Nanoseconds> {
    let step = (samples.primaries.len() / 4_000).max(1);
    let mut known: Vec<_> =
        samples.primaries.iter().step_by(step).filter_map(|sample| sample.round_trip).collect();
    let place = known.len() / 4;
    (!known.is_empty()).then(|| *known.select_nth_unstable(place).1)
}

/// Of so many instances that have enough requests of a class, it must be elevated at that share.
const EVERYWHERE: f64 = 0.75;

/// Classes that are late everywhere, and which part of the slow requests of each that explains.
fn classes(samples: &Samples, slow: &Slow, left: &[f64]) -> (Vec<Group>, Vec<f64>) {
    let count = samples.classes.len() + 1;
    if count < 2 {
        return (vec![Group::default(); count], vec![0.0; count]);
    }
    let late = late(slow, left);
    let members = samples.primaries.iter().zip(&late).map(|(sample, late)| Member {
        group: sample.class,
        start: sample.start,
        slow: *late,
    });
    let mut classes = elevated::compare(members, count, samples.span);
    for (place, class) in classes.iter_mut().enumerate().filter(|(_, class)| class.is_elevated) {
        let own = class.slow / class.requests;
        // Class by class: a table of all classes at all instances could be very large.
        let mut cells: Vec<[f64; 2]> = vec![[0.0; 2]; samples.instances.len()];
        let of_class =
            samples.primaries.iter().zip(&late).filter(|(sample, _)| sample.class as usize == place);
        for (sample, late) in of_class {
            cells[sample.instance as usize][0] += 1.0;
            cells[sample.instance as usize][1] += late;
        }
        // Where at least three late ones are expected, half of them are there.
        let expected = cells.iter().filter(|cell| cell[0] * own >= 3.0);
        let (enough, elevated) = expected.fold((0.0, 0.0), |(enough, elevated), cell| {
            (enough + 1.0, elevated + f64::from(u8::from(cell[1] >= 0.5 * cell[0] * own)))
        });
        class.is_elevated = elevated >= EVERYWHERE * enough;
    }
    let attributable = attributable(&classes, samples.primaries.iter().map(|sample| sample.class), left);
    (classes, attributable)
}

/// How much of a late request each is: what is explained already does not count.
fn late(slow: &Slow, left: &[f64]) -> Vec<f64> {
    let late = |row: usize| f64::from(u8::from(slow.late[row])) * if slow.is[row] { left[row] } else { 1.0 };
    (0..left.len()).map(late).collect()
}

/// For each group, which part of its slow requests it would not have at the rate of those that are not elevated:
/// 1 − p_rest ÷ p_group.
fn attributable(groups: &[Group], group_of: impl Iterator<Item = u32>, left: &[f64]) -> Vec<f64> {
    let mut counts = vec![[0.0; 2]; groups.len()];
    for (group, left) in group_of.zip(left) {
        counts[group as usize][0] += 1.0;
        counts[group as usize][1] += left;
    }
    let mut usual = [1.0, 0.5];
    for (counts, _) in counts.iter().zip(groups).filter(|(_, group)| !group.is_elevated) {
        usual[0] += counts[0];
        usual[1] += counts[1];
    }
    let part = |(counts, group): (&[f64; 2], &Group)| {
        let own = counts[1] / counts[0].max(1.0);
        if group.is_elevated && own > 0.0 { (1.0 - usual[1] / usual[0] / own).max(0.0) } else { 0.0 }
    };
    counts.iter().zip(groups).map(part).collect()
}

/// Which requests began while one of a costly class was under way at their instance.
fn behind_costly(samples: &Samples, classes: &[Group]) -> Vec<bool> {
    let mut behind = vec![false; samples.primaries.len()];
    for rows in &samples.by_instance {
        let mut until = Nanoseconds(0);
        for row in rows {
            let sample = &samples.primaries[*row as usize];
            behind[*row as usize] = sample.start < until;
            if classes[sample.class as usize].is_elevated {
                until = until.max(sample.end());
            }
        }
    }
    behind
}

/// Which part of the slow requests that are marked they would not be if they were slow as often as the others; nothing
/// unless they are so several times as often.
fn attributable_to(marked: &[bool], left: &[f64]) -> f64 {
    let (mut with, mut without) = ([0.0; 2], [0.0; 2]);
    for (marked, left) in marked.iter().zip(left) {
        let counts = if *marked { &mut with } else { &mut without };
        counts[0] += 1.0;
        counts[1] += left;
    }
    let rate = |counts: [f64; 2]| counts[1] / f64::max(counts[0], 1.0);
    let (with, without, enough) = (rate(with), rate(without), with[1] >= 5.0);
    if enough && with > OFTEN * without { 1.0 - without / with } else { 0.0 }
}

/// Instances that are late as a whole, and which part of the slow requests of each that explains.
fn instances(samples: &Samples, slow: &Slow, left: &[f64], in_flight: &[u32]) -> (Vec<Group>, Vec<f64>) {
    let count = samples.instances.len();
    let late = late(slow, left);
    let members = samples.primaries.iter().zip(&late).map(|(sample, late)| Member {
        group: sample.instance,
        start: sample.start,
        slow: *late,
    });
    let mut instances = elevated::compare(members, count, samples.span);
    let hung = hung(samples, slow);
    let struck = struck_more_often(samples, slow, in_flight);
    for (place, instance) in instances.iter_mut().enumerate() {
        instance.is_elevated |= hung[place] || struck[place];
    }
    // If most of them are, it is not they that are special.
    let elevated = instances.iter().filter(|instance| instance.is_elevated).count();
    if elevated * 2 > count {
        for instance in &mut instances {
            instance.is_elevated = false;
        }
    }
    let attributable = attributable(&instances, samples.primaries.iter().map(|sample| sample.instance), left);
    (instances, attributable)
}

/// So many strokes an instance needs to be told from others by their number, and so many standard errors.
const STROKES: f64 = 8.0;
const ERRORS: f64 = 4.0;

/// For each instance, whether slowness strikes it more often than others, however few requests go there once it is slow.
fn struck_more_often(samples: &Samples, slow: &Slow, in_flight: &[u32]) -> Vec<bool> {
    let mut strokes = vec![0.0; samples.instances.len()];
    for burst in bursts(samples, slow, in_flight, |_| true) {
        strokes[burst.instance as usize] += 1.0;
    }
    let all: f64 = strokes.iter().sum();
    let requests = samples.primaries.len() as f64;
    let is_struck = |(own, rows): (&f64, &Vec<u32>)| {
        let rows = rows.len() as f64;
        let expected = (all - own) / (requests - rows).max(1.0) * rows;
        *own >= STROKES && *own >= OFTEN * expected && own - expected >= ERRORS * (own + expected).sqrt()
    };
    strokes.iter().zip(&samples.by_instance).map(is_struck).collect()
}

/// Requests that count, by instance, with whether they are flagged.
fn marks(samples: &Samples, flags: &[bool], counts: &impl Fn(usize) -> bool) -> Vec<Vec<Mark>> {
    let of = |rows: &Vec<u32>| {
        let rows = rows.iter().map(|row| *row as usize).filter(|row| counts(*row));
        rows.map(|row| Mark { start: samples.primaries[row].start, slow: flags[row] }).collect()
    };
    samples.by_instance.iter().map(of).collect()
}

/// Slow requests that are slow together begin within about as long as they last.
fn least_width(samples: &Samples, slow: &Slow) -> Nanoseconds {
    let mut latencies: Vec<_> = slow_rows(slow).map(|row| samples.primaries[row].latency).collect();
    if latencies.is_empty() {
        return Nanoseconds(1);
    }
    let middle = latencies.len() / 2;
    Nanoseconds(latencies.select_nth_unstable(middle).1.0 / 4 + 1)
}

/// Neighbours begin within half of what slow requests take, or as near as requests to an instance are to each other.
fn neighbourhood(samples: &Samples, least_width: Nanoseconds) -> Nanoseconds {
    let gap = samples.span.0 / (samples.primaries.len() as u64).max(1);
    let gap = gap.saturating_mul(samples.instances.len() as u64);
    Nanoseconds(gap.max(2 * least_width.0))
}

/// Mean over bursts, by slow requests, of where what their first found lies.
fn queued(bursts: &[Burst]) -> f64 {
    let all: f64 = bursts.iter().map(|burst| f64::from(burst.slow)).sum();
    let sum: f64 = bursts.iter().map(|burst| f64::from(burst.slow) * burst.found_rank).sum();
    if all > 0.0 { sum / all } else { 0.5 }
}

/// Answers that say that there is too much to do, ÷ requests: at the median instance, since a single one that fails is
/// not the service that is full.
fn busy_share(samples: &Samples) -> f64 {
    let mut shares: Vec<f64> = samples
        .by_instance
        .iter()
        .map(|rows| {
            let busy = rows.iter().filter(|row| samples.primaries[**row as usize].busy).count();
            busy as f64 / rows.len().max(1) as f64
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    shares.get((shares.len().max(1) - 1) / 2).copied().unwrap_or(0.0)
}
