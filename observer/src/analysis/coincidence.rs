//! Are instances slow together?
//!
//! Time is cut into windows. A window is *coincident* if slowness in it is spread over instances as if it struck requests
//! whoever serves them. How many slow requests lie in coincident windows is compared with what chance would bring: for
//! that, which requests of an instance are slow is rotated along the instance's own requests, each instance by another
//! number. That keeps how many requests fall into each window, and how slowness comes in bursts within an instance,
//! and destroys nothing but what instances have in common.

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::{rounding::count, samples::number};

/// So many rotations: the least p-value that they can give is one in a hundred.
const ROTATIONS: usize = 99;

/// After so many, chance that brought as much more often than this brings it often enough.
const ENOUGH: usize = 19;
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
pub(super) const LEAST_P: f64 = 0.011;

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
    let mut best: Option<Coincidence> = None;
    let mut width = Nanoseconds(span.0 / FEWEST_WINDOWS + 1);
    for _ in 0..MOST_WIDTHS {
        let found = Windows::new(units, span, width).compare(random);
        let is_better = best.as_ref().is_none_or(|best| found.is_more_telling_than(best));
        if is_better {
            best = Some(found);
        }
        width = Nanoseconds(width.0 / 2);
        let cells = (span.0 / width.0.max(1) + 1).saturating_mul(units.len() as u64);
        if width < least_width || width.0 < 2 || cells > MOST_CELLS {
            break;
        }
    }
    best
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

/// Requests and slow ones by window and unit.
struct Windows<'a> {
    units: &'a [Vec<Mark>],
    width: Nanoseconds,
    count: usize,
    /// Requests: window after window, unit after unit.
    requests: Vec<u32>,
    /// Requests of all units by window.
    all: Vec<u32>,
    /// The window of every request of every unit.
    window_of: Vec<Vec<u32>>,
    /// Places of slow requests in every unit.
    slow: Vec<Vec<u32>>,
    /// Over how many units of equal size the requests of each window are spread.
    effective: Vec<f64>,
    /// Slow requests of all units.
    total: f64,
}

#[expect(clippy::cast_possible_truncation, reason = "windows and requests are fewer than 2^32")]
impl<'a> Windows<'a> {
    fn new(units: &'a [Vec<Mark>], span: Nanoseconds, width: Nanoseconds) -> Self {
        let count = (span.0 / width.0) as usize + 1;
        let mut requests = vec![0; count * units.len()];
        let mut all = vec![0; count];
        let (mut window_of, mut slow) = (Vec::new(), Vec::new());
        for (unit, marks) in units.iter().enumerate() {
            let windows: Vec<u32> =
                marks.iter().map(|mark| ((mark.start.0 / width.0) as usize).min(count - 1) as u32).collect();
            for window in &windows {
                requests[*window as usize * units.len() + unit] += 1;
                all[*window as usize] += 1;
            }
            window_of.push(windows);
            slow.push(
                (0..marks.len() as u32).filter(|place| marks[*place as usize].slow).collect::<Vec<u32>>(),
            );
        }
        let total = slow.iter().map(Vec::len).sum::<usize>() as f64;
        let effective =
            requests.chunks(units.len()).map(|requests| effective_units(requests.iter().copied())).collect();
        Self { units, width, count, requests, all, window_of, slow, effective, total }
    }

    fn compare(&self, random: &mut Pcg64) -> Coincidence {
        let mut cells = vec![0; self.count * self.units.len()];
        self.place(&mut cells, |_| 0);
        let (seen, windows, slow) = self.coincident(&cells);
        let (chi, breadth) = (self.chi(&cells), self.breadth(&cells, &windows));
        let (mut sum, mut squares, mut as_much) = (0.0, 0.0, 0);
        let mut rotations = 0;
        while rotations < ROTATIONS && !(rotations == ENOUGH && as_much > FEW) {
            cells.fill(0);
            let offsets: Vec<u32> = self.units.iter().map(|marks| rotation(marks.len(), random)).collect();
            self.place(&mut cells, |unit| offsets[unit]);
            let (by_chance, ..) = self.coincident(&cells);
            sum += by_chance;
            squares += by_chance * by_chance;
            as_much += usize::from(by_chance >= seen);
            rotations += 1;
        }
        let mean = sum / rotations as f64;
        // Half a request more, so that no variation at all is not taken for certainty.
        let deviation = (squares / rotations as f64 - mean * mean).max(0.0).sqrt() + 0.5;
        let chance = if self.total > 0.0 { (mean / self.total).min(1.0) } else { 0.0 };
        let share = if self.total > 0.0 && chance < 1.0 {
            ((seen / self.total - chance) / (1.0 - chance)).max(0.0)
        } else {
            0.0
        };
        let requests: f64 = self.all.iter().map(|count| f64::from(*count)).sum();
        Coincidence {
            width: self.width,
            share,
            p_value: (as_much + 1) as f64 / (rotations + 1) as f64,
            score: (seen - mean) / deviation,
            chance,
            breadth,
            windows,
            slow,
            chi,
            slow_share: self.total / requests.max(1.0),
        }
    }

