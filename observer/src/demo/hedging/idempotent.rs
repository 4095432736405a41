//! What may be executed twice.

/// A call whose effect is the same whether it is executed once or twice.
///
/// Cancelling a copy undoes nothing that it has done. So this is not for the client to find out: whoever makes one of
/// these says so. Reads are, as are writes with a key by which the server tells duplicates.
#[derive(Clone, Copy, Debug)]
pub struct Idempotent<F>(F);

impl<F> Idempotent<F> {
    /// Vouches for `call`.
    pub const fn vouch(call: F) -> Self {
        Self(call)
    }

    pub(super) fn into_inner(self) -> F {
        self.0
    }
}
