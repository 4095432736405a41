//! Scores as text.

use std::{cmp::Reverse, fmt::Write as _};

use observer::analysis::model::Cause;

use crate::{
    case::{Family, Half},
    score::{Harm, Named, Score},
    summary::{Spread, Summary},
};

/// A name as a report writes it.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => "?".to_owned(),
    }
}

/// A part in hundredths.
pub(crate) fn percent(part: Option<f64>) -> String {
    part.map_or_else(|| "–".to_owned(), |part| format!("{:.1} %", part * 100.0))
}

fn spread(spread: Spread) -> String {
    format!("median {}, p90 {}", percent(spread.median), percent(spread.p90))
}

/// All figures of some scores.
pub fn in_short(scores: &[Score]) -> String {
    let mut text = String::new();
    for (title, half) in [("tuning", Some(Half::Tuning)), ("held out", Some(Half::HeldOut)), ("all", None)] {
        let some: Vec<_> =
            scores.iter().filter(|score| half.is_none_or(|half| score.case.family.half == half)).collect();
        if !some.is_empty() {
            text += &of_summary(title, &Summary::of(&some));
        }
    }
    text += &confusion(&Summary::of(&scores.iter().collect::<Vec<_>>()));
    text
}

fn of_summary(title: &str, summary: &Summary) -> String {
    let mut text = String::new();
    let cases = summary.cases;
    let of_cases = |count: usize| percent(Some(count as f64 / cases.max(1) as f64));
    let mut line = |what: &str, value: String| {
        let _ = writeln!(text, "  {what:<52} {value}");
    };
    line(&format!("{title}: cases"), cases.to_string());
    for (what, named) in [
        ("cause right", Named::Right),
        ("cause defensible", Named::Defensible),
        ("cause wrong", Named::Wrong),
        ("abstained", Named::Abstained),
    ] {
        let count = summary.named(named);
        line(what, format!("{count:>5}  {}", of_cases(count)));
    }
    line("advice right", format!("{:>5}  {}", summary.advice_right, of_cases(summary.advice_right)));
    line(
        "harm (of that measured as a worse p99)",
        format!("{:>5}  ({})", summary.advice.harm, summary.advice.measured),
    );
    line(
        "  by the rule of libraries",
        format!("{:>5}  ({})", summary.library.harm, summary.library.measured),
    );
    line(
        "gains of 20 % or more, and rightful ones",
        format!("{:>5}  {}", summary.gains, summary.rightful_gains),
    );
    line(
        "rightful ones missed",
        format!("{:>5}  {}", summary.advice.missed, of_cases(summary.advice.missed)),
    );
    line("  by never hedging", format!("{:>5}", summary.rightful_gains));
    line(
        "made by `hedge`, and by the rule of libraries",
        format!("{:>5}  {}", summary.advice.made, summary.library.made),
    );
    line("regret of `hedge`", spread(summary.regret));
    line("error of the expected p99, in each new run", spread(summary.error));
    line("p99 of a new run inside its interval", percent(summary.coverage));
    line("error of the expected extra load, in each new run", spread(summary.error_of_load));
    let actions: Vec<_> =
        summary.actions.iter().map(|(action, count)| format!("{} {count}", word(action))).collect();
    line("actions", actions.join(", "));
    let milliseconds = |seconds: Option<f64>| seconds.map_or(0.0, |seconds| seconds * 1e3);
    line(
        "an assessment took",
        format!(
            "median {:.0} ms, p90 {:.0} ms",
            milliseconds(summary.took.median),
            milliseconds(summary.took.p90)
        ),
    );
    text
}

