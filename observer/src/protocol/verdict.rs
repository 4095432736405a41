//! What the reader of a protocol says about a turn.

use super::LeftOut;

/// A reader's verdict. Class and status are in the buffers that it was given; empty means not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A request and its response.
    Exchange {
        /// Whether the answer is no answer to the request.
        failed: bool,
    },
    /// Nothing to be measured.
    LeftOut(LeftOut),
    /// The request does not begin as messages of this protocol do.
    Contradiction,
}

impl Verdict {
    /// An exchange that did not fail.
    pub(super) const FINE: Self = Self::Exchange { failed: false };
}
