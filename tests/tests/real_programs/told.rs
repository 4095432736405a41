//! What a client knows of its exchanges, against what the observer says about them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use observer_tests::recording::Observed;

use crate::talk::Said;

/// An exchange as it has to be told.
pub(crate) struct Told {
    class: &'static str,
    /// The status, where the answer is a failure.
    failure: Option<&'static str>,
    said: Said,
}

impl Told {
    /// One that succeeded.
    pub(crate) fn fine(class: &'static str, said: Said) -> Self {
        Self { class, failure: None, said }
    }

    /// One that failed with this status.
    pub(crate) fn failed(class: &'static str, status: &'static str, said: Said) -> Self {
        Self { class, failure: Some(status), said }
    }
}

/// Every exchange of one connection is told in its order, with its class and status, exact to the byte, at a time
/// that lies between the client's own two readings of the clock.
pub(crate) fn check(protocol: &str, told: &[Told], seen: &[Observed]) -> Result<()> {
    for (index, told) in told.iter().enumerate() {
        let row = seen.get(index).with_context(|| format!("no row for {}", told.class))?;
        let said = &told.said;
        let (expected, found) = (
            (Some(protocol), Some(told.class), told.failure, told.failure.is_some(), "ok"),
            (
                row.protocol.as_deref(),
                row.class.as_deref(),
                row.status.as_deref(),
                row.failed,
                row.outcome.as_str(),
            ),
        );
        ensure!(expected == found, "row {index} says {found:?}, and the client {expected:?}");
        let (sizes, expected) =
            ((row.request_bytes, row.response_bytes), (said.request_bytes, said.response_bytes));
        ensure!(sizes == expected, "{} has {sizes:?} bytes instead of {expected:?}", told.class);
        let read = row.read_at().with_context(|| format!("the answer to {} was read", told.class))?;
        ensure!(
            said.before <= row.start && read <= said.after,
            "{} lasts from {:?} to {read:?}, and to its client from {:?} to {:?}",
            told.class,
            row.start,
            said.before,
            said.after
        );
    }
    ensure!(seen.len() == told.len(), "rows that nobody asked for: {:#?}", &seen[told.len()..]);
    Ok(())
}

/// How many exchanges there are of each class and status.
pub(crate) fn tally(exchanges: &[Observed]) -> BTreeMap<(String, String), usize> {
    let mut tally = BTreeMap::new();
    for row in exchanges {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        *tally.entry((text(&row.class), text(&row.status))).or_default() += 1;
    }
    tally
}
