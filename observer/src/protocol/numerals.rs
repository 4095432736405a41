//! Numbers within names: what makes thousands of names out of one.

use super::text::{Case, Text};

/// Stands for a number.
pub(super) const PLACEHOLDER: &str = "{n}";

/// How many digits may follow a letter and still belong to the name: `v1`, `oauth2`, `base64`.
const NAME_DIGITS: usize = 2;

/// Writes a name with its numbers replaced.
pub(super) fn write(class: &mut Text, name: &[u8], case: Case) {
    let mut rest = name;
    while !rest.is_empty() {
        let letters = rest.iter().position(u8::is_ascii_digit).unwrap_or(rest.len());
        let (before, after) = rest.split_at(letters);
        class.push_cased(before, case);
        let digits = after.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        let belongs = digits <= NAME_DIGITS && before.last().is_some_and(u8::is_ascii_alphabetic);
        if belongs {
            class.push_ascii(number);
        } else if digits > 0 {
            class.push(PLACEHOLDER);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_replaced_and_names_stay() {
        for (name, expected) in [
            ("v1", "v1"),
            ("oauth2", "oauth2"),
            ("base64", "base64"),
            ("item-7", "item-{n}"),
            ("user123", "user{n}"),
            ("events_2024_01", "events_{n}_{n}"),
            ("42", "{n}"),
            ("1.2.3", "{n}.{n}.{n}"),
            ("", ""),
        ] {
            let mut class = Text::new();
            write(&mut class, name.as_bytes(), Case::Kept);
            assert_eq!(class.as_str(), expected);
        }
    }
}
