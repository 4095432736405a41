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

/// Any number with three significant digits: `0.0123`, `-4.50`, `1,234`.
pub(crate) fn significant(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() {
        return NOTHING.into();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let digits = match size {
        0.0 => "0".into(),
        size if size >= 0.999_5 => three_digits(size),
        size if size >= 0.099_95 => format!("{size:.3}"),
        size if size >= 0.009_995 => format!("{size:.4}"),
        size if size >= 0.000_999_5 => format!("{size:.5}"),
        size => format!("{size:.1e}"),
    };
    format!("{sign}{digits}")
}

/// A share in whole percent, as people say it: `92 %`.
pub(crate) fn whole_percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.5 { "< 1 %".into() } else { format!("{percent:.0} %") }
}

/// A budget in percent, with only the digits that it has: `5 %`, `2.5 %`.
pub(crate) fn short_percent(share: f64) -> String {
    let digits = format!("{:.2}", share * 100.0);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The name of a quantile: `p99`, `p99.9`.
pub(crate) fn quantile(share: f64) -> String {
    let digits = format!("{:.3}", share * 100.0);
    format!("p{}", digits.trim_end_matches('0').trim_end_matches('.'))
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

    #[test]
    fn any_number_has_three_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.012_34, "0.0123"),
            (0.999_9, "1.00"),
            (0.25, "0.250"),
            (-4.5, "-4.50"),
            (1_234.4, "1,234"),
            (0.000_012, "1.2e-5"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(significant(number), text);
        }
    }

    #[test]
    fn budgets_and_quantiles_have_the_digits_that_they_need() {
        assert_eq!((short_percent(0.05), short_percent(0.025)), ("5 %".into(), "2.5 %".into()));
        assert_eq!((short_percent(0.1), short_percent(1.0)), ("10 %".into(), "100 %".into()));
        assert_eq!(
            (quantile(0.99), quantile(0.999), quantile(0.9999)),
            ("p99".into(), "p99.9".into(), "p99.99".into())
        );
        assert_eq!((whole_percent(0.925), whole_percent(0.001)), ("92 %".into(), "< 1 %".into()));
    }
}
