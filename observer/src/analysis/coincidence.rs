//! Are instances slow together?
//!
//! Time is cut into windows. A window is *coincident* if slowness in it is spread over instances as if it struck requests
//! whoever serves them. How many slow requests lie in coincident windows is compared with what chance would bring: for
//! that, which requests of an instance are slow is rotated along the instance's own requests, each instance by another
//! number. That keeps how many requests fall into each window, and how slowness comes in bursts within an instance,
//! and destroys nothing but what instances have in common.

use std::iter;

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::{
    rounding::count,
    samples::number,
    windows::{Placed, Timeline, Windows},
};

/// So many rotations: the least p-value that they can give is one in a hundred.
const ROTATIONS: usize = 99;

/// From so many on, chance that brought as much more often than this brings it often enough.
const ENOUGH: usize = 9;
const FEW: usize = 2;

/// An instance is rotated by this share of its requests at least, and by this much less than all of them at most.
const LEAST_ROTATION: f64 = 0.05;

/// So many windows at least.
const FEWEST_WINDOWS: u64 = 40;

/// So many widths of windows at most, each half of the one before.
const MOST_WIDTHS: u32 = 9;

/// Beyond so many, windows are no shorter.
const MOST_CELLS: u64 = 400_000;

/// More units than this are put together to as many.
const MOST_UNITS: usize = 200;

/// Hardly by chance: as seldom as so many rotations can tell.
pub(super) const LEAST_P: f64 = 1.0 / (ROTATIONS as f64 + 1.0);

/// This share of slow requests that are slow together is worth a thought.
const NOTABLE: f64 = 0.2;

/// Shares that differ by no more than this are alike.
const ALIKE: f64 = 0.05;

/// So many standard deviations of chance are clear.
pub(super) const CLEAR: f64 = 3.0;

/// χ is this much nearer to one than chance is, or a little and several times what chance is.
const MUCH: f64 = 0.4;
const LITTLE: f64 = 0.05;
const TIMES_CHANCE: f64 = 3.0;

/// An episode is one of all instances if it strikes this part of them, or of those that it could have.
pub(super) const BROAD: f64 = 0.5;

/// A request, as far as coincidence cares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// When it began.
    pub(super) start: Nanoseconds,
    /// Whether it is slow.
    pub(super) slow: bool,
}

/// What came out.
#[derive(Clone, Debug)]
pub(super) struct Coincidence {
    /// How wide windows are.
    pub(super) width: Nanoseconds,
    /// The share of slow requests that are slow together: f of  S ÷ K = f + (1 − f) · e,  where S of K slow requests lie in
    /// coincident windows, and e of them by chance.
    pub(super) share: f64,
    /// How often chance brings as much, of so many rotations and itself.
    pub(super) p_value: f64,
    /// How many standard deviations of chance it is away from that.
    pub(super) score: f64,
    /// e above.
    pub(super) chance: f64,
    /// Which windows are coincident.
    pub(super) windows: Vec<bool>,
    /// Slow requests in each window.
    pub(super) slow: Vec<u32>,
    /// χ: the chance that a request elsewhere in the same window is slow, given that one is.
    pub(super) chi: f64,
    /// The share of slow requests.
    pub(super) slow_share: f64,
    /// In how many instances slow requests of an episode are, ÷ in how many they would be if they were spread over its
    /// requests.
    pub(super) breadth: f64,
}

/// The most telling of several widths; nothing with fewer than two instances.
///
/// `units` are instances, or groups of instances that are known to be one; `least_width` is about as long as slowness
/// lasts: in shorter windows those who are slow together would not meet.
pub(super) fn coincidence(
    units: &[Vec<Mark>],
    span: Nanoseconds,
    least_width: Nanoseconds,
    random: &mut Pcg64,
) -> Option<Coincidence> {
    if units.iter().filter(|unit| !unit.is_empty()).count() < 2 {
        return None;
    }
    let together = (units.len() > MOST_UNITS).then(|| put_together(units));
    let units = together.as_deref().unwrap_or(units);
    let widest = span.0 / FEWEST_WINDOWS + 1;
    let is_wide_enough = |halved: &u32| {
        let width = widest >> halved;
        let cells = (span.0 / width.max(1) + 1).saturating_mul(units.len() as u64);
        width >= least_width.0 && width >= 2 && cells <= MOST_CELLS
    };
    let halved = (1..MOST_WIDTHS).take_while(is_wide_enough).last().unwrap_or(0);
    let timeline = Timeline::new(units, span, Nanoseconds(widest >> halved));
    let narrowest = Windows::narrowest(&timeline);
    let widths: Vec<Windows<'_>> = iter::successors(Some(narrowest), |windows| Some(windows.doubled()))
        .take(halved as usize + 1)
        .collect();
    let mut best: Option<Coincidence> = None;
    for windows in widths.iter().rev() {
        let found = compare(windows, random);
        let is_better = best.as_ref().is_none_or(|best| found.is_more_telling_than(best));
        if is_better {
            best = Some(found);
        }
    }
    best
}

