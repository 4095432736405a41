//! Everything about one case.

use std::fmt::Write as _;

use crate::{score::Score, table::word};

/// What was drawn, what is true of it, and what was said with which evidence.
pub fn in_full(score: &Score) -> String {
    let mut text = String::new();
    let case = &score.case;
    let (family, traffic) = (&case.family, &case.traffic);
    let (verdict, advice) = (&score.assessment.verdict, &score.assessment.recommendation);
    let mut line = |what: &str, value: String| {
        let _ = writeln!(text, "{what:<20} {value}");
    };
    line("case", format!("{case}, {} exchanges", score.exchanges));
    line("system", format!("{:?}", traffic.system));
    line("load", format!("{:?}", traffic.system.utilisation()));
    line("conditions", format!("{:?}", traffic.conditions));
    line("policy", format!("{:?}", traffic.policy));
    line("right causes", words(family.causes));
    line("right actions", format!("{}; copies: {:?}", words(family.actions), family.hedging));
    let truth = &score.truth;
    line("p99 without", format!("{:.6} s", truth.without_s()));
    line("best of the grid", format!("{:?}, after {:?} s", truth.best, truth.best_delay_s));
    line("rule of libraries", format!("{:?}", truth.library));
    line("what was advised", format!("{:?}", score.applied));
    line(
        "judged",
        format!(
            "{:?}, harm {:?}, missed {}, regret {:?}, errors {:?}",
            score.named(),
            score.harm(),
            score.is_missed(),
            score.regret(),
            score.predictions(),
        ),
    );
    line("cause", format!("{} ({:.2})", word(&verdict.cause), verdict.confidence));
    line("summary", verdict.summary.clone());
    line("missing", format!("{:?}", verdict.missing));
    line("slow", format!("{} of {}, above {:?} s", verdict.slow, verdict.assessed, verdict.slow_above_s));
    line("composition", format!("{:?}", verdict.composition));
    line("episodes", format!("{:?}", verdict.episodes));
    line("elevated", format!("{:?}, {:?}", verdict.elevated, verdict.slow_classes));
    line("clusters", format!("{:?}", verdict.clusters));
    for evidence in &verdict.evidence {
        line(
            evidence.name,
            format!("{:.4} {:?} {:?} {}", evidence.value, evidence.ci, evidence.threshold, evidence.meaning),
        );
    }
    line(
        "advice",
        format!(
            "{} after {:?} s, budget {:?}, probability {:?}",
            word(&advice.action),
            advice.delay_s,
            advice.budget_fraction,
            advice.hedge_probability,
        ),
    );
    line("expected", format!("{:?}", advice.expected));
    for said in advice.conditions.iter().chain(&advice.warnings).chain(&advice.instead) {
        line("", said.clone());
    }
    text
}

fn words(values: &[impl serde::Serialize]) -> String {
    values.iter().map(word).collect::<Vec<_>>().join(", ")
}
