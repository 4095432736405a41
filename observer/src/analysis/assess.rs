//! From the latest exchanges of a service to its assessment.

use super::{Context, Question, model::Assessment};
use crate::{exchange::Names, ledger::Row};

/// Assesses a service by its latest exchanges, which are sorted by start.
pub fn assess(rows: &[Row], _names: &Names, _context: &Context<'_>, question: &Question) -> Assessment {
    Assessment::insufficient(rows.len() as u64, "this version gives no verdict".into(), question)
}
