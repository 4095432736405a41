//! From what explains slow requests to a cause.

use observer_common::Nanoseconds;
use rand_pcg::Pcg64;

use super::{
    bootstrap::{BLOCKS, Bootstrap, interval},
    composition::{Explanation, FULL, Findings},
    context::Context,
    episodes::runs,
    model::{Cause, Composition, Portion},
    rounding::count,
    samples::Samples,
    slow::Slow,
};

/// The target quantile is at least so many times the median where there is a tail to explain.
pub(super) const TAIL: f64 = 3.0;

/// So many requests, slow ones and separate strokes of slowness are needed to say anything of chance.
pub(super) const REQUESTS: usize = 300;
pub(super) const SLOW: usize = 20;
pub(super) const STROKES: usize = 3;

/// So many requests lie beyond the target quantile at least: three where 300 are enough for p99.
const BEYOND: f64 = 2.99;

/// A cause explains at least this share of slow requests.
pub(super) const HALF: f64 = 0.5;

/// Slow requests that come one after another this much more often than by chance are pauses, not costly requests.
pub(super) const PAUSES: f64 = 0.25;

/// So many times as long as without waiting, requests take at the median where everything queues.
const QUEUEING: f64 = 3.0;
const QUEUEING_FOR_CERTAIN: f64 = 5.0;

/// So many strokes are needed to be as sure as the figures say.
const SURE: f64 = 10.0;

/// Nothing is surer.
const CERTAIN: f64 = 0.99;

/// A cause, and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) cause: Cause,
    pub(super) confidence: f64,
    pub(super) shares: [f64; Explanation::ALL.len()],
    pub(super) composition: Composition,
    /// What is missing, where something is.
    pub(super) missing: Option<Missing>,
    /// Separate strokes of slowness at single instances.
    pub(super) strokes: usize,
    /// Whether slowness by chance can be told from costly requests: something tells requests apart, or they are late one
    /// after another, and not because one holds up others.
    pub(super) is_chance_told: bool,
    /// Whether slow requests come one after another, and not because one holds up others.
    pub(super) are_pauses: bool,
}

/// What a verdict lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Missing {
    /// More requests.
    Requests { have: usize, need: usize },
    /// More slow requests.
    Slow { have: usize, need: usize },
    /// More separate strokes of slowness.
    Strokes { have: usize, need: usize },
    /// Answers: too many requests have none, or failures only.
    Answers,
    /// A second instance.
    Instances,
    /// Instances that can be told apart.
    Sight,
}

impl Missing {
    /// Whether it comes with time.
    pub(super) const fn takes_time(self) -> bool {
        matches!(self, Self::Requests { .. } | Self::Slow { .. } | Self::Strokes { .. })
    }
}

/// Whether requests wait for each other all the time, so that even the median is no measure of what is normal.
pub(super) fn queues_throughout(findings: &Findings, slow: &Slow) -> bool {
    let load = &findings.load;
    let times = slow.median.as_seconds() / load.unloaded.max(1e-9);
    let is_full = load.utilisation().is_some_and(|utilisation| utilisation >= FULL);
    (times >= QUEUEING && load.correlation >= 0.5 && is_full)
        || (times >= QUEUEING_FOR_CERTAIN && load.correlation >= 0.8)
}

