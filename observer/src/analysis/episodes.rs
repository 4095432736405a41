//! When instances were slow together.

use super::{
    coincidence::Coincidence,
    composition::{Explanation, Findings},
    model::Episodes,
    samples::Samples,
    slow::Slow,
    verdict::Judgement,
};
use crate::maps::HashMap;

/// From this share of slow requests on that are slow together, it is said when.
const TOLD: f64 = 0.1;

/// Regular are at least so many gaps of which four in five are about as long as the middle one.
const GAPS: usize = 3;
const NEAR: f64 = 0.1;

/// Episodes, as first and last window: runs of the coincident windows with the most slow requests, as many as hold the
/// share that is slow together beyond chance. One window without does not end a run.
///
/// Windows with few slow requests may be coincident by chance, and are none.
pub(super) fn runs(coincidence: &Coincidence) -> Vec<(usize, usize)> {
    let slow = &coincidence.slow;
    let mut inside: Vec<u32> =
        coincidence.windows.iter().zip(slow).filter(|(is, _)| **is).map(|(_, slow)| *slow).collect();
    inside.sort_unstable_by_key(|slow| std::cmp::Reverse(*slow));
    let all: u32 = slow.iter().sum();
    let mut left = coincidence.share * f64::from(all);
    let holds = |slow: &&u32| {
        left -= f64::from(**slow);
        left <= 0.0
    };
    let least = inside.iter().find(holds).or(inside.last()).copied().unwrap_or(0).max(1);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let heavy = |window: &usize| coincidence.windows[*window] && slow[*window] >= least;
    for window in (0..slow.len()).filter(heavy) {
        match runs.last_mut() {
            Some(run) if window <= run.1 + 2 => run.1 = window,
            _ => runs.push((window, window)),
        }
    }
    runs
}

/// When instances were slow together, if they were.
pub(super) fn episodes(
    samples: &Samples,
    slow: &Slow,
    findings: &Findings,
    judgement: &Judgement,
) -> Option<Episodes> {
    let together =
        judgement.shares[Explanation::Shared as usize] + judgement.shares[Explanation::Saturated as usize];
    let coincidence =
        findings.coincidence.as_ref().filter(|found| found.is_significant() && together > TOLD)?;
    let runs = runs(coincidence);
    let width = coincidence.width.as_seconds();
    let (first, last) = (runs.first()?.0, runs.last()?.0);
    let mut lengths: Vec<f64> = runs.iter().map(|run| (run.1 - run.0 + 1) as f64 * width).collect();
    let mut gaps: Vec<f64> = runs.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64 * width).collect();
    lengths.sort_by(f64::total_cmp);
    gaps.sort_by(f64::total_cmp);
    let every = gaps.get(gaps.len() / 2).copied().filter(|_| gaps.len() >= 2);
    let regular = gaps.len() >= GAPS
        && every.is_some_and(|every| {
            let near = |gap: &&f64| (**gap - every).abs() <= (NEAR * every).max(1.5 * width);
            gaps.iter().filter(near).count() * 5 >= gaps.len() * 4
        });
    Some(Episodes {
        count: runs.len() as u64,
        first_s: first as f64 * width,
        last_s: last as f64 * width,
        length_s: lengths[lengths.len() / 2],
        every_s: every,
        regular,
        instances: struck(samples, slow, coincidence, &runs),
    })
}

/// Of the instances with requests in an episode, which share has late ones: the mean over episodes, by late requests.
fn struck(samples: &Samples, slow: &Slow, coincidence: &Coincidence, runs: &[(usize, usize)]) -> f64 {
    let mut run_of = vec![None; coincidence.windows.len()];
    for (place, (first, last)) in runs.iter().enumerate() {
        run_of[*first..=*last].fill(Some(place));
    }
    let mut late: HashMap<(usize, u32), bool> = HashMap::default();
    let mut weights = vec![0.0; runs.len()];
    for (sample, is_late) in samples.primaries.iter().zip(&slow.late) {
        let window = usize::try_from(sample.start.0 / coincidence.width.0).unwrap_or(usize::MAX);
        if let Some(run) = run_of.get(window).copied().flatten() {
            *late.entry((run, sample.instance)).or_default() |= is_late;
            weights[run] += f64::from(u8::from(*is_late));
        }
    }
    let mut counts = vec![[0.0; 2]; runs.len()];
    for ((run, _), is_late) in late {
        counts[run][0] += 1.0;
        counts[run][1] += f64::from(u8::from(is_late));
    }
    let all: f64 = weights.iter().sum();
    let share = |([present, struck], weight): ([f64; 2], f64)| struck / f64::max(present, 1.0) * weight;
    counts.into_iter().zip(weights).map(share).sum::<f64>() / all.max(1.0)
}