    /// Counts slow requests by cell, those of each unit moved on by an offset among the unit's requests.
    fn place(&self, cells: &mut [u32], offset: impl Fn(usize) -> u32) {
        for (unit, slow) in self.slow.iter().enumerate() {
            let windows = &self.window_of[unit];
            let offset = offset(unit) as usize;
            for place in slow {
                let moved = (*place as usize + offset) % windows.len();
                cells[windows[moved] as usize * self.units.len() + unit] += 1;
            }
        }
    }

    /// How many slow requests lie in coincident windows, which windows are, and slow requests by window.
    fn coincident(&self, cells: &[u32]) -> (f64, Vec<bool>, Vec<u32>) {
        let units = self.units.len();
        let mut sum = 0.0;
        let (mut windows, mut slow_in) = (vec![false; self.count], vec![0; self.count]);
        for window in 0..self.count {
            let slow = &cells[window * units..(window + 1) * units];
            let total: u32 = slow.iter().sum();
            slow_in[window] = total;
            let struck = slow.iter().filter(|slow| **slow > 0).count();
            if struck < 2 {
                continue;
            }
            // They are in no more units than there are of either, which mostly decides it.
            let present = self.effective[window];
            let struck = struck as f64;
            if struck >= 0.5 * present.min(f64::from(total)) || struck >= 0.5 * spread(present, total) {
                windows[window] = true;
                sum += f64::from(total);
            }
        }
        (sum, windows, slow_in)
    }

    /// Mean over runs of coincident windows, by slow requests, of instances struck ÷ instances that would be.
    fn breadth(&self, cells: &[u32], windows: &[bool]) -> f64 {
        let units = self.units.len();
        let (mut sum, mut all) = (0.0, 0.0);
        let mut window = 0;
        while window < self.count {
            if !windows[window] {
                window += 1;
                continue;
            }
            let end = (window..self.count).find(|end| !windows[*end]).unwrap_or(self.count);
            // What begins and ends it is part of it.
            let run = window.saturating_sub(1)..(end + 1).min(self.count);
            let over = |counts: &[u32], unit: usize| {
                run.clone().map(|window| counts[window * units + unit]).sum::<u32>()
            };
            let requests: Vec<u32> = (0..units).map(|unit| over(&self.requests, unit)).collect();
            let slow: Vec<u32> = (0..units).map(|unit| over(cells, unit)).collect();
            let total: u32 = slow.iter().sum();
            let struck = slow.iter().filter(|slow| **slow > 0).count() as f64;
            let expected = spread(effective_units(requests.into_iter()), total);
            sum += f64::from(total) * (struck / expected.max(1.0)).min(1.0);
            all += f64::from(total);
            window = end;
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// χ over pairs of requests at different instances in the same window, without the bias of counting a request with
    /// itself: `Σ_w Σ_{b≠c} r_bw r_cw ÷ Σ_w Σ_{b≠c} n_bw n_cw ÷ p + p` with `r = slow − n p_b`.
    fn chi(&self, cells: &[u32]) -> f64 {
        let units = self.units.len();
        let share: Vec<f64> = self
            .slow
            .iter()
            .zip(self.units)
            .map(|(slow, marks)| slow.len() as f64 / marks.len().max(1) as f64)
            .collect();
        let (mut products, mut pairs) = (0.0, 0.0);
        for window in 0..self.count {
            let (mut sum, mut squares, mut requests, mut request_squares) = (0.0, 0.0, 0.0, 0.0);
            for unit in 0..units {
                let n = f64::from(self.requests[window * units + unit]);
                let r = f64::from(cells[window * units + unit]) - n * share[unit];
                sum += r;
                squares += r * r;
                requests += n;
                request_squares += n * n;
            }
            products += sum * sum - squares;
            pairs += requests * requests - request_squares;
        }
        let requests: f64 = self.all.iter().map(|count| f64::from(*count)).sum();
        let p = self.total / requests.max(1.0);
        if pairs > 0.0 && p > 0.0 { (products / pairs / p + p).clamp(0.0, 1.0) } else { p }
    }
}

/// How far an instance's requests are rotated.
fn rotation(requests: usize, random: &mut Pcg64) -> u32 {
    let least = number(count(requests as f64 * LEAST_ROTATION));
    let most = number(requests).saturating_sub(least);
    if most > least { random.random_range(least..most) } else { 0 }
}

/// How many units of equal size requests are spread over as they are over these: `n² ÷ Σ_b n_b²` (inverse Simpson index).
fn effective_units(requests: impl Iterator<Item = u32>) -> f64 {
    let (sum, squares) =
        requests.map(f64::from).fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// In how many of so many units of equal size slow requests are expected if they are spread over requests at random:
/// U (1 − (1 − 1 ÷ U)^K).
fn spread(units: f64, slow: u32) -> f64 {
    if units <= 1.0 { units } else { units * (1.0 - libm::pow(1.0 - 1.0 / units, f64::from(slow))) }
}