/// Judges.
pub(super) fn judge(
    samples: &Samples,
    slow: &Slow,
    findings: &Findings,
    context: &Context<'_>,
    target: f64,
    random: &mut Pcg64,
) -> Judgement {
    let Composed { shares, composition, agreeing, none_agrees } = compose(samples, findings, random);
    let strokes = strokes(slow, samples, findings);
    // Where instances serve one request at a time, a costly one holds up others, which looks like a pause.
    let are_pauses = pauses(slow, samples, findings) >= PAUSES && findings.load.one_at_a_time == Some(false);
    let is_chance_told = samples.classes.tell_requests_apart() || are_pauses;
    let judgement = |cause, confidence: f64, missing| Judgement {
        cause,
        confidence: (confidence * context.seen).min(CERTAIN),
        shares,
        composition,
        missing,
        strokes,
        is_chance_told,
        are_pauses,
    };
    let requests = samples.primaries.len();
    if requests < REQUESTS {
        return judgement(
            Cause::Insufficient,
            0.0,
            Some(Missing::Requests { have: requests, need: REQUESTS }),
        );
    }
    let is_success = |sample: &super::samples::Sample| sample.answered && !sample.failed;
    let none_succeeds = !samples.primaries.iter().any(is_success);
    if queues_throughout(findings, slow) || (none_succeeds && findings.busy_share >= 0.5) {
        return judgement(Cause::Saturated, findings.load.correlation.max(findings.busy_share), None);
    }
    // Where not even half of the requests have an answer, what is normal is not known.
    if none_succeeds || slow.has_no_median {
        return judgement(Cause::Insufficient, 0.0, Some(Missing::Answers));
    }
    if slow.tail_ratio() < TAIL {
        return judgement(Cause::NoTail, (TAIL / slow.tail_ratio().max(1.0) - 1.0).min(0.5) + 0.5, None);
    }
    // A quantile beyond which hardly a request lies is not known.
    let beyond = requests as f64 * (1.0 - target);
    if beyond < BEYOND {
        let need = count(BEYOND / (1.0 - target)) + 1;
        return judgement(Cause::Insufficient, 0.0, Some(Missing::Requests { have: requests, need }));
    }
    let top = (0..shares.len()).max_by(|one, other| shares[*one].total_cmp(&shares[*other])).unwrap_or(0);
    // Where an instance is slow as a whole, it is so in many blocks of time.
    let of_instance = blocks_with(Explanation::Instance, samples, findings);
    let episodes = findings.coincidence.as_ref().map_or(0.0, |coincidence| runs(coincidence).len() as f64);
    let seen = f64::from(u32::try_from(strokes).unwrap_or(u32::MAX)).max(episodes);
    let by_strokes =
        [Explanation::Instance, Explanation::Shared, Explanation::Saturated, Explanation::Independent];
    let seen = if Explanation::ALL[top] == Explanation::Instance { of_instance } else { seen };
    let strokes_tell = if by_strokes.contains(&Explanation::ALL[top]) {
        f64::midpoint(1.0, (seen / SURE).min(1.0))
    } else {
        1.0
    };
    let evidence = (slow.count as f64 / (2 * SLOW) as f64).min(1.0) * strokes_tell;
    let confidence = agreeing[top] * evidence;
    let enough_slow = slow.count >= SLOW;
    let explanation = Explanation::ALL[top];
    // Only what a request suffers by itself can be told where several instances look like one.
    let is_told_by_itself =
        matches!(explanation, Explanation::Caller | Explanation::Network | Explanation::Request);
    if context.virtual_address && !(is_told_by_itself && shares[top] >= HALF) {
        return judgement(Cause::Insufficient, 0.0, Some(Missing::Sight));
    }
    if shares[top] < HALF {
        return if enough_slow {
            judgement(Cause::Mixed, evidence * none_agrees, None)
        } else {
            judgement(Cause::Insufficient, 0.0, Some(Missing::Slow { have: slow.count, need: SLOW }))
        };
    }
    if !enough_slow {
        return judgement(Cause::Insufficient, 0.0, Some(Missing::Slow { have: slow.count, need: SLOW }));
    }
    let cause = match explanation {
        Explanation::Caller => Cause::Caller,
        Explanation::Network => Cause::Network,
        Explanation::Request => Cause::Request,
        Explanation::Instance => Cause::Instance,
        Explanation::Shared => Cause::Shared,
        Explanation::Saturated => Cause::Saturated,
        Explanation::Independent => {
            if samples.instances.len() < 2 {
                return judgement(Cause::Insufficient, 0.0, Some(Missing::Instances));
            }
            if strokes < STROKES {
                return judgement(
                    Cause::Insufficient,
                    0.0,
                    Some(Missing::Strokes { have: strokes, need: STROKES }),
                );
            }
            if is_chance_told { Cause::Independent } else { Cause::IndependentOrRequest }
        }
    };
    judgement(cause, confidence, None)
}

/// In how many blocks of time there are slow requests of which an explanation explains most.
fn blocks_with(explanation: Explanation, samples: &Samples, findings: &Findings) -> f64 {
    let block = samples.span.0 / BLOCKS as u64 + 1;
    let mut is_in = [false; BLOCKS];
    for (row, _) in findings.slow.iter().filter(|(_, parts)| parts[explanation as usize] > HALF) {
        let place = usize::try_from(samples.primaries[*row as usize].start.0 / block).unwrap_or(0);
        is_in[place.min(BLOCKS - 1)] = true;
    }
    is_in.iter().filter(|is_in| **is_in).count() as f64
}

