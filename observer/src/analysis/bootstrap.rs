//! How much a figure varies: it is computed again from blocks of time drawn with repetition.
//!
//! Requests near each other in time share what made them slow, so that whole blocks are drawn (Künsch, 1989).

use rand::RngExt;
use rand_pcg::Pcg64;

use super::rounding::count;

/// So many blocks.
pub(super) const BLOCKS: usize = 40;

/// How often each block is drawn, draw after draw.
#[derive(Debug)]
pub(super) struct Bootstrap {
    draws: Vec<[u8; BLOCKS]>,
}

impl Bootstrap {
    /// So many draws.
    pub(super) fn new(draws: usize, random: &mut Pcg64) -> Self {
        let draw = |random: &mut Pcg64| {
            let mut times = [0_u8; BLOCKS];
            for _ in 0..BLOCKS {
                times[random.random_range(0..BLOCKS)] += 1;
            }
            times
        };
        Self { draws: (0..draws).map(|_| draw(random)).collect() }
    }

    /// The figure, draw after draw, ascending.
    pub(super) fn figures(&self, figure: impl Fn(&[u8; BLOCKS]) -> f64) -> Vec<f64> {
        let mut figures: Vec<f64> = self.draws.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures
    }

    /// The draws.
    pub(super) fn draws(&self) -> &[[u8; BLOCKS]] {
        &self.draws
    }
}

/// The middle 95 % of ascending figures.
pub(super) fn interval(figures: &[f64]) -> [f64; 2] {
    let Some(last) = figures.len().checked_sub(1) else { return [f64::NAN; 2] };
    let cut = count(figures.len() as f64 * 0.025);
    [figures[cut], figures[last - cut]]
}
