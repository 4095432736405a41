//! The assessment of one service.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{
    advice::{Found, advise},
    composition::{Explanation, Findings, findings},
    context::Context,
    evidence::evidence,
    model::{Assessment, Episodes, Hedging, Verdict},
    phrases,
    quantiles::Survival,
    question::Question,
    repeatable::Repeatable,
    samples::{Samples, number},
    slow::Slow,
    verdict::{Judgement, judge},
};
use crate::{
    exchange::{NameId, Names},
    ledger::Row,
    maps::{HashMap, IndexMap},
};

/// Every assessment draws the same numbers: it is a function of its arguments.
const SEED: u64 = 0x0b5e_74e4;

/// Assesses a service from its latest exchanges, in whatever order they come.
///
/// Takes some tens of milliseconds for a hundred thousand of them, and memory in proportion to their number.
pub fn assess(rows: &[Row], names: &Names, context: &Context<'_>, question: &Question) -> Assessment {
    let mut random = Pcg64::seed_from_u64(SEED);
    let samples = Samples::of(rows, names);
    let survival = Survival::of(&samples.primaries);
    let slow = Slow::of(&samples.primaries, &survival, question.component_target());
    let findings = findings(&samples, &slow, &hosts(&samples, names), &mut random);
    let judgement = judge(&samples, &slow, &findings, context, &mut random);
    let repeatable = Repeatable::of(&samples, names, context, question);
    let found = Found {
        samples: &samples,
        survival: &survival,
        slow: &slow,
        findings: &findings,
        judgement: &judgement,
        context,
        question,
        repeatable: &repeatable,
    };
    let mut recommendation = advise(&found, &mut random);
    let evidence = evidence(&samples, &slow, &findings);
    let address = |instance: &u32| names.text(samples.instances[*instance as usize]).to_owned();
    let elevated = |group: usize| findings.instances[group].is_elevated;
    let verdict = Verdict {
        cause: judgement.cause,
        confidence: judgement.confidence,
        hedging_helps: phrases::helps(judgement.cause, recommendation.action),
        slow_above_s: (slow.count > 0).then(|| slow.above.as_seconds()),
        assessed: rows.len() as u64,
        slow: slow.count as u64,
        composition: judgement.composition,
        missing: phrases::missing(&judgement, &samples),
        episodes: episodes(&findings, &judgement),
        elevated: (0..samples.instances.len())
            .filter(|instance| elevated(*instance))
            .map(|instance| names.text(samples.instances[instance]).to_owned())
            .collect(),
        slow_classes: (0..samples.classes.len())
            .filter(|class| findings.classes[*class].is_elevated)
            .map(|class| samples.classes.text(class, names))
            .collect(),
        clusters: findings
            .clusters
            .groups()
            .iter()
            .map(|group| group.iter().map(address).collect())
            .collect(),
        summary: String::new(),
        evidence,
    };
    let summary = phrases::summary(&verdict);
    phrases::after_episodes(&mut recommendation, &verdict);
    Assessment { verdict: Verdict { summary, ..verdict }, recommendation, hedging: hedging(&samples, rows) }
}

/// For each instance, which host it is on: the address without its port.
fn hosts(samples: &Samples, names: &Names) -> Vec<u32> {
    let mut known: IndexMap<&str, u32> = IndexMap::default();
    let mut host = |instance: &NameId| {
        let address = names.text(*instance);
        let name = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let next = number(known.len());
        *known.entry(name).or_insert(next)
    };
    samples.instances.iter().map(&mut host).collect()
}

/// When instances were slow together.
fn episodes(findings: &Findings, judgement: &Judgement) -> Option<Episodes> {
    let together =
        judgement.shares[Explanation::Shared as usize] + judgement.shares[Explanation::Saturated as usize];
    let coincidence =
        findings.coincidence.as_ref().filter(|found| found.is_significant() && together > 0.1)?;
    // Runs of coincident windows; one window without slowness does not end a run.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (window, _) in coincidence.windows.iter().enumerate().filter(|(_, is)| **is) {
        match runs.last_mut() {
            Some(run) if window <= run.1 + 2 => run.1 = window,
            _ => runs.push((window, window)),
        }
    }
    let width = coincidence.width.as_seconds();
    let (first, last) = (runs.first()?.0, runs.last()?.0);
    let mut lengths: Vec<f64> = runs.iter().map(|run| (run.1 - run.0 + 1) as f64 * width).collect();
    let mut gaps: Vec<f64> = runs.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64 * width).collect();
    lengths.sort_by(f64::total_cmp);
    gaps.sort_by(f64::total_cmp);
    let every = gaps.get(gaps.len() / 2).copied();
    let regular = gaps.len() >= 3
        && every.is_some_and(|every| {
            let near =
                gaps.iter().filter(|gap| (**gap - every).abs() <= (0.1 * every).max(1.5 * width)).count();
            near * 5 >= gaps.len() * 4
        });
    Some(Episodes {
        count: runs.len() as u64,
        first_s: first as f64 * width,
        last_s: last as f64 * width,
        length_s: lengths[lengths.len() / 2],
        every_s: every,
        regular,
        instances: coincidence.breadth,
    })
}

/// Copies that a log tells apart.
fn hedging(samples: &Samples, rows: &[Row]) -> Option<Hedging> {
    let copies = samples.copies.len();
    (copies > 0).then(|| Hedging {
        observed: true,
        rate: copies as f64 / samples.primaries.len().max(1) as f64,
        wins: wins(rows) as f64 / copies as f64,
    })
}

/// How many copies are answered before their request's first copy is, if that is known; a first copy that was given up
/// has lost.
fn wins(rows: &[Row]) -> usize {
    let end = |row: &Row| row.start().0.saturating_add(row.experienced().0);
    let is_copy = |row: &&Row| row.attempt().is_some_and(|attempt| attempt > 0);
    let answered = |row: &&Row| !row.is_censored();
    let firsts: HashMap<u64, u64> = rows
        .iter()
        .filter(|row| answered(row) && !is_copy(row))
        .filter_map(|row| Some((row.request()?, end(row))))
        .collect();
    rows.iter()
        .filter(|row| answered(row) && is_copy(row))
        .filter(|row| {
            let first = row.request().and_then(|request| firsts.get(&request));
            first.is_none_or(|first| end(row) < *first)
        })
        .count()
}
