//! What explains the slow requests.
//!
//! Causes are looked for one after the other, from what strikes a request for certain to what is only seen in many; each
//! explains a part of every slow request, and the next one only what is left of it.

use observer_common::Nanoseconds;
use rand_pcg::Pcg64;

use super::{
    attributable::attributable_to,
    bootstrap::Bootstrap,
    bursts::{Burst, bursts, chi_within},
    caller::caller,
    clusters::{Clusters, clusters},
    coincidence::{Coincidence, Mark, coincidence},
    concurrency::{Load, in_flight_at_start, load},
    costly::{behind_costly, classes},
    elevated::Group,
    neighbours::{Nearest, nearest},
    network::network,
    samples::{Samples, number},
    slow::Slow,
    whole::instances,
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
    /// The chance that the next request to the same instance is slow, given that one is.
    pub(super) chi_within: f64,
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

/// A request cannot be slow because of a queue if those at the head of its burst found no more under way than this
/// share of others.
pub(super) const QUEUED: f64 = 0.8;

/// Instances that use less of their capacity than this are not full.
pub(super) const FULL: f64 = 0.75;

/// Late requests are late together if this share of them is.
const MOSTLY: f64 = 0.5;

/// From this share of answers on that say so, instances are full.
pub(super) const BUSY: f64 = 0.01;

/// The slow requests, with what is explained of them so far.
struct Shares {
    parts: Vec<Parts>,
    left: Vec<f64>,
}

impl Shares {
    fn none(slow: &Slow) -> Self {
        let left = slow.is.iter().map(|slow| f64::from(u8::from(*slow))).collect();
        Self { parts: vec![Parts::default(); slow.is.len()], left }
    }

    /// Explains this part of what is left of a request.
    fn explain(&mut self, row: usize, by: Explanation, part: f64) {
        let part = self.left[row] * part.clamp(0.0, 1.0);
        self.parts[row][by as usize] += part;
        self.left[row] -= part;
    }
}

/// Looks for what explains the slow requests. `hosts` says for each instance which host it is on.
pub(super) fn findings(samples: &Samples, slow: &Slow, hosts: &[u32], random: &mut Pcg64) -> Findings {
    let in_flight = in_flight_at_start(samples);
    let mut shares = Shares::none(slow);
    for row in caller(samples, slow) {
        shares.explain(row, Explanation::Caller, 1.0);
    }
    let network = network(samples, slow, &shares.left);
    for (row, part) in network.slow {
        shares.explain(row, Explanation::Network, part);
    }
    let (classes, by_class) = classes(samples, slow, &shares.left);
    for row in slow.rows() {
        shares.explain(row, Explanation::Request, by_class[samples.primaries[row].class as usize]);
    }
    let behind = behind_costly(samples, &classes);
    let part = attributable_to(&behind, &shares.left);
    for row in slow.rows().filter(|row| behind[*row]) {
        shares.explain(row, Explanation::Request, part);
    }
    let (instances, by_instance) = instances(samples, slow, &shares.left, &in_flight);
    for row in slow.rows() {
        shares.explain(row, Explanation::Instance, by_instance[samples.primaries[row].instance as usize]);
    }

    // What is left is looked at together with requests that are not late, at instances that are not slow as a whole.
    let counting: Vec<bool> = (0..slow.is.len())
        .map(|row| {
            let sample = &samples.primaries[row];
            let is_costly = slow.late[row] && !slow.is[row] && classes[sample.class as usize].is_elevated;
            !instances[sample.instance as usize].is_elevated
                && (shares.left[row] >= 0.5 || !slow.is[row])
                && !is_costly
        })
        .collect();
    let counts = |row: usize| counting[row];
    let load = load(samples, slow, &in_flight);
    let bursts = bursts(samples, slow, &in_flight, counts);
    let chi_within = chi_within(samples, &slow.is, counts);
    let least_width = least_width(samples, slow);
    let marks_of_slow = marks(samples, &slow.is, &counting);
    let clusters = clusters(&marks_of_slow, hosts, samples.span, least_width);
    let coincidence = together(samples, slow, &counting, &marks_of_slow, &clusters, least_width, random);
    let within = neighbourhood(samples, slow);
    let nearest = nearest(samples, &slow.is, counts, within, &Bootstrap::new(100, random));
    let (queued, busy_share) = (queued(&bursts), busy_share(samples));
    let utilisation = load.utilisation_where(&bursts);
    let is_full = busy_share >= BUSY
        || (queued >= QUEUED && utilisation.is_some_and(|utilisation| utilisation >= FULL));
    if let Some(coincidence) = coincidence.as_ref().filter(|coincidence| coincidence.is_significant()) {
        let by =
            if queued >= QUEUED || busy_share >= BUSY { Explanation::Saturated } else { Explanation::Shared };
        // Of those in coincident windows, this part is there by more than chance.
        let part = coincidence.part_inside();
        let at_usual = |row: &usize| !instances[samples.primaries[*row].instance as usize].is_elevated;
        for row in slow.rows().filter(at_usual) {
            if coincidence.is_coincident(samples.primaries[row].start) {
                shares.explain(row, by, part);
            }
        }
    }
    for row in slow.rows() {
        let by = if is_full { Explanation::Saturated } else { Explanation::Independent };
        shares.explain(row, by, 1.0);
    }
    Findings {
        slow: slow.rows().map(|row| (number(row), shares.parts[row])).collect(),
        classes,
        instances,
        clusters,
        coincidence,
        nearest,
        chi_within,
        bursts,
        load,
        queued,
        busy_share,
        retransmitted: network.rates,
    }
}

/// Whether instances are slow together.
fn together(
    samples: &Samples,
    slow: &Slow,
    counting: &[bool],
    marks_of_slow: &[Vec<Mark>],
    clusters: &Clusters,
    least_width: Nanoseconds,
    random: &mut Pcg64,
) -> Option<Coincidence> {
    let mut of = |marks: &[Vec<Mark>]| coincidence(&clusters.merge(marks), samples.span, least_width, random);
    let of_slow = of(marks_of_slow);
    // In a long episode the slow requests are those at its end, when instances are no longer slow at the same moments.
    // That they were late together tells it.
    let differs = slow.late != slow.is;
    let of_late = differs
        .then(|| of(&marks(samples, &slow.late, counting)))
        .flatten()
        .filter(|late| late.is_significant() && late.share >= MOSTLY)
        .map(|late| {
            let starts = slow.rows().filter(|row| counting[*row]).map(|row| samples.primaries[row].start);
            late.of_others(starts)
        });
    match (of_slow, of_late) {
        (Some(slow), Some(late)) if slow.is_significant() && slow.share >= late.share => Some(slow),
        (_, Some(late)) => Some(late),
        (slow, None) => slow,
    }
}

/// Requests that count, by instance, with whether they are flagged.
fn marks(samples: &Samples, flags: &[bool], counting: &[bool]) -> Vec<Vec<Mark>> {
    let of = |rows: &Vec<u32>| {
        let rows = rows.iter().map(|row| *row as usize).filter(|row| counting[*row]);
        rows.map(|row| Mark { start: samples.primaries[row].start, slow: flags[row] }).collect()
    };
    samples.by_instance.iter().map(of).collect()
}

/// Slow requests that are slow together begin within about as long as they last.
fn least_width(samples: &Samples, slow: &Slow) -> Nanoseconds {
    let mut latencies: Vec<_> = slow.rows().map(|row| samples.primaries[row].latency).collect();
    if latencies.is_empty() {
        return Nanoseconds(1);
    }
    let middle = latencies.len() / 2;
    Nanoseconds(latencies.select_nth_unstable(middle).1.0 / 4 + 1)
}

/// Neighbours begin within half of what slow requests take, or as near as requests to an instance are to each other.
pub(super) fn neighbourhood(samples: &Samples, slow: &Slow) -> Nanoseconds {
    let least_width = least_width(samples, slow);
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
