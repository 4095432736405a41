//! What did not become an exchange, and why.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use crate::skip::shared;

/// How many turns were no certain pair, by reason: of the whole host, whichever exchanges were asked for.
#[derive(Clone, Debug)]
pub struct LeftOut(BTreeMap<String, u64>);

impl LeftOut {
    /// By these counts.
    pub fn new(mut counts: BTreeMap<String, u64>) -> Self {
        counts.retain(|_, count| *count > 0);
        Self(counts)
    }

    /// The count of one reason.
    pub fn count(&self, reason: &str) -> u64 {
        self.0.get(reason).copied().unwrap_or(0)
    }

    /// Takes up to so many of a reason away.
    #[must_use]
    pub fn without(mut self, reason: &str, most: u64) -> Self {
        if let Some(count) = self.0.get_mut(reason) {
            *count = count.saturating_sub(most);
        }
        Self::new(self.0)
    }

    /// These reasons have so many together, and no other reason has any. Where others use the host: at least so many.
    pub fn are(&self, reasons: &[&str], expected: u64) -> Result<()> {
        let found: u64 = reasons.iter().map(|reason| self.count(reason)).sum();
        if shared() {
            ensure!(found >= expected, "{found} left out as {reasons:?}, not {expected}: {self:?}");
        } else {
            let others = self.0.keys().filter(|reason| !reasons.contains(&reason.as_str())).count();
            ensure!(
                found == expected && others == 0,
                "{found} left out as {reasons:?}, not {expected}, or others: {self:?}"
            );
        }
        Ok(())
    }
}
