//! The span of time that a report is about.

use observer_common::{Nanoseconds, Timestamp};

use super::model::Window;
use crate::{ledger::Counts, provenance::Provenance};

/// The observed span of time, on the exchanges' clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: Timestamp,
    /// Its length.
    pub(super) duration: Nanoseconds,
}

impl Span {
    /// What the source says, or from the first start to the last end.
    pub(super) fn of(provenance: &Provenance, total: &Counts) -> Self {
        if let Some(window) = provenance.window {
            return Self { start: window.start, duration: window.duration };
        }
        match total.last_end.since(total.first_start) {
            Some(duration) => Self { start: total.first_start, duration },
            None => Self { start: Timestamp(0), duration: Nanoseconds(0) },
        }
    }

    /// The same in wall-clock time.
    pub(super) fn window(self, provenance: &Provenance) -> Window {
        let offset = provenance.window.and_then(|window| window.wall_offset_ns);
        let wall = |time: u64| {
            let nanoseconds = i128::from(time) + i128::from(offset?);
            let time = jiff::Timestamp::from_nanosecond(nanoseconds).ok()?;
            let rounded = time.round(jiff::Unit::Millisecond).ok()?;
            Some(rounded.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
        };
        Window {
            start: wall(self.start.0),
            end: wall(self.start.0.saturating_add(self.duration.0)),
            duration_s: self.duration.as_seconds(),
        }
    }

    /// How long after its beginning a time is.
    pub(super) fn seconds_until(self, time: Timestamp) -> f64 {
        time.since(self.start).unwrap_or_default().as_seconds()
    }
}
