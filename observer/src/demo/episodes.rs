//! When a fault is on: reproducible from a seed.

use std::time::Duration;

use jiff::fmt::serde::unsigned_duration::friendly::compact::required as text;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use serde::{Deserialize, Serialize};

use crate::quantity::Share;

/// One time for which a fault is on, counted from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Episode {
    /// When it begins.
    pub(super) begin: Duration,
    /// How long it lasts.
    pub(super) length: Duration,
}

impl Episode {
    /// When it ends.
    pub(super) fn end(self) -> Duration {
        self.begin + self.length
    }
}

/// Episodes of random length that take up a share of the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Episodes {
    /// Decides when they are.
    pub(super) seed: u64,
    /// How much of the time the fault is on.
    pub(super) share: Share,
    /// The shortest one.
    #[serde(with = "text")]
    pub(super) shortest: Duration,
    /// The longest one.
    #[serde(with = "text")]
    pub(super) longest: Duration,
}

impl Episodes {
    /// Without end, one after another, each followed by a pause that is in proportion to it.
    pub(super) fn iter(self) -> impl Iterator<Item = Episode> {
        let mut random = SmallRng::seed_from_u64(self.seed);
        let share = self.share.as_fraction();
        let mut time = Duration::ZERO;
        // Without any share there is no first one.
        std::iter::from_fn(move || {
            (share > 0.0).then(|| {
                let length = random.random_range(self.shortest..=self.longest);
                let gap = length.mul_f64((1.0 - share) / share * random.random_range(0.5..=1.5));
                let begin = time + gap;
                time = begin + length;
                Episode { begin, length }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episodes(seed: u64, percent: u8) -> Episodes {
        let (shortest, longest) = (Duration::from_millis(150), Duration::from_millis(300));
        Episodes { seed, share: Share::percent(percent), shortest, longest }
    }

    #[test]
    fn a_seed_decides_everything() {
        let first = |seed| episodes(seed, 20).iter().take(20).collect::<Vec<_>>();
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
    }

    #[test]
    fn they_do_not_overlap_and_take_up_their_share() {
        for percent in [5, 30, 80, 100] {
            let all: Vec<_> = episodes(1, percent).iter().take(2_000).collect();
            assert!(all.windows(2).all(|pair| pair[0].end() <= pair[1].begin));
            let on: Duration = all.iter().map(|episode| episode.length).sum();
            let share = on.as_secs_f64() / all[1_999].end().as_secs_f64();
            // A gap's length has a relative standard deviation below 0.4: 1 % after 2,000 of them.
            assert!((share / (f64::from(percent) / 100.0) - 1.0).abs() < 0.03, "{percent}: {share}");
        }
    }

    #[test]
    fn no_share_is_no_episode() {
        assert_eq!(episodes(1, 0).iter().next(), None);
    }
}
