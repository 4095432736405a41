//! Random numbers that depend on what they are for and not on what was drawn before.

use rand_pcg::Pcg64;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulation) enum Purpose {
    /// A request's class.
    Class,
    /// Whether a request costs more.
    HiddenCost,
    /// When a fault strikes.
    Fault(usize),
    /// Which executions a dependency holds up, and how long.
    Dependency(usize),
    /// Which copies are lost.
    Loss(usize),
    /// When other clients are there, and ask.
    OtherTimes(u16),
    /// What another client's request is.
    OtherRequest(u16),
}

impl Purpose {
    fn words(self) -> [u64; 2] {
        match self {
            Self::Class => [1, 0],
            Self::HiddenCost => [2, 0],
            Self::Fault(number) => [3, number as u64],
            Self::Dependency(number) => [4, number as u64],
            Self::Loss(number) => [5, number as u64],
            Self::OtherTimes(number) => [6, number.into()],
            Self::OtherRequest(number) => [7, number.into()],
        }
    }
}

/// A seed from which every purpose has numbers of its own: streams in which policies draw differently often would not
/// keep conditions the same for all of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulation) struct Dice {
    seed: u64,
}

impl Dice {
    pub(in crate::simulation) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The numbers for a purpose, of something with a number and a part of that.
    pub(in crate::simulation) fn of(self, purpose: Purpose, number: u64, part: u64) -> Pcg64 {
        let [kind, which] = purpose.words();
        let mixed =
            [kind, which, number, part].into_iter().fold(mix(self.seed), |state, word| mix(state ^ word));
        Pcg64::new(u128::from(mixed) << 64 | u128::from(mix(mixed)), 0)
    }
}

/// A step of `SplitMix64`: close numbers become unrelated ones.
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    #[test]
    fn numbers_are_even_and_those_of_neighbours_unrelated() {
        let draw = |number| Dice::new(1).of(Purpose::Class, number, 0).random::<f64>();
        let count = 100_000_u32;
        let numbers: Vec<_> = (0..u64::from(count)).map(draw).collect();
        let mean = numbers.iter().sum::<f64>() / f64::from(count);
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        let product = numbers.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).sum::<f64>();
        // The variance of one is 1 ÷ 12, and that of a product of two its square.
        let correlation = product / f64::from(count) * 12.0;
        assert!(correlation.abs() < 5.0 / f64::from(count).sqrt(), "{correlation}");
    }

    #[test]
    fn every_purpose_has_numbers_of_its_own() {
        let purposes = [
            Purpose::Class,
            Purpose::HiddenCost,
            Purpose::Fault(0),
            Purpose::Fault(1),
            Purpose::Dependency(0),
            Purpose::Loss(0),
            Purpose::OtherTimes(0),
            Purpose::OtherRequest(0),
        ];
        let mut drawn: Vec<_> = purposes.map(|purpose| Dice::new(1).of(purpose, 0, 0).random::<u64>()).into();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), purposes.len());
    }
}
