//! Whole numbers on the command line.

use std::{fmt::Display, str::FromStr};

/// Reads a whole number from `least` to `most`.
pub(super) fn whole<Number>(
    least: Number,
    most: Number,
) -> impl Fn(&str) -> Result<Number, String> + Clone + Send + Sync + 'static
where
    Number: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("write a whole number from {least} to {most}"))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn a_whole_number_is_within_bounds() {
        let number = whole(NonZeroU32::MIN, NonZeroU32::MAX);
        assert_eq!(number("7"), Ok(NonZeroU32::new(7).unwrap()));
        for wrong in ["0", "-1", "1e9", "1.5", "4294967296", "", "many"] {
            assert_eq!(number(wrong), Err("write a whole number from 1 to 4294967295".into()), "{wrong}");
        }
    }
}
