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

/// The same for the part that the round-trip time is longer than usual.
const ROUND_TRIP: f64 = 0.4;

/// A request cannot be slow because of a queue if those at the head of its burst found no more under way than this
/// share of others.
pub(super) const QUEUED: f64 = 0.8;

/// Instances that use less of their capacity than this are not full.
pub(super) const FULL: f64 = 0.75;

/// From this share of answers on that say so, instances are full.
const BUSY: f64 = 0.01;

/// Looks for what explains the slow requests. `hosts` says for each instance which host it is on.
pub(super) fn findings(samples: &Samples, slow: &Slow, hosts: &[u32], random: &mut Pcg64) -> Findings {
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
    let classes = classes(samples, &left);
    for row in slow_rows(slow) {
        let class = &classes[samples.primaries[row].class as usize];
        explain(row, Explanation::Request, class.attributable, &mut left);
    }
    let (instances, by_instance) = instances(samples, slow, &left);
    for row in slow_rows(slow) {
        let instance = samples.primaries[row].instance as usize;
        explain(row, Explanation::Instance, by_instance[instance], &mut left);
    }

    // What is left is looked at together with requests that are not slow, at instances that are not slow as a whole.
    let counts = |row: usize| {
        !instances[samples.primaries[row].instance as usize].is_elevated
            && (left[row] >= 0.5 || !slow.is[row])
    };
    let in_flight = in_flight_at_start(samples);
    let load = load(samples, slow, &in_flight);
    let bursts = bursts(samples, slow, &in_flight, counts);
    let burstiness = burstiness(samples, &slow.is, |row| counts(row));
    let marks: Vec<Vec<Mark>> = samples
        .by_instance
        .iter()
        .map(|rows| {
            let rows = rows.iter().map(|row| *row as usize).filter(|row| counts(*row));
            rows.map(|row| Mark { start: samples.primaries[row].start, slow: slow.is[row] }).collect()
        })
        .collect();
    let least_width = least_width(samples, slow);
    let clusters = clusters(&marks, hosts, samples.span, least_width);
    let coincidence = coincidence(&clusters.merge(&marks), samples.span, least_width, random);
    let nearest =
        nearest(samples, &slow.is, counts, neighbourhood(samples, least_width), &Bootstrap::new(100, random));
    let queued = queued(&bursts);
    let busy_share = busy_share(samples);
    let is_full = busy_share >= BUSY
        || (queued >= QUEUED && load.utilisation().is_some_and(|utilisation| utilisation >= FULL));
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
    let attributable = match rates {
        Some((with, without)) if again[1] >= 5.0 && with > 3.0 * without => 1.0 - without / with,
        _ => 0.0,
    };
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

fn classes(samples: &Samples, left: &[f64]) -> Vec<Group> {
    let count = samples.classes.len() + 1;
    if count < 2 {
        return vec![Group::default(); count];
    }
    let members = samples.primaries.iter().zip(left).map(|(sample, left)| Member {
        group: sample.class,
        start: sample.start,
        slow: *left,
    });
    let mut classes = elevated::compare(members, count, samples.span);
    for (place, class) in classes.iter_mut().enumerate().filter(|(_, class)| class.is_elevated) {
        let own = class.slow / class.requests;
        // Class by class: a table of all classes at all instances could be very large.
        let mut cells: Vec<[f64; 2]> = vec![[0.0; 2]; samples.instances.len()];
        let of_class =
            samples.primaries.iter().zip(left).filter(|(sample, _)| sample.class as usize == place);
        for (sample, left) in of_class {
            cells[sample.instance as usize][0] += 1.0;
            cells[sample.instance as usize][1] += left;
        }
        // Where at least three slow ones are expected, half of them are there.
        let expected = cells.iter().filter(|cell| cell[0] * own >= 3.0);
        let (enough, elevated) = expected.fold((0.0, 0.0), |(enough, elevated), cell| {
            (enough + 1.0, elevated + f64::from(u8::from(cell[1] >= 0.5 * cell[0] * own)))
        });
        if elevated < EVERYWHERE * enough {
            *class = Group { is_elevated: false, attributable: 0.0, ..*class };
        }
    }
    classes
}

/// Instances that are late as a whole, and which part of the slow requests of each that explains.
fn instances(samples: &Samples, slow: &Slow, left: &[f64]) -> (Vec<Group>, Vec<f64>) {
    let count = samples.instances.len();
    // What is explained already is not late because of the instance.
    let late = |row: usize| f64::from(u8::from(slow.late[row])) * if slow.is[row] { left[row] } else { 1.0 };
    let members = samples.primaries.iter().enumerate().map(|(row, sample)| Member {
        group: sample.instance,
        start: sample.start,
        slow: late(row),
    });
    let mut instances = elevated::compare(members, count, samples.span);
    for (place, is_hung) in hung(samples, slow).into_iter().enumerate() {
        instances[place].is_elevated |= is_hung;
    }
    // If most of them are, it is not they that are special.
    let elevated = instances.iter().filter(|instance| instance.is_elevated).count();
    if elevated * 2 > count {
        for instance in &mut instances {
            instance.is_elevated = false;
        }
    }
    let mut counts = vec![[0.0; 2]; count];
    for (sample, left) in samples.primaries.iter().zip(left) {
        counts[sample.instance as usize][0] += 1.0;
        counts[sample.instance as usize][1] += left;
    }
    let mut usual = [1.0, 0.5];
    for (counts, _) in counts.iter().zip(&instances).filter(|(_, instance)| !instance.is_elevated) {
        usual[0] += counts[0];
        usual[1] += counts[1];
    }
    let attributable = counts
        .iter()
        .zip(&instances)
        .map(|(counts, instance)| {
            let own = counts[1] / f64::max(counts[0], 1.0);
            if instance.is_elevated && own > 0.0 { (1.0 - usual[1] / usual[0] / own).max(0.0) } else { 0.0 }
        })
        .collect();
    (instances, attributable)
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
