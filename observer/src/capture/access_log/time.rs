//! Moments and durations as logs write them.

use jiff::{fmt::strtime, tz::Offset};
use observer_common::{Nanoseconds, Timestamp};

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// Seconds with up to nine decimals: `0.123`.
pub(super) fn seconds(text: &str) -> Option<Nanoseconds> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 9 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanoseconds = format!("{decimals:0<9}").parse().ok()?;
    number(whole)?.checked_mul(SECOND)?.checked_add(nanoseconds).map(Nanoseconds)
}

/// Whole milliseconds.
pub(super) fn milliseconds(text: &str) -> Option<Nanoseconds> {
    number(text)?.checked_mul(MILLISECOND).map(Nanoseconds)
}

/// A whole number in digits alone.
pub(super) fn number(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// A moment with the offset of its time zone: `28/Jul/2025:10:14:14 +0200`.
pub(super) fn common(text: &str) -> Option<Timestamp> {
    since_1970(strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).ok()?.to_timestamp().ok()?)
}

/// A moment without time zone, taken as UTC: `28/Jul/2025:10:14:14.655`.
pub(super) fn local(text: &str) -> Option<Timestamp> {
    let moment = strtime::parse("%d/%b/%Y:%H:%M:%S%.f", text).ok()?.to_datetime().ok()?;
    since_1970(Offset::UTC.to_timestamp(moment).ok()?)
}

/// A moment as RFC 3339 writes it.
pub(super) fn rfc3339(text: &str) -> Option<Timestamp> {
    since_1970(text.parse().ok()?)
}

/// Whether a text is written as [`common`] reads it, be there such a moment or not.
pub(super) fn is_like_common(text: &str) -> bool {
    is_like(text, "00/Mon/0000:00:00:00 +0000") || is_like(text, "00/Mon/0000:00:00:00 -0000")
}

/// Whether a text is written as [`local`] reads it, be there such a moment or not.
pub(super) fn is_like_local(text: &str) -> bool {
    let (moment, decimals) = text.split_once('.').unwrap_or((text, "0"));
    is_like(moment, "00/Mon/0000:00:00:00") && number(decimals).is_some()
}

/// Whether a text begins as RFC 3339 has it, be there such a moment or not.
pub(super) fn is_like_rfc3339(text: &str) -> bool {
    const BEGIN: &str = "0000-00-00T00:00:00";
    text.get(..BEGIN.len()).is_some_and(|begin| is_like(begin, BEGIN))
}

/// Whether a text has digits where `pattern` has, letters where it has, and else the same.
fn is_like(text: &str, pattern: &str) -> bool {
    let same = |(found, wanted): (u8, u8)| match wanted {
        b'0' => found.is_ascii_digit(),
        letter if letter.is_ascii_alphabetic() => found.is_ascii_alphabetic(),
        other => found == other,
    };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(same)
}

fn since_1970(moment: jiff::Timestamp) -> Option<Timestamp> {
    u64::try_from(moment.as_nanosecond()).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(seconds("0.123"), Some(Nanoseconds(123_000_000)));
        assert_eq!(seconds("1753690454.655"), Some(Nanoseconds(1_753_690_454_655_000_000)));
        assert_eq!(seconds("7"), Some(Nanoseconds(7_000_000_000)));
        assert_eq!(milliseconds("12"), Some(Nanoseconds(12_000_000)));
        for no in ["", "-", ".5", "-1", "+1", "1e3", "1.0000000001", "99999999999999999999", "18446744074"] {
            assert_eq!(seconds(no), None, "{no}");
        }
        assert_eq!(milliseconds("18446744073710"), None);
    }

    #[test]
    fn moments() {
        let expected = Some(Timestamp(1_753_690_454_000_000_000));
        assert_eq!(common("28/Jul/2025:10:14:14 +0200"), expected);
        assert_eq!(local("28/Jul/2025:08:14:14"), expected);
        assert_eq!(local("28/Jul/2025:08:14:14.655"), Some(Timestamp(1_753_690_454_655_000_000)));
        assert_eq!(rfc3339("2025-07-28T10:14:14+02:00"), expected);
        for no in ["", "28/Jul/2025", "31/Feb/2025:10:14:14 +0200", "28/Jul/1925:10:14:14 +0200"] {
            assert_eq!((common(no), local(no), rfc3339(no)), (None, None, None), "{no}");
        }
    }

    #[test]
    fn what_cannot_be_may_look_like_a_moment() {
        let looks = |text| (is_like_common(text), is_like_local(text), is_like_rfc3339(text));
        assert_eq!(looks("31/Feb/2025:25:14:14 +9900"), (true, false, false));
        assert_eq!(looks("31/Feb/2025:25:14:14.655"), (false, true, false));
        assert_eq!(looks("2025-02-31T10:14:14.655+99:00"), (false, false, true));
        for no in ["", "28/Jul/2025", "28/07/2025:10:14:14 +0200", "2025-07-28 10:14:14", "14389"] {
            assert_eq!(looks(no), (false, false, false), "{no}");
        }
    }
}