/// Separate strokes of slowness: bursts, or where requests are slow one by one and only overlap, as many as they are.
///
/// Bursts count by how many slow requests they have,  (Σ s)² ÷ Σ s²  (inverse Simpson index): one long stop and two slow
/// requests beside it are one stroke and not three.
fn strokes(slow: &Slow, samples: &Samples, findings: &Findings) -> usize {
    let slow_in = findings.bursts.iter().map(|burst| f64::from(burst.slow));
    let (sum, squares) = slow_in.fold((0.0, 0.0), |(sum, squares), slow| (sum + slow, squares + slow * slow));
    let bursts = if squares > 0.0 { sum * sum / squares } else { 0.0 };
    let pauses = pauses(slow, samples, findings);
    let one_by_one = if pauses < PAUSES { sum * (1.0 - pauses).powi(2) } else { 0.0 };
    count(bursts.max(one_by_one).round())
}

/// By how much slow requests follow each other at an instance beyond chance: `(χ_within − p) ÷ (1 − p)`.
pub(super) fn pauses(slow: &Slow, samples: &Samples, findings: &Findings) -> f64 {
    let p = slow.count as f64 / samples.primaries.len().max(1) as f64;
    ((findings.chi_within - p) / (1.0 - p)).max(0.0)
}

/// What the slow requests consist of.
struct Composed {
    /// The share that each explanation explains.
    shares: [f64; Explanation::ALL.len()],
    composition: Composition,
    /// How often each has half of the slow requests if they are drawn again, and how often none has.
    agreeing: [f64; Explanation::ALL.len()],
    none_agrees: f64,
}

/// Adds up what explains single requests.
fn compose(samples: &Samples, findings: &Findings, random: &mut Pcg64) -> Composed {
    let block = samples.span.0 / BLOCKS as u64 + 1;
    let mut sums = [[0.0; Explanation::ALL.len()]; BLOCKS];
    for (row, parts) in &findings.slow {
        let Nanoseconds(start) = samples.primaries[*row as usize].start;
        let place = usize::try_from(start / block).unwrap_or(BLOCKS - 1).min(BLOCKS - 1);
        for (sum, part) in sums[place].iter_mut().zip(parts) {
            *sum += part;
        }
    }
    let bootstrap = Bootstrap::new(200, random);
    let share = |explanation: usize, times: &[u8; BLOCKS]| {
        let (mut part, mut all) = (0.0, 0.0);
        for (sums, times) in sums.iter().zip(times) {
            part += f64::from(*times) * sums[explanation];
            all += f64::from(*times) * sums.iter().sum::<f64>();
        }
        (all > 0.0).then(|| part / all)
    };
    // A draw without any slow request says nothing.
    let drawn: Vec<[f64; Explanation::ALL.len()]> = bootstrap
        .draws()
        .iter()
        .filter_map(|times| {
            share(0, times)?;
            Some(std::array::from_fn(|place| share(place, times).unwrap_or(0.0)))
        })
        .collect();
    let often = |holds: &dyn Fn(&[f64; Explanation::ALL.len()]) -> bool| {
        drawn.iter().filter(|shares| holds(shares)).count() as f64 / drawn.len().max(1) as f64
    };
    let shares: [f64; Explanation::ALL.len()] =
        std::array::from_fn(|place| share(place, &[1; BLOCKS]).unwrap_or(0.0));
    let agreeing = std::array::from_fn(|place| often(&|shares| shares[place] >= HALF));
    let none_agrees = often(&|shares| shares.iter().all(|share| *share < HALF));
    let portions: [Portion; Explanation::ALL.len()] = std::array::from_fn(|place| {
        let mut figures: Vec<f64> = drawn.iter().map(|shares| shares[place]).collect();
        figures.sort_by(f64::total_cmp);
        let ci = if figures.is_empty() { [0.0; 2] } else { interval(&figures) };
        Portion { share: shares[place], ci }
    });
    let of = |explanation: Explanation| portions[explanation as usize];
    let composition = Composition {
        independent: of(Explanation::Independent),
        instance: of(Explanation::Instance),
        shared: of(Explanation::Shared),
        saturated: of(Explanation::Saturated),
        caller: of(Explanation::Caller),
        network: of(Explanation::Network),
        request: of(Explanation::Request),
    };
    Composed { shares, composition, agreeing, none_agrees }
}
