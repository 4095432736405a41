//! Where calls go.

/// Instances that answer the same.
pub trait Pool {
    /// One of them.
    type Instance: Clone + PartialEq;

    /// Where a primary goes; nothing where there is no instance.
    fn pick(&self) -> Option<Self::Instance>;

    /// Where a copy goes, whose primary went to `taken`.
    ///
    /// Never `taken`: if that instance is slow as a whole, the copy would be too. A pool that knows queues may also
    /// have none to offer while all others are busy.
    fn pick_other(&self, taken: &Self::Instance) -> Option<Self::Instance>;
}
