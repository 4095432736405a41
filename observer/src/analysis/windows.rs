//! Requests and slow ones by windows of time and unit.

use observer_common::Nanoseconds;

use super::{coincidence::Mark, samples::number};

/// Units, cut into windows as narrow as will be looked at. Wider ones are made of these.
#[derive(Debug)]
pub(super) struct Timeline {
    units: Vec<Unit>,
    width: Nanoseconds,
    count: usize,
}

/// An instance, or several that are taken for one.
#[derive(Debug)]
struct Unit {
    /// The window of each request.
    window_of: Vec<u32>,
    /// The places of slow requests among them.
    slow: Vec<u32>,
}

impl Timeline {
    /// Windows of this width. There are fewer than 2³² of them.
    pub(super) fn new(units: &[Vec<Mark>], span: Nanoseconds, width: Nanoseconds) -> Self {
        let count = usize::try_from(span.0 / width.0).unwrap_or(usize::MAX - 1) + 1;
        let window = |mark: &Mark| {
            number(usize::try_from(mark.start.0 / width.0).map_or(count - 1, |at| at.min(count - 1)))
        };
        let unit = |marks: &Vec<Mark>| Unit {
            window_of: marks.iter().map(window).collect(),
            slow: (0..).zip(marks).filter(|(_, mark)| mark.slow).map(|(place, _)| place).collect(),
        };
        Self { units: units.iter().map(unit).collect(), width, count }
    }
}

/// Windows of one width.
#[derive(Debug)]
pub(super) struct Windows<'a> {
    timeline: &'a Timeline,
    /// Their width is that of the timeline, doubled so often.
    doubled: u32,
    count: usize,
    /// Requests: window after window, unit after unit; and how many of them are slow.
    cells: Vec<[u32; 2]>,
    /// Over how many units of equal size the requests of each window are spread.
    effective: Vec<f64>,
    slow: f64,
}

/// Slow requests by window once those of each unit are moved on among its requests.
#[derive(Debug, Default)]
pub(super) struct Placed {
    /// How many.
    pub(super) slow: Vec<u32>,
    /// Of how many units.
    struck: Vec<u32>,
}

impl<'a> Windows<'a> {
    /// Windows as narrow as those of the timeline.
    pub(super) fn narrowest(timeline: &'a Timeline) -> Self {
        let units = timeline.units.len();
        let mut cells = vec![[0; 2]; timeline.count * units];
        for (place, unit) in timeline.units.iter().enumerate() {
            for window in &unit.window_of {
                cells[*window as usize * units + place][0] += 1;
            }
            for slow in &unit.slow {
                cells[unit.window_of[*slow as usize] as usize * units + place][1] += 1;
            }
        }
        Self::of(timeline, 0, timeline.count, cells)
    }

    /// Windows twice as wide.
    pub(super) fn doubled(&self) -> Self {
        let units = self.units();
        let count = self.count.div_ceil(2);
        let mut cells = vec![[0; 2]; count * units];
        for (window, narrow) in self.cells.chunks(units).enumerate() {
            let wide = &mut cells[window / 2 * units..][..units];
            for (cell, narrow) in wide.iter_mut().zip(narrow) {
                *cell = [cell[0] + narrow[0], cell[1] + narrow[1]];
            }
        }
        Self::of(self.timeline, self.doubled + 1, count, cells)
    }

    fn of(timeline: &'a Timeline, doubled: u32, count: usize, cells: Vec<[u32; 2]>) -> Self {
        let requests = |cells: &[[u32; 2]]| effective_units(cells.iter().map(|cell| cell[0]));
        let effective = cells.chunks(timeline.units.len()).map(requests).collect();
        let slow = timeline.units.iter().map(|unit| unit.slow.len()).sum::<usize>() as f64;
        Self { timeline, doubled, count, cells, effective, slow }
    }

    /// How wide they are.
    pub(super) const fn width(&self) -> Nanoseconds {
        Nanoseconds(self.timeline.width.0 << self.doubled)
    }

    /// How many units there are.
    pub(super) const fn units(&self) -> usize {
        self.timeline.units.len()
    }

