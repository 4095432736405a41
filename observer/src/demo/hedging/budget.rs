//! How many copies there may be, as a rate.

use super::{Budget, Share};

/// A token is so many parts: shares of a token add up exactly.
const TOKEN: u64 = 1_000_000;

/// Every primary puts a share of a token in, every copy takes a whole one out.
///
/// It begins empty, so that at any moment copies ≤ share × primaries. What is not used is kept up to the burst: after a
/// quiet time, so many copies may leave at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenBucket {
    parts: u64,
    refill: u64,
    most: u64,
}

impl TokenBucket {
    pub(super) fn new(budget: Budget) -> Self {
        Self { parts: 0, refill: parts_of(budget.per_primary), most: u64::from(budget.burst.get()) * TOKEN }
    }

    /// A primary was sent.
    pub(super) fn refill(&mut self) {
        self.parts = (self.parts + self.refill).min(self.most);
    }

    /// Takes a token for a copy, if one is there.
    pub(super) fn take(&mut self) -> bool {
        let rest = self.parts.checked_sub(TOKEN);
        self.parts = rest.unwrap_or(self.parts);
        rest.is_some()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is from 0 to 1")]
fn parts_of(share: Share) -> u64 {
    (share.as_fraction() * TOKEN as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;

    fn bucket(percent: u8, burst: u32) -> TokenBucket {
        let burst = NonZeroU32::new(burst).unwrap();
        TokenBucket::new(Budget { per_primary: Share::percent(percent), burst })
    }

    #[test]
    fn five_percent_is_one_in_twenty_from_the_beginning_on() {
        let mut bucket = bucket(5, 10);
        let taken: Vec<usize> = (1..=60)
            .filter(|_| {
                bucket.refill();
                bucket.take()
            })
            .collect();
        assert_eq!(taken, [20, 40, 60]);
    }

    #[test]
    fn what_is_not_used_is_kept_up_to_the_burst() {
        let mut bucket = bucket(5, 3);
        (0..1_000).for_each(|_| bucket.refill());
        assert_eq!((0..10).filter(|_| bucket.take()).count(), 3);
    }

    #[test]
    fn nothing_is_nothing() {
        let mut bucket = bucket(0, 1);
        (0..1_000).for_each(|_| bucket.refill());
        assert!(!bucket.take());
    }

    proptest! {
        /// Whoever asks, in whatever order: copies ≤ share × primaries at any moment.
        #[test]
        fn copies_never_exceed_their_share_of_primaries(
            percent in 0_u8..=100,
            burst in 1_u32..50,
            steps in prop::collection::vec(any::<bool>(), 0..500),
        ) {
            let mut bucket = bucket(percent, burst);
            let (mut primaries, mut copies) = (0_u32, 0_u32);
            for is_primary in steps {
                if is_primary {
                    bucket.refill();
                    primaries += 1;
                } else {
                    copies += u32::from(bucket.take());
                }
                prop_assert!(100 * copies <= u32::from(percent) * primaries);
            }
        }
    }
}
