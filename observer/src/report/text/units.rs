//! Numbers as people write them.

/// What stands where nothing was measured.
pub(crate) const NOTHING: &str = "-";

/// A duration in seconds with three significant digits and a fitting unit: `412 µs`, `1.03 ms`.
pub(crate) fn duration(seconds: f64) -> String {
    for (unit, scale) in [("ns", 1e9), ("µs", 1e6), ("ms", 1e3)] {
        if seconds * scale < 999.5 {
            return format!("{} {unit}", three_digits(seconds * scale));
        }
    }
    if seconds < 999.5 {
        return format!("{} s", three_digits(seconds));
    }
    format!("{} min", three_digits(seconds / 60.0))
}

/// [`duration`], where it is known.
pub(crate) fn known_duration(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| NOTHING.into(), duration)
}

/// [`known_duration`], marked where it is only a lower bound.
pub(crate) fn bound(seconds: Option<f64>, at_least: bool) -> String {
    if at_least { format!("≥ {}", known_duration(seconds)) } else { known_duration(seconds) }
}

/// A positive number with three significant digits; more where it is large.
pub(crate) fn three_digits(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    // Rounding may add a digit, hence the bounds below the powers of ten.
    match number {
        number if number < 9.995 => format!("{number:.2}"),
        number if number < 99.95 => format!("{number:.1}"),
        number => grouped(&format!("{number:.0}")),
    }
}

/// A count with its thousands apart: `1,234,567`.
pub(crate) fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// A rate in the unit of one second: `1,234/s`.
pub(crate) fn rate(per_second: Option<f64>) -> String {
    per_second.map_or_else(|| NOTHING.into(), |rate| format!("{}/s", three_digits(rate)))
}

/// A share in percent with two digits that count: `0.12 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".into(),
        percent if percent < 0.01 => "< 0.01 %".into(),
        percent if percent < 0.995 => format!("{percent:.2} %"),
        percent => format!("{percent:.1} %"),
    }
}

fn grouped(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_and_a_fitting_unit() {
        for (seconds, text) in [
            (0.0, "0 ns"),
            (1e-9, "1.00 ns"),
            (950e-9, "950 ns"),
            (999.7e-9, "1.00 µs"),
            (13.25e-6, "13.2 µs"),
            (412.4e-6, "412 µs"),
            (1.0349e-3, "1.03 ms"),
            (9.996e-3, "10.0 ms"),
            (2.5, "2.50 s"),
            (120.0, "120 s"),
            (3_600.0, "60.0 min"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn counts_and_rates_have_their_thousands_apart() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(rate(Some(0.25)), "0.25/s");
        assert_eq!(rate(Some(12_345.6)), "12,346/s");
        assert_eq!(rate(None), "-");
    }

    #[test]
    fn a_small_share_is_not_called_none() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_01), "< 0.01 %");
        assert_eq!(percent(0.001_24), "0.12 %");
        assert_eq!(percent(0.5), "50.0 %");
    }
}
