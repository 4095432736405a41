//! The latest exchanges of one service.

use std::sync::Arc;

use super::row::Row;

/// Rows of the latest exchanges.
///
/// They grow by half beyond what may be kept before the oldest ones are dropped, so that finding those costs little
/// for each row. A copy shares the rows with its original and keeps what comes later apart: a report of everything so
/// far costs no memory for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    rows: Arc<Vec<Row>>,
    /// Rows that came while `rows` was shared.
    later: Vec<Row>,
}

impl Recent {
    /// Takes in a row, and drops the oldest ones beyond `most` where there are too many.
    pub(super) fn add(&mut self, row: Row, most: usize) {
        let room = room(most);
        let rows = if let Some(rows) = Arc::get_mut(&mut self.rows) {
            rows.append(&mut self.later);
            rows
        } else {
            &mut self.later
        };
        push(rows, row, room);
        keep_latest(rows, room, most);
    }

    /// How many rows it holds.
    pub(super) fn len(&self) -> usize {
        self.rows.len() + self.later.len()
    }

    /// Gives up the older half of the rows.
    pub(super) fn halve(&mut self) {
        let most = self.len() / 2;
        let rows = Arc::make_mut(&mut self.rows);
        rows.append(&mut self.later);
        keep_latest(rows, most, most);
    }

    /// The latest rows, at most so many, in no order.
    pub(super) fn latest(&self, most: usize) -> Vec<Row> {
        let mut rows = Vec::with_capacity(self.len());
        rows.extend_from_slice(&self.rows);
        rows.extend_from_slice(&self.later);
        keep_latest(&mut rows, most, most);
        rows
    }
}

/// How many rows there may be before the oldest are dropped.
const fn room(most: usize) -> usize {
    most.saturating_add(most / 2)
}

/// Adds a row; memory grows to `room` and never beyond.
fn push(rows: &mut Vec<Row>, row: Row, room: usize) {
    if rows.len() == rows.capacity() {
        let wanted = rows.len().max(16).min(room.saturating_sub(rows.len()) + 1);
        rows.reserve_exact(wanted);
    }
    rows.push(row);
}

/// Drops the oldest rows beyond `most` if there are more than `room`.
fn keep_latest(rows: &mut Vec<Row>, room: usize, most: usize) {
    if rows.len() <= room {
        return;
    }
    if most == 0 {
        rows.clear();
        return;
    }
    // The whole row decides between equal starts, as it must not matter which one came first.
    rows.select_nth_unstable_by(most - 1, |one, other| other.cmp(one));
    rows.truncate(most);
}
