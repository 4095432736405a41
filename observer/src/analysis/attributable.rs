//! Which part of slow requests something explains.

use super::{elevated::Group, slow::Slow};

/// What explains slow requests makes requests slow so many times as often.
pub(super) const OFTEN: f64 = 3.0;

/// So many slow requests must be marked, and so many requests must not be, to compare them.
const FEWEST_SLOW: f64 = 5.0;
const FEWEST_OTHERS: f64 = 30.0;

/// How much of a late request each is: what is explained already does not count.
pub(super) fn late(slow: &Slow, left: &[f64]) -> Vec<f64> {
    let late = |row: usize| f64::from(u8::from(slow.late[row])) * if slow.is[row] { left[row] } else { 1.0 };
    (0..left.len()).map(late).collect()
}

/// For each group, which part of its slow requests it would not have at the rate of those that are not elevated:
/// `1 − p_rest ÷ p_group`.
pub(super) fn attributable(groups: &[Group], group_of: impl Iterator<Item = u32>, left: &[f64]) -> Vec<f64> {
    let mut counts = vec![[0.0; 2]; groups.len()];
    for (group, left) in group_of.zip(left) {
        counts[group as usize][0] += 1.0;
        counts[group as usize][1] += left;
    }
    let mut usual = [1.0, 0.5];
    for (counts, _) in counts.iter().zip(groups).filter(|(_, group)| !group.is_elevated) {
        usual[0] += counts[0];
        usual[1] += counts[1];
    }
    let part = |(counts, group): (&[f64; 2], &Group)| {
        let own = counts[1] / counts[0].max(1.0);
        if group.is_elevated && own > 0.0 { (1.0 - usual[1] / usual[0] / own).max(0.0) } else { 0.0 }
    };
    counts.iter().zip(groups).map(part).collect()
}

/// Which part of the slow requests that are marked they would not be if they were slow as often as the others; nothing
/// unless they are so several times as often.
pub(super) fn attributable_to(marked: &[bool], left: &[f64]) -> f64 {
    let (mut with, mut without) = ([0.0; 2], [0.0; 2]);
    for (marked, left) in marked.iter().zip(left) {
        let counts = if *marked { &mut with } else { &mut without };
        counts[0] += 1.0;
        counts[1] += left;
    }
    let rate = |counts: [f64; 2]| counts[1] / f64::max(counts[0], 1.0);
    let enough = with[1] >= FEWEST_SLOW && without[0] >= FEWEST_OTHERS;
    let (with, without) = (rate(with), rate(without));
    if enough && with > OFTEN * without { 1.0 - without / with } else { 0.0 }
}
