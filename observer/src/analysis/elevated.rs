//! Which instances, or which classes of requests, are slow more often than the others.

use observer_common::Nanoseconds;

/// So many times as often as the rest.
const TIMES_REST: f64 = 3.0;

/// So many times as often as all others: groups that do not belong to the rest which others are compared with.
const SUSPICIOUS: f64 = 1.7;

/// So many standard errors away from the rest.
const STANDARD_ERRORS: f64 = 3.0;

/// So many windows of time: what comes in bursts varies between them, and counts for less. Bursts that are longer than a
/// window are seen with windows several times as wide.
const WINDOWS: usize = 60;
const TOGETHER: [usize; 3] = [1, 3, 6];

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
}

/// Compares groups with the rest of them.
///
/// A group is elevated if it is slow three times as often as those that are not, and that is three standard errors more,
/// where the variance of its slow requests is the one between windows of time (cluster-robust):
/// `Var = Σ_w (k_w − n_w p)²`.
#[expect(clippy::cast_possible_truncation, reason = "there are sixty windows")]
pub(super) fn compare(
    members: impl Iterator<Item = Member> + Clone,
    groups: usize,
    span: Nanoseconds,
) -> Vec<Group> {
    let width = span.0 / WINDOWS as u64 + 1;
    let mut found = vec![Group::default(); groups];
    for member in members.clone() {
        found[member.group as usize].requests += 1.0;
        found[member.group as usize].slow += member.slow;
    }
    // Only groups with enough slow requests need their windows: there may be very many others.
    let mut rank = vec![None; groups];
    let enough = (0..groups).filter(|group| found[*group].slow >= FEWEST).collect::<Vec<_>>();
    for (place, group) in enough.iter().enumerate() {
        rank[*group] = Some(place * WINDOWS);
    }
    let mut requests = vec![0.0; enough.len() * WINDOWS];
    let mut slow = vec![0.0; enough.len() * WINDOWS];
    for member in members {
        if let Some(first) = rank[member.group as usize] {
            let cell = first + ((member.start.0 / width) as usize).min(WINDOWS - 1);
            requests[cell] += 1.0;
            slow[cell] += member.slow;
        }
    }
    let errors = |place: usize, rest: f64| {
        let group = &found[place];
        let own = rate(group);
        let cells = rank[place].map_or(0..0, |first| first..first + WINDOWS);
        let variance = |together: usize| -> f64 {
            let requests = requests[cells.clone()].chunks(together).map(|cells| cells.iter().sum::<f64>());
            let slow = slow[cells.clone()].chunks(together).map(|cells| cells.iter().sum::<f64>());
            slow.zip(requests).map(|(slow, requests)| (slow - requests * own).powi(2)).sum()
        };
        let most = TOGETHER.map(variance).into_iter().fold(0.0, f64::max);
        (group.slow - group.requests * rest) / (most + group.requests * rest).sqrt()
    };
    // Those that stand out from all others are not what the others are compared with: two slow instances of four would
    // hide each other.
    let stands_out = |place: usize, among: &Among, times: f64| {
        let group = &found[place];
        among.rest(group, place).is_some_and(|rest| {
            group.slow >= FEWEST && rate(group) >= times * rest && errors(place, rest) >= STANDARD_ERRORS
        })
    };
    let everyone = Among::of(&found, vec![true; groups]);
    let usual: Vec<bool> = (0..groups).map(|place| !stands_out(place, &everyone, SUSPICIOUS)).collect();
    let usual = Among::of(&found, usual);
    let elevated: Vec<bool> = (0..groups).map(|place| stands_out(place, &usual, TIMES_REST)).collect();
    for (group, is_elevated) in found.iter_mut().zip(elevated) {
        group.is_elevated = is_elevated;
    }
    found
}

fn rate(group: &Group) -> f64 {
    group.slow / group.requests.max(1.0)
}

/// Groups that others are compared with, and their sums.
struct Among {
    is: Vec<bool>,
    requests: f64,
    slow: f64,
}

impl Among {
    fn of(found: &[Group], is: Vec<bool>) -> Self {
        let (mut requests, mut slow) = (0.0, 0.0);
        for (group, _) in found.iter().zip(&is).filter(|(_, is)| **is) {
            requests += group.requests;
            slow += group.slow;
        }
        Self { is, requests, slow }
    }

    /// How often those besides a group are slow; a little more, so that it is never zero.
    fn rest(&self, group: &Group, place: usize) -> Option<f64> {
        let own = if self.is[place] { [group.requests, group.slow] } else { [0.0; 2] };
        let (requests, slow) = (self.requests - own[0], (self.slow - own[1]).max(0.0));
        (requests > 0.0).then(|| (slow + 0.5) / (requests + 1.0))
    }
}
