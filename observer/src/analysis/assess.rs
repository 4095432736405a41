//! The assessment of one service.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{
    advice::{Found, advise},
    composition::findings,
    context::Context,
    episodes::episodes,
    evidence::evidence,
    hedging::copies,
    model::{Assessment, Cause, Objection, Verdict},
    phrases,
    quantiles::Survival,
    question::Question,
    repeatable::Repeatable,
    samples::{Samples, number},
    slow::Slow,
    verdict::judge,
};
use crate::{
    exchange::{NameId, Names},
    ledger::Row,
    maps::IndexMap,
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
    let judgement = judge(&samples, &slow, &findings, context, question.component_target(), &mut random);
    let repeatable = Repeatable::of(&samples, names, context, question);
    let copies = copies(&samples, rows);
    let found = Found {
        samples: &samples,
        survival: &survival,
        slow: &slow,
        findings: &findings,
        judgement: &judgement,
        context,
        question,
        repeatable: &repeatable,
        copies,
    };
    let mut recommendation = advise(&found, &mut random);
    // Copies that lose are as slow as what they are copies of: it was not chance, whatever it looked like.
    let is_refuted = recommendation.objection == Some(Objection::CopiesLose);
    let cause = if is_refuted { Cause::IndependentOrRequest } else { judgement.cause };
    let confidence = if is_refuted { judgement.confidence / 2.0 } else { judgement.confidence };
    let evidence = evidence(&samples, &slow, &findings, judgement.strokes);
    let address = |instance: &u32| names.text(samples.instances[*instance as usize]).to_owned();
    let elevated = |group: usize| findings.instances[group].is_elevated;
    let verdict = Verdict {
        cause,
        confidence,
        hedging_helps: phrases::helps(cause, &recommendation),
        slow_above_s: (slow.count > 0).then(|| slow.above.as_seconds()),
        assessed: samples.primaries.len() as u64,
        slow: slow.count as u64,
        composition: judgement.composition,
        missing: phrases::missing(&judgement, &samples),
        episodes: episodes(&samples, &slow, &findings, &judgement),
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
    Assessment {
        verdict: Verdict { summary, ..verdict },
        recommendation,
        hedging: copies.map(|copies| copies.hedging),
    }
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
