//! Random choices that a seed decides.

use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Draws the numbers of a case.
#[derive(Debug)]
pub struct Draw(Pcg64);

impl Draw {
    /// The choices of one case of a family.
    pub fn new(family: &str, seed: u64) -> Self {
        // Families must not share their numbers: their systems would be alike.
        let mixed = family.bytes().fold(seed, |mixed, byte| {
            (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
        });
        Self(Pcg64::seed_from_u64(mixed))
    }

    /// A seed for something else.
    pub fn seed(&mut self) -> u64 {
        self.0.random()
    }

    /// A number, evenly.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.0.random::<f64>()
    }

    /// A positive number whose magnitude is drawn evenly.
    pub fn magnitude(&mut self, from: f64, to: f64) -> f64 {
        self.between(from.ln(), to.ln()).exp()
    }

    /// A whole number, evenly.
    pub fn whole(&mut self, range: RangeInclusive<u32>) -> u32 {
        self.0.random_range(range)
    }

    /// Whether something happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }

    /// One of several; there must be any.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    /// Different numbers below `of`; all if `count` is more.
    pub fn some_of(&mut self, count: u32, of: u32) -> Vec<u32> {
        let mut left: Vec<_> = (0..of).collect();
        let mut taken = Vec::new();
        while taken.len() < count as usize && !left.is_empty() {
            taken.push(left.swap_remove(self.0.random_range(0..left.len())));
        }
        taken.sort_unstable();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_and_a_seed_decide_everything() {
        let drawn = |family, seed| Draw::new(family, seed).seed();
        assert_eq!(drawn("a", 1), drawn("a", 1));
        assert_ne!(drawn("a", 1), drawn("b", 1));
        assert_ne!(drawn("a", 1), drawn("a", 2));
    }

    #[test]
    fn some_are_different_ones() {
        let mut draw = Draw::new("some", 1);
        assert_eq!(draw.some_of(9, 3), [0, 1, 2]);
        let mut some = draw.some_of(5, 20);
        some.dedup();
        assert_eq!(some.len(), 5);
    }
}
