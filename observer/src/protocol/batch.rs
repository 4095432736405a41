//! Several commands that were sent together.

use super::text::{Case, Text};

/// The class of a request of several commands.
const BATCH: &str = "batch";

/// The commands that were seen in a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Commands<'a> {
    /// The name of the first, where it is known.
    first: Option<&'a [u8]>,
    seen: usize,
    different: bool,
    /// Whether there are several, seen or not.
    pub(super) batch: bool,
    /// Whether there may be some that were not seen.
    pub(super) cut: bool,
}

impl<'a> Commands<'a> {
    /// Takes in the next command.
    pub(super) fn add(&mut self, name: Option<&'a [u8]>) {
        if self.seen == 0 {
            self.first = name;
        }
        let same =
            matches!((self.first, name), (Some(first), Some(name)) if first.eq_ignore_ascii_case(name));
        self.different |= !same;
        self.seen += 1;
    }

    /// The name of the first, where it is known.
    pub(super) const fn first(&self) -> Option<&'a [u8]> {
        self.first
    }

    /// How many were seen.
    pub(super) const fn seen(&self) -> usize {
        self.seen
    }

    /// The name that all of them have.
    pub(super) fn common(&self) -> Option<&'a [u8]> {
        if self.different { None } else { self.first }
    }
}

/// Writes the class of several commands: their name where all have the same, with the mark of a cut where not
/// all were seen.
pub(super) fn write(class: &mut Text, common: Option<&[u8]>, case: Case, cut: bool) {
    class.push(BATCH);
    if let Some(name) = common {
        class.push_byte(b' ');
        class.push_cased(name, case);
        if cut {
            class.cut();
        }
    }
}
