//! Which instances, or which classes of requests, are slow more often than the others.

use observer_common::Nanoseconds;

/// So many times as often as the rest.
const TIMES_REST: f64 = 3.0;

/// So many standard errors away from the rest.
const STANDARD_ERRORS: f64 = 3.0;

/// So many windows of time: what comes in bursts varies between them, and counts for less.
const WINDOWS: usize = 60;

/// So many slow ones at least.
const FEWEST: f64 = 8.0;

/// One request, as far as this cares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Its group: an instance, or a class.
    pub(super) group: u32,
    /// When it began.
    pub(super) start: Nanoseconds,
    /// How much of a slow request it is, from 0 to 1: what is explained already does not count.
    pub(super) slow: f64,
}

/// How often a group is slow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Group {
    /// Its requests.
    pub(super) requests: f64,
    /// Slow ones among them.
    pub(super) slow: f64,
    /// Whether it is elevated.
    pub(super) is_elevated: bool,
    /// The share of its slow requests that it would not have at the rate of the others: 1 − p_rest ÷ p_group.
    pub(super) attributable: f64,
}

/// Compares groups with the rest of them.
///
/// A group is elevated if it is slow three times as often as those that are not, and that is three standard errors more,
/// where the variance of its slow requests is the one between windows of time (cluster-robust):
/// Var = Σ_w (k_w − n_w p)².
#[expect(clippy::cast_possible_truncation, reason = "there are sixty windows")]
pub(super) fn compare(members: impl Iterator<Item = Member> + Clone, groups: usize, span: Nanoseconds) -> Vec<Group> {
    let width = span.0 / WINDOWS as u64 + 1;
    let mut requests = vec![0.0; groups * WINDOWS];
    let mut slow = vec![0.0; groups * WINDOWS];
    for member in members {
        let cell = member.group as usize * WINDOWS + ((member.start.0 / width) as usize).min(WINDOWS - 1);
        requests[cell] += 1.0;
        slow[cell] += member.slow;
    }
    let mut found: Vec<Group> = (0..groups)
        .map(|group| {
            let cells = group * WINDOWS..(group + 1) * WINDOWS;
            Group {
                requests: requests[cells.clone()].iter().sum(),
                slow: slow[cells].iter().sum(),
                ..Group::default()
            }
        })
        .collect();
    // The rest are the groups that are slow least often, up to half of what remains: those that stand out are not
    // compared with each other.
    let mut by_rate: Vec<usize> = (0..groups).filter(|place| found[*place].requests > 0.0).collect();
    by_rate.sort_by(|one, other| rate(&found[*one]).total_cmp(&rate(&found[*other])));
    for place in 0..groups {
        let group = found[place];
        if group.slow < FEWEST {
            continue;
        }
        let Some(rest) = rest(&found, &by_rate, place) else { continue };
        let own = rate(&group);
        let cells = place * WINDOWS..(place + 1) * WINDOWS;
        let variance: f64 = cells.map(|cell| (slow[cell] - requests[cell] * own).powi(2)).sum::<f64>()
            + group.requests * rest;
        let errors = (group.slow - group.requests * rest) / variance.sqrt();
        if own >= TIMES_REST * rest && errors >= STANDARD_ERRORS {
            found[place].is_elevated = true;
            found[place].attributable = 1.0 - rest / own;
        }
    }
    found
}

fn rate(group: &Group) -> f64 {
    group.slow / group.requests.max(1.0)
}

/// How often the groups besides `place` are slow that are so least often, up to half of their requests; a little more,
/// so that it is never zero.
fn rest(found: &[Group], by_rate: &[usize], place: usize) -> Option<f64> {
    let others = by_rate.iter().filter(|other| **other != place);
    let total: f64 = others.clone().map(|other| found[*other].requests).sum();
    let (mut requests, mut slow) = (0.0, 0.0);
    for other in others {
        requests += found[*other].requests;
        slow += found[*other].slow;
        if requests >= total / 2.0 {
            break;
        }
    }
    (requests > 0.0).then(|| (slow + 0.5) / (requests + 1.0))
}
