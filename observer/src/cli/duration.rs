//! Durations on the command line.

use jiff::SignedDuration;

/// Reads a positive duration with its unit: `250us`, `10s`, `1m30s`.
pub(super) fn parse(text: &str) -> Result<SignedDuration, String> {
    if text.trim().parse::<f64>().is_ok() {
        return Err(format!("a duration needs a unit, such as '{0}s' or '{0}ms'", text.trim()));
    }
    match text.parse::<SignedDuration>() {
        Ok(duration) if duration.is_positive() => Ok(duration),
        Ok(_) => Err("it must be longer than nothing, such as '10s'".into()),
        Err(_) => Err("it is not a duration; write it like '250us', '10s' or '1m30s'".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        assert_eq!(parse("250us"), Ok(SignedDuration::from_micros(250)));
        assert_eq!(parse("10s"), Ok(SignedDuration::from_secs(10)));
        assert_eq!(parse("1m30s"), Ok(SignedDuration::from_secs(90)));
        assert_eq!(parse("60"), Err("a duration needs a unit, such as '60s' or '60ms'".into()));
    }

    #[test]
    fn a_duration_is_positive() {
        for text in ["0s", "-1s", "soon", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
