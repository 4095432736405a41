//! Summing up repeated runs.

/// The middle and the ends of a few values.
pub(super) struct Spread {
    pub(super) least: f64,
    pub(super) median: f64,
    pub(super) most: f64,
}

impl Spread {
    /// Of `values`; not a number where there are none.
    pub(super) fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            at(middle)
        } else {
            f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
        };
        Self { least: at(0), median, most: at(sorted.len().wrapping_sub(1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let shown = |values: &[f64]| {
            let Spread { least, median, most } = Spread::of(values);
            format!("{least} {median} {most}")
        };
        assert_eq!(shown(&[3.0, 1.0, 2.0]), "1 2 3");
        assert_eq!(shown(&[4.0, 1.0, 2.0, 3.0]), "1 2.5 4");
        assert_eq!(shown(&[]), "NaN NaN NaN");
    }
}
