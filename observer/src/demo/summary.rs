//! The figures of a run.

use observer_common::{Nanoseconds, Timestamp};

use super::{hedging::Second, records::RequestRecord, truth::Truth};

/// The figures of a run, in the terms of a simulation's outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Every request, from when it was due.
    pub all: Latencies,
    /// Those with a second copy. Each is the smaller of two latencies.
    pub hedged: Latencies,
    /// Those without.
    pub unhedged: Latencies,
    /// Copies for each request.
    pub hedged_share: f64,
    /// Copies that reached a replica, for each request.
    pub executions_per_request: f64,
    /// Requests without an answer.
    pub failed: usize,
}

impl Summary {
    pub(super) fn of(truth: &Truth) -> Self {
        let of = |wanted: &dyn Fn(&RequestRecord) -> bool| {
            Latencies::of(truth.requests.iter().filter(|request| wanted(request)))
        };
        let requests = truth.requests.len().max(1) as f64;
        let hedged = of(&|request| request.second == Second::Sent);
        Self {
            all: of(&|_| true),
            hedged_share: hedged.count() as f64 / requests,
            hedged,
            unhedged: of(&|request| request.second != Second::Sent),
            executions_per_request: truth.executions.len() as f64 / requests,
            failed: truth.requests.iter().filter(|request| request.winner.is_none()).count(),
        }
    }
}

/// How long requests took, from when they were due, failed ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies(Vec<Nanoseconds>);

impl Latencies {
    fn of<'a>(requests: impl Iterator<Item = &'a RequestRecord>) -> Self {
        let mut all: Vec<_> = requests.map(|request| between(request.due, request.ended)).collect();
        all.sort_unstable();
        Self(all)
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The smallest latency that a share of the requests does not exceed; nothing where there is no request.
    pub fn quantile(&self, share: f64) -> Option<Nanoseconds> {
        let count = self.0.len() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
        let rank = (share * count).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).copied()
    }
}

fn between(earlier: Timestamp, later: Timestamp) -> Nanoseconds {
    later.since(earlier).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_smallest_that_enough_do_not_exceed() {
        let latencies = Latencies((1..=200).map(Nanoseconds).collect());
        for (share, expected) in [(0.0, 1), (0.5, 100), (0.99, 198), (0.999, 200), (1.0, 200)] {
            assert_eq!(latencies.quantile(share), Some(Nanoseconds(expected)), "{share}");
        }
        assert_eq!(Latencies::default().quantile(0.5), None);
    }
}
