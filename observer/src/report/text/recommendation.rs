//! What to do, in at most five lines.

use super::{style::Color, verdict::line};
use crate::{
    analysis::model::Assessment,
    report::words::recommendation::{advice, expected, lists},
};

/// The advice, what is expected of it, and the first of what it takes, what to beware of, and what to do besides.
pub(super) fn lines(assessment: &Assessment, color: Color) -> Vec<String> {
    let recommendation = &assessment.recommendation;
    let (label, text) = advice(assessment);
    let mut lines = vec![color.heading(line(label, &text))];
    lines.extend(expected(recommendation).map(|(label, text)| color.plain(line(label, &text))));
    let [conditions, warnings, others] = lists(recommendation).map(|(label, list)| begun(label, list));
    lines.extend(conditions.map(|line| color.plain(line)));
    lines.extend(warnings.map(|line| color.warning(line)));
    lines.extend(others.map(|line| color.plain(line)));
    lines
}

/// The first of a list, and how many more there are.
fn begun(label: &str, list: &[String]) -> Option<String> {
    let (first, rest) = list.split_first()?;
    Some(match rest.len() {
        0 => line(label, first),
        more => line(label, &format!("{first} (and {more} more below)")),
    })
}