/// Which cause was named where which is right.
pub(crate) fn confusion(summary: &Summary) -> String {
    let mut said: Vec<Cause> = summary.confusion.keys().map(|(_, said)| *said).collect();
    said.sort_unstable();
    said.dedup();
    let mut right: Vec<Cause> = summary.confusion.keys().map(|(right, _)| *right).collect();
    right.dedup();
    let mut text = format!("\n{:<24}", "right \\ named");
    for cause in &said {
        let _ = write!(text, " {:>12.12}", word(cause));
    }
    text.push('\n');
    for right in right {
        let _ = write!(text, "{:<24}", word(&right));
        for said in &said {
            let count = summary.confusion.get(&(right, *said)).copied().unwrap_or_default();
            let shown = if count == 0 { "·".to_owned() } else { count.to_string() };
            let _ = write!(text, " {shown:>12}");
        }
        text.push('\n');
    }
    text
}

/// A line for each family.
pub fn by_family(scores: &[Score], families: &[Family]) -> String {
    let mut text = format!(
        "{:<32} {:>5} {:>6} {:>6} {:>6} {:>7} {:>6} {:>6} {:>6} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6}  {}\n",
        "family",
        "cases",
        "redraw",
        "rows",
        "p99/50",
        "best",
        "gain%",
        "rule",
        "advice",
        "right",
        "dfns",
        "wrong",
        "abst",
        "harm",
        "missed",
        "named",
    );
    for family in families {
        let own: Vec<_> = scores.iter().filter(|score| score.case.family.name == family.name).collect();
        if !own.is_empty() {
            text += &of_family(family, &own);
        }
    }
    text
}

fn of_family(family: &Family, scores: &[&Score]) -> String {
    let median = |value: &dyn Fn(&Score) -> Option<f64>| {
        Spread::of(scores.iter().filter_map(|score| value(score))).median.unwrap_or(f64::NAN)
    };
    let count = |is: &dyn Fn(&Score) -> bool| scores.iter().filter(|score| is(score)).count();
    let named = |named: Named| count(&|score| score.named() == named);
    let summary = Summary::of(scores);
    let mut said: Vec<_> = summary.confusion.iter().map(|((_, said), count)| (*count, word(said))).collect();
    said.sort_by_key(|(count, _)| Reverse(*count));
    let said: Vec<_> = said.into_iter().map(|(count, word)| format!("{word} {count}")).collect();
    format!(
        "{:<32} {:>5} {:>6.1} {:>6.0} {:>6.1} {:>7.2} {:>6.0} {:>6.2} {:>6.2} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6}  {}\n",
        family.name,
        scores.len(),
        median(&|score| Some(f64::from(score.case.rejected))),
        median(&|score| Some(score.exchanges as f64)),
        median(&|score| Some(score.spread)),
        median(&|score| Some(score.truth.best.ratio)),
        100.0 * summary.gains as f64 / scores.len() as f64,
        median(&|score| Some(score.truth.library.ratio)),
        median(&|score| Some(score.applied?.ratio)),
        named(Named::Right),
        named(Named::Defensible),
        named(Named::Wrong),
        named(Named::Abstained),
        summary.advice.harm,
        summary.advice.missed,
        said.join(", "),
    )
}

/// The cases that went wrong, so that each can be run again.
pub fn by_case(scores: &[Score]) -> String {
    let mut text = String::new();
    for score in scores {
        let mut wrong = Vec::new();
        match score.harm() {
            Harm::None => {}
            Harm::Forbidden => wrong.push("harm (forbidden)"),
            Harm::Measured => wrong.push("harm (measured)"),
        }
        if score.is_missed() {
            wrong.push("missed gain");
        }
        match score.named() {
            Named::Wrong => wrong.push("wrong cause"),
            Named::Abstained => wrong.push("abstained"),
            Named::Right | Named::Defensible => {}
        }
        if !wrong.is_empty() {
            let _ = writeln!(
                text,
                "{:<36} {:<36} {} → {}, best {:.2}, advised {:.2}",
                score.case.to_string(),
                wrong.join(", "),
                word(&score.cause()),
                word(&score.action()),
                score.truth.best.ratio,
                score.applied.map_or(f64::NAN, |applied| applied.ratio),
            );
        }
    }
    text
}
