//! Instances that pause together, as those on one host do.

use observer_common::Nanoseconds;

use super::coincidence::Mark;

/// Two instances belong together if their slow windows correlate this much.
const CORRELATED: f64 = 0.45;

/// Beyond so many instances pairs are not looked at.
const MOST_INSTANCES: usize = 128;

/// So many windows at most.
const WINDOWS: u64 = 4_000;

/// So many windows in which each of two is slow, at least.
const FEWEST: usize = 4;

/// Which instances pause together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clusters {
    /// For each instance, the least of the instances that it belongs together with.
    pub(super) of: Vec<u32>,
}

/// Instances of one host are slow in the same windows this much more often than instances of different ones.
const HOSTS: f64 = 2.5;

/// Groups instances by host, if those of one host are slow in the same windows more often than others are, and else by
/// the correlation of the windows in which they are slow. Where they form one group, nothing is
/// grouped: that is what is to be found out then.
#[expect(clippy::cast_possible_truncation, reason = "a few thousand windows, a hundred instances")]
pub(super) fn clusters(
    marks: &[Vec<Mark>],
    hosts: &[u32],
    span: Nanoseconds,
    least_width: Nanoseconds,
) -> Clusters {
    let count = marks.len();
    let mut clusters = Clusters { of: (0..count as u32).collect() };
    if !(3..=MOST_INSTANCES).contains(&count) {
        return clusters;
    }
    let width = least_width.0.max(span.0 / WINDOWS).max(1) * 2;
    let windows = (span.0 / width) as usize + 1;
    let words = windows.div_ceil(64);
    let struck: Vec<Vec<u64>> = marks
        .iter()
        .map(|marks| {
            let mut bits = vec![0_u64; words];
            for mark in marks.iter().filter(|mark| mark.slow) {
                let window = (mark.start.0 / width) as usize;
                bits[window / 64] |= 1 << (window % 64);
            }
            bits
        })
        .collect();
    let ones: Vec<usize> =
        struck.iter().map(|bits| bits.iter().map(|word| word.count_ones() as usize).sum()).collect();
    // Windows in which both of two are slow, and how many there would be by chance: on one host, and on different ones.
    let (mut together, mut by_chance) = ([0.0; 2], [0.0; 2]);
    for one in 0..count {
        for other in one + 1..count {
            let (first, second) = (ones[one], ones[other]);
            let both = struck[one]
                .iter()
                .zip(&struck[other])
                .map(|(a, b)| (a & b).count_ones() as usize)
                .sum::<usize>();
            let same = usize::from(hosts[one] == hosts[other]);
            together[same] += both as f64;
            by_chance[same] += first as f64 * second as f64 / windows as f64;
            if first.min(second) >= FEWEST
                && phi(windows as f64, first as f64, second as f64, both as f64) >= CORRELATED
            {
                clusters.join(one as u32, other as u32);
            }
        }
    }
    let excess = |same: usize| together[same] / f64::max(by_chance[same], 0.1);
    if together[1] >= FEWEST as f64 && excess(1) >= HOSTS * excess(0).max(1.0) {
        let first = |place: usize| hosts.iter().position(|host| *host == hosts[place]).unwrap_or(place);
        clusters.of = (0..count).map(|place| first(place) as u32).collect();
    }
    let largest = clusters.groups().iter().map(Vec::len).max().unwrap_or(0);
    if largest * 2 > count {
        clusters.of = (0..count as u32).collect();
    }
    clusters
}

/// The correlation of two sets of windows: φ = (n·n₁₁ − n₁·n₂) ÷ √(n₁ n₂ (n − n₁)(n − n₂)).
fn phi(all: f64, first: f64, second: f64, both: f64) -> f64 {
    let below = first * second * (all - first) * (all - second);
    if below > 0.0 { (all * both - first * second) / below.sqrt() } else { 0.0 }
}

impl Clusters {
    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.of[one as usize], self.of[other as usize]);
        let (least, most) = (one.min(other), one.max(other));
        for of in &mut self.of {
            if *of == most {
                *of = least;
            }
        }
    }

    /// Groups of more than one instance.
    pub(super) fn groups(&self) -> Vec<Vec<u32>> {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.of.len()];
        for (member, of) in (0..).zip(&self.of) {
            members[*of as usize].push(member);
        }
        members.retain(|group| group.len() > 1);
        members
    }

    /// The marks of each group taken together, in the order of time.
    pub(super) fn merge(&self, marks: &[Vec<Mark>]) -> Vec<Vec<Mark>> {
        let mut merged: Vec<Vec<Mark>> = vec![Vec::new(); marks.len()];
        for (marks, of) in marks.iter().zip(&self.of) {
            merged[*of as usize].extend(marks);
        }
        for group in self.groups() {
            merged[group[0] as usize].sort_unstable_by_key(|mark| mark.start);
        }
        merged.retain(|marks| !marks.is_empty());
        merged
    }
}
