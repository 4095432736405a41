//! The page of the documentation that says how accurate all this is.

use std::fmt::Write as _;

use observer::analysis::model::Cause;

use crate::{
    adaptive::Adaptive,
    case::{Family, Half},
    score::{Harm, Named, Score},
    summary::{Spread, Summary},
    table::{confusion, percent, word},
};

/// How to read the page.
const HEAD: &str = include_str!("page/head.md");

/// What the page of the lab begins with.
const LAB: &str = include_str!("page/lab.md");

/// What the figures do not say.
const LIMITS: &str = include_str!("page/limits.md");

/// One line of the table of figures: what it is, its goal, and its value.
type Figure = (&'static str, &'static str, fn(&Summary) -> String);

const FIGURES: &[Figure] = &[
    ("cause right, or one that can be defended", "≥ 95 %", |summary| {
        of(summary.named(Named::Right) + summary.named(Named::Defensible), summary)
    }),
    ("cause wrong", "≤ 2 %", |summary| of(summary.named(Named::Wrong), summary)),
    ("abstained although the evidence is there", "≤ 5 %", |summary| {
        of(summary.named(Named::Abstained), summary)
    }),
    ("advice right, or one that can be defended", "", |summary| of(summary.advice_right, summary)),
    ("harm: copies that the cause forbids or that make the p99 worse", "0", |summary| {
        summary.advice.harm.to_string()
    }),
    ("— by the rule of libraries", "", |summary| summary.library.harm.to_string()),
    ("p99 worse by 5 % or more", "0", |summary| summary.advice.measured.to_string()),
    ("— by the rule of libraries", "", |summary| summary.library.measured.to_string()),
    ("gains of 20 % or more that nothing speaks against", "", |summary| summary.rightful_gains.to_string()),
    ("missed of them", "≤ 3 % of cases", |summary| summary.advice.missed.to_string()),
    ("— by never hedging", "", |summary| summary.rightful_gains.to_string()),
    ("regret of `hedge`: median, 90th percentile", "≤ 3 %, ≤ 10 %", |summary| both(summary.regret)),
    ("error of the expected p99, in each new run: median, 90th percentile", "≤ 5 %", |summary| {
        both(summary.error)
    }),
    ("p99 of a new run inside its 95 % interval", "≥ 90 %", |summary| percent(summary.coverage)),
    ("error of the expected extra load in each, in requests: median, 90th percentile", "", |summary| {
        both(summary.error_of_load)
    }),
];

fn of(count: usize, summary: &Summary) -> String {
    percent(Some(count as f64 / summary.cases.max(1) as f64))
}

fn both(spread: Spread) -> String {
    format!("{}, {}", percent(spread.median), percent(spread.p90))
}

/// The page of what came of so many minutes of the lab.
pub fn lab_page(minutes: f64, text: &str) -> String {
    format!("{LAB}\n{minutes:.0} minutes in all:\n\n```text\n{}\n```\n", text.trim_end())
}

/// The page.
pub fn page(scores: &[Score], families: &[Family], adaptive: &[Adaptive]) -> String {
    let half =
        |half: Half| -> Vec<_> { scores.iter().filter(|score| score.case.family.half == half).collect() };
    let all: Vec<_> = scores.iter().collect();
    let summaries = [half(Half::Tuning), half(Half::HeldOut), all].map(|some| Summary::of(&some));
    let mut text = HEAD.to_owned();
    text += "\n## Figures\n\n| what | goal | tuning | held out | all |\n|---|---|---|---|---|\n";
    let _ = writeln!(
        text,
        "| cases | 1,000 | {} | {} | {} |",
        summaries[0].cases, summaries[1].cases, summaries[2].cases
    );
    for (what, goal, figure) in FIGURES {
        let [tuning, held_out, all] = summaries.each_ref().map(figure);
        let _ = writeln!(text, "| {what} | {goal} | {tuning} | {held_out} | {all} |");
    }
    text += "\nWhich cause was named, on the right families' first:\n\n```text";
    text += &confusion(&summaries[2]);
    text += "```\n";
    text += &benchmark(adaptive);
    text += &harms(scores);
    text += &by_family(scores, families);
    text += "\n";
    text += LIMITS;
    text
}

fn benchmark(adaptive: &[Adaptive]) -> String {
    let mut text = "\n## An adaptive library's benchmark\n\n50,000 calls, log-normal with mean 5 ms and deviation \
                    2 ms, of which 5 % take ten times as long.\nThe library's own figure is 17.0 ms at 8.9 % more \
                    calls.\n\n| budget | copy after | probability | p99 | more calls | goal |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for run in adaptive {
        let _ = writeln!(
            text,
            "| {:.1} % | {:.1} ms | {:.2} | {:.1} ms | {:.1} % | ≤ {:.1} ms |",
            run.budget * 100.0,
            run.delay_s * 1e3,
            run.probability,
            run.applied_s * 1e3,
            run.applied_extra * 100.0,
            run.goal_s * 1e3,
        );
    }
    text
}

/// Every case with harm or with a missed gain, to be run again.
fn harms(scores: &[Score]) -> String {
    let mut text = String::from("\n## Harm and missed gains\n\n");
    let mut any = false;
    for score in scores {
        let what = match score.harm() {
            Harm::Forbidden => "harm, the cause forbids copies",
            Harm::Measured => "harm, the p99 is worse",
            Harm::None if score.is_missed() => "missed gain",
            Harm::None => continue,
        };
        any = true;
        let applied =
            score.applied.map_or_else(String::new, |applied| format!(", p99 × {:.2}", applied.ratio));
        let _ = writeln!(
            text,
            "- `{}`: {what}; named {}, advised {}{applied}, best p99 × {:.2}",
            score.case,
            word(&score.cause()),
            word(&score.action()),
            score.truth.best.ratio,
        );
    }
    if !any {
        text += "None.\n";
    }
    text
}

fn by_family(scores: &[Score], families: &[Family]) -> String {
    let mut text = String::from(
        "\n## Families\n\n`p99` is that of the best policy of the grid ÷ that without copies, at the median; `rule` the \
         same of the rule of libraries.\n\n| family | half | right causes | cases | p99 | rule | cause wrong | abstained | \
         harm | missed |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for family in families {
        let own: Vec<_> = scores.iter().filter(|score| score.case.family.name == family.name).collect();
        if own.is_empty() {
            continue;
        }
        let summary = Summary::of(&own);
        let middle = |ratio: fn(&Score) -> f64| {
            Spread::of(own.iter().map(|score| ratio(score))).median.unwrap_or(f64::NAN)
        };
        let half = match family.half {
            Half::Tuning => "tuning",
            Half::HeldOut => "held out",
        };
        let causes: Vec<_> = family.causes.iter().map(|cause: &Cause| word(cause)).collect();
        let _ = writeln!(
            text,
            "| {} | {half} | {} | {} | {:.2} | {:.2} | {} | {} | {} | {} |",
            family.name,
            causes.join(", "),
            own.len(),
            middle(|score| score.truth.best.ratio),
            middle(|score| score.truth.library.ratio),
            summary.named(Named::Wrong),
            summary.named(Named::Abstained),
            summary.advice.harm,
            summary.advice.missed,
        );
    }
    text
}