/// Compares what lies in coincident windows with what does so by chance.
fn compare(windows: &Windows<'_>, random: &mut Pcg64) -> Coincidence {
    let mut placed = Placed::default();
    let seen = windows.coincident(&vec![0; windows.units()], &mut placed);
    let (is_coincident, slow) = (windows.which(&placed), placed.slow.clone());
    let (chi, breadth, total) = (windows.chi(), windows.breadth(&is_coincident), windows.slow());
    let (mut sum, mut squares, mut as_much) = (0.0, 0.0, 0);
    let mut rotations = 0;
    while rotations < ROTATIONS && !(rotations >= ENOUGH && as_much > FEW) {
        let offsets: Vec<u32> = windows.lengths().map(|requests| rotation(requests, random)).collect();
        let by_chance = windows.coincident(&offsets, &mut placed);
        sum += by_chance;
        squares += by_chance * by_chance;
        as_much += usize::from(by_chance >= seen);
        rotations += 1;
    }
    let mean = sum / rotations as f64;
    // Half a request more, so that no variation at all is not taken for certainty.
    let deviation = (squares / rotations as f64 - mean * mean).max(0.0).sqrt() + 0.5;
    let chance = if total > 0.0 { (mean / total).min(1.0) } else { 0.0 };
    let share =
        if total > 0.0 && chance < 1.0 { ((seen / total - chance) / (1.0 - chance)).max(0.0) } else { 0.0 };
    Coincidence {
        width: windows.width(),
        share,
        p_value: (as_much + 1) as f64 / (rotations + 1) as f64,
        score: (seen - mean) / deviation,
        chance,
        breadth,
        windows: is_coincident,
        slow,
        chi,
        slow_share: total / windows.requests().max(1.0),
    }
}

/// How far an instance's requests are rotated.
fn rotation(requests: usize, random: &mut Pcg64) -> u32 {
    let least = number(count(requests as f64 * LEAST_ROTATION));
    let most = number(requests).saturating_sub(least);
    if most > least { random.random_range(least..most) } else { 0 }
}

/// Where there are very many units with few requests each, several are taken for one: what all of them have in common
/// still shows, in bounded time.
fn put_together(units: &[Vec<Mark>]) -> Vec<Vec<Mark>> {
    let mut fewer: Vec<Vec<Mark>> = vec![Vec::new(); MOST_UNITS];
    for (place, marks) in units.iter().enumerate() {
        fewer[place % MOST_UNITS].extend(marks);
    }
    for marks in &mut fewer {
        marks.sort_unstable_by_key(|mark| mark.start);
    }
    fewer
}

impl Coincidence {
    /// Whether chance would hardly bring it, and it is more than load that rises and falls everywhere brings.
    pub(super) fn is_significant(&self) -> bool {
        let excess = (self.chi - self.slow_share) / (1.0 - self.slow_share).max(1e-9);
        let is_strong = excess >= MUCH || (excess >= LITTLE && self.chi >= TIMES_CHANCE * self.slow_share);
        // A few long episodes overlap in many rotations, so that chance varies much where there is least doubt.
        let enough = if excess >= MUCH { CLEAR / 1.5 } else { CLEAR };
        self.p_value <= LEAST_P && self.score >= enough && is_strong && self.breadth >= BROAD
    }

    /// Whether chance would hardly bring it though it is not strong: something may be shared by a part of the requests.
    pub(super) fn is_suspicious(&self) -> bool {
        let is_clear = self.p_value <= LEAST_P && self.score >= CLEAR && self.breadth >= BROAD;
        is_clear && self.share >= NOTABLE && !self.is_significant()
    }

    /// The same windows, and the share of other requests that lie in coincident ones beyond the chance of these.
    pub(super) fn of_others(self, starts: impl Iterator<Item = Nanoseconds>) -> Self {
        let mut slow = vec![0; self.windows.len()];
        for start in starts {
            let window = usize::try_from(start.0 / self.width.0).unwrap_or(0);
            slow[window.min(self.windows.len() - 1)] += 1;
        }
        let all: u32 = slow.iter().sum();
        let inside: u32 = self.windows.iter().zip(&slow).filter(|(is, _)| **is).map(|(_, slow)| slow).sum();
        let seen = f64::from(inside) / f64::from(all.max(1));
        let share =
            if self.chance < 1.0 { ((seen - self.chance) / (1.0 - self.chance)).max(0.0) } else { 0.0 };
        Self { share, slow, ..self }
    }

    /// Whether it says more than another one: what is significant first, then what explains more.
    fn is_more_telling_than(&self, other: &Self) -> bool {
        match (self.is_significant(), other.is_significant()) {
            // Where the widest windows hold everything, narrower ones say when it was.
            (true, true) if (self.share - other.share).abs() <= ALIKE => self.score > other.score,
            (true, true) => self.share > other.share,
            (false, false) => self.score > other.score,
            (mine, _) => mine,
        }
    }

    /// Whether what began then lies in a coincident window.
    pub(super) fn is_coincident(&self, start: Nanoseconds) -> bool {
        let window = usize::try_from(start.0 / self.width.0).unwrap_or(usize::MAX);
        self.windows.get(window) == Some(&true)
    }

    /// Which part of the slow requests in coincident windows is there by more than chance.
    pub(super) fn part_inside(&self) -> f64 {
        let inside: u32 =
            self.windows.iter().zip(&self.slow).filter(|(is, _)| **is).map(|(_, slow)| slow).sum();
        let all: u32 = self.slow.iter().sum();
        (self.share * f64::from(all) / f64::from(inside.max(1))).min(1.0)
    }
}