    /// How many requests each unit has.
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.timeline.units.iter().map(|unit| unit.window_of.len())
    }

    /// All requests.
    pub(super) fn requests(&self) -> f64 {
        self.lengths().sum::<usize>() as f64
    }

    /// All slow requests.
    pub(super) const fn slow(&self) -> f64 {
        self.slow
    }

    /// How many slow requests lie in coincident windows, if those of each unit are moved on by its offset among its requests.
    pub(super) fn coincident(&self, offsets: &[u32], placed: &mut Placed) -> f64 {
        for counts in [&mut placed.slow, &mut placed.struck] {
            counts.clear();
            counts.resize(self.count, 0);
        }
        for (unit, offset) in self.timeline.units.iter().zip(offsets) {
            let requests = unit.window_of.len();
            // Windows come in the order of time, with one turn from the last to the first.
            let (mut first, mut before) = (u32::MAX, u32::MAX);
            for place in &unit.slow {
                let moved = *place as usize + *offset as usize;
                let moved = if moved >= requests { moved - requests } else { moved };
                let window = unit.window_of[moved] >> self.doubled;
                placed.slow[window as usize] += 1;
                if window != before && window != first {
                    placed.struck[window as usize] += 1;
                }
                first = if first == u32::MAX { window } else { first };
                before = window;
            }
        }
        let inside = (0..self.count).filter(|window| self.is_coincident(placed, *window));
        inside.map(|window| f64::from(placed.slow[window])).sum()
    }

    /// Which windows are coincident.
    pub(super) fn which(&self, placed: &Placed) -> Vec<bool> {
        (0..self.count).map(|window| self.is_coincident(placed, window)).collect()
    }

    /// A window is coincident if its slow requests are of half as many units as they would be if they struck requests
    /// whoever serves them, and of two at least.
    fn is_coincident(&self, placed: &Placed, window: usize) -> bool {
        let (struck, slow) = (placed.struck[window], placed.slow[window]);
        if struck < 2 {
            return false;
        }
        let (struck, slow, present) = (f64::from(struck), f64::from(slow), self.effective[window]);
        // At least U K ÷ (U + K) and at most the lesser of both are expected, which decides it mostly.
        if struck >= 0.5 * present.min(slow) {
            return true;
        }
        struck >= 0.5 * present * slow / (present + slow) && struck >= 0.5 * spread(present, slow)
    }

    /// Mean over runs of coincident windows, by slow requests, of units struck ÷ units that would be.
    pub(super) fn breadth(&self, is_coincident: &[bool]) -> f64 {
        let units = self.units();
        let (mut sum, mut all) = (0.0, 0.0);
        let mut window = 0;
        while window < self.count {
            if !is_coincident[window] {
                window += 1;
                continue;
            }
            let end = (window..self.count).find(|end| !is_coincident[*end]).unwrap_or(self.count);
            // What begins and ends it is part of it.
            let run = window.saturating_sub(1)..(end + 1).min(self.count);
            let mut counts = vec![[0_u32; 2]; units];
            for cells in self.cells[run.start * units..run.end * units].chunks(units) {
                for (count, cell) in counts.iter_mut().zip(cells) {
                    *count = [count[0] + cell[0], count[1] + cell[1]];
                }
            }
            let total = f64::from(counts.iter().map(|count| count[1]).sum::<u32>());
            let struck = counts.iter().filter(|count| count[1] > 0).count() as f64;
            let expected = spread(effective_units(counts.iter().map(|count| count[0])), total);
            sum += total * (struck / expected.max(1.0)).min(1.0);
            all += total;
            window = end;
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// χ over pairs of requests at different units in the same window, without the bias of counting a request with itself:
    /// `Σ_w Σ_{b≠c} r_bw r_cw ÷ Σ_w Σ_{b≠c} n_bw n_cw ÷ p + p` with `r = slow − n p_b`.
    pub(super) fn chi(&self) -> f64 {
        let share: Vec<f64> = self
            .timeline
            .units
            .iter()
            .map(|unit| unit.slow.len() as f64 / unit.window_of.len().max(1) as f64)
            .collect();
        let (mut products, mut pairs) = (0.0, 0.0);
        for cells in self.cells.chunks(self.units()) {
            let (mut sum, mut squares, mut requests, mut request_squares) = (0.0, 0.0, 0.0, 0.0);
            for ([all, slow], share) in cells.iter().zip(&share).filter(|(cell, _)| cell[0] > 0) {
                let n = f64::from(*all);
                let r = f64::from(*slow) - n * share;
                sum += r;
                squares += r * r;
                requests += n;
                request_squares += n * n;
            }
            products += sum * sum - squares;
            pairs += requests * requests - request_squares;
        }
        let p = self.slow / self.requests().max(1.0);
        if pairs > 0.0 && p > 0.0 { (products / pairs / p + p).clamp(0.0, 1.0) } else { p }
    }
}

/// How many units of equal size requests are spread over as they are over these: `n² ÷ Σ_b n_b²` (inverse Simpson index).
fn effective_units(requests: impl Iterator<Item = u32>) -> f64 {
    let (sum, squares) =
        requests.map(f64::from).fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// In how many of so many units of equal size slow requests are expected if they are spread over requests at random:
/// U (1 − (1 − 1 ÷ U)^K).
fn spread(units: f64, slow: f64) -> f64 {
    if units <= 1.0 { units } else { units * (1.0 - libm::pow(1.0 - 1.0 / units, slow)) }
}
