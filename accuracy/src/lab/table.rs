//! What came of the lab, as text.

use std::fmt::Write as _;

use super::run::Judged;

/// A line for each cause and protocol, what was wrong, and how often.
pub(super) fn of(judged: &[Judged]) -> String {
    let mut text = format!(
        "{:<12} {:<8} {:>9} {:<22} {:<12} {:>9} {:>9} {:>19} {:>9} {:>7}  {}\n",
        "cause",
        "protocol",
        "exchanges",
        "said",
        "action",
        "p99",
        "expected",
        "interval",
        "applied",
        "copies",
        "inside",
    );
    for one in judged {
        text += &line(one);
    }
    for one in judged {
        text += &remarks(one);
    }
    let count = |is: fn(&Judged) -> bool| judged.iter().filter(|one| is(one)).count();
    let inside: Vec<_> = judged.iter().filter_map(Judged::is_inside).collect();
    let _ = writeln!(
        text,
        "harm {}, wrong {}, abstained {}, ill advised {}, {} of {} p99s inside",
        count(Judged::is_harm),
        count(Judged::is_wrong),
        count(Judged::abstained),
        count(Judged::is_ill_advised),
        inside.iter().filter(|inside| **inside).count(),
        inside.len(),
    );
    text
}

fn line(one: &Judged) -> String {
    let none = || "–".to_owned();
    let advice = &one.said.recommendation;
    let expected = one.expected();
    format!(
        "{:<12} {:<8} {:>9} {:<22} {:<12} {:>9} {:>9} {:>19} {:>9} {:>7}  {}\n",
        one.case.cause.name(),
        one.case.protocol(),
        one.said.exchanges,
        one.said.verdict.cause,
        advice.action,
        milliseconds(one.before_s),
        expected.and_then(|expected| expected.after.p99).map_or_else(none, milliseconds),
        expected
            .and_then(|expected| expected.after_ci.p99)
            .map_or_else(none, |[low, high]| { format!("{:.1} to {}", low * 1e3, milliseconds(high)) }),
        one.applied.map_or_else(none, |applied| milliseconds(applied.p99_s)),
        one.applied.map_or_else(none, |applied| format!("{:.1} %", applied.hedged * 100.0)),
        one.is_inside().map_or("–", |inside| if inside { "yes" } else { "no" }),
    )
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1e3)
}

/// What there is to be said beside the figures.
fn remarks(one: &Judged) -> String {
    let mut remarks = Vec::new();
    if one.is_harm() {
        remarks.push("harm".to_owned());
    }
    if one.is_wrong() {
        remarks.push(format!("wrong: {}", one.said.verdict.summary));
    } else if one.abstained() {
        remarks.push(format!("abstained: {}", one.said.verdict.summary));
    }
    if one.is_ill_advised() {
        remarks.push(format!("'{}' cannot be defended", one.said.recommendation.action));
    }
    if let Some((cause, action)) = &one.said_at_once {
        remarks.push(format!("the demo itself said '{cause}' and '{action}'"));
    }
    if let Some(applied) = one.applied.filter(|applied| applied.failed > 0) {
        remarks.push(format!("{} requests failed with copies", applied.failed));
    }
    if one.source != "kernel" {
        remarks.push(format!("not observed by the probes but by '{}'", one.source));
    }
    let mut text = String::new();
    for remark in remarks {
        let _ = writeln!(text, "{}: {remark}", one.case.name());
    }
    text
}
