//! The token bucket behind a hedging budget.

use super::policy::Budget;

/// A token in the unit that is counted, so that no share of one is rounded away.
const TOKEN: u64 = 1_000_000_000;

/// Tokens that calls add and hedges take.
#[derive(Debug)]
pub(super) struct TokenBucket {
    level: u64,
    per_call: u64,
    capacity: u64,
}

impl TokenBucket {
    /// An empty bucket.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is at most one")]
    pub(super) fn new(budget: &Budget) -> Self {
        let per_call = (budget.share.as_fraction() * TOKEN as f64).round() as u64;
        Self { level: 0, per_call, capacity: u64::from(budget.burst.get()) * TOKEN }
    }

    /// A call was made.
    pub(super) fn earn(&mut self) {
        self.level = (self.level + self.per_call).min(self.capacity);
    }

    /// Takes a token, if there is one.
    pub(super) const fn take(&mut self) -> bool {
        let enough = self.level >= TOKEN;
        if enough {
            self.level -= TOKEN;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;
    use crate::simulation::Share;

    fn bucket(share: f64, burst: u32) -> TokenBucket {
        TokenBucket::new(&Budget {
            share: Share::new(share).unwrap(),
            burst: NonZeroU32::new(burst).unwrap(),
        })
    }

    #[test]
    fn what_is_saved_is_bounded() {
        let mut bucket = bucket(0.5, 3);
        assert!(!bucket.take());
        (0..100).for_each(|_| bucket.earn());
        assert_eq!((0..10).filter(|_| bucket.take()).count(), 3);
    }

    proptest! {
        #[test]
        fn hedges_never_exceed_their_share(
            share in 0.0..=1.0_f64,
            burst in 1..1_000_u32,
            calls in proptest::collection::vec(any::<bool>(), 0..2_000),
        ) {
            let mut bucket = bucket(share, burst);
            let (mut made, mut hedged) = (0, 0);
            for hedge in calls {
                if hedge {
                    hedged += u64::from(bucket.take());
                } else {
                    bucket.earn();
                    made += 1;
                }
                prop_assert!(hedged as f64 <= share * f64::from(made) + 1e-5);
            }
        }
    }
}
