//! The way of a copy to its instance and back.

use observer_common::Nanoseconds;

/// What a path takes that nothing is wrong with. It is part of service times, and shows in round trips alone.
const ROUND_TRIP: Nanoseconds = Nanoseconds(100_000);

/// How often TCP sends again at most.
const MOST_LOSSES: u32 = 15;

/// The way of a copy to its instance and back, as far as it takes longer than it should.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::simulation) struct Path {
    /// How much longer the way there takes.
    pub(in crate::simulation) there: Nanoseconds,
    /// How much longer the way back takes.
    pub(in crate::simulation) back: Nanoseconds,
    added: Nanoseconds,
    requests_lost: Lost,
    answers_lost: Lost,
}

/// Losses in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lost {
    times: u32,
    timeout: Nanoseconds,
}

impl Lost {
    /// How long until it has been sent so many times again.
    fn until(self, times: u32) -> Nanoseconds {
        Nanoseconds(self.timeout.0.saturating_mul((1 << times.min(MOST_LOSSES)) - 1))
    }
}

impl Path {
    pub(super) fn lengthen(&mut self, added: Nanoseconds) {
        self.added.0 = self.added.0.saturating_add(added.0);
        self.there.0 = self.there.0.saturating_add(added.0 / 2);
        self.back.0 = self.back.0.saturating_add(added.0 - added.0 / 2);
    }

    /// The request, or else the answer, is lost so many times.
    pub(super) fn lose(&mut self, request: bool, times: u32, timeout: Nanoseconds) {
        let lost = Lost { times, timeout };
        let (way, losses) = if request {
            (&mut self.there, &mut self.requests_lost)
        } else {
            (&mut self.back, &mut self.answers_lost)
        };
        way.0 = way.0.saturating_add(lost.until(times).0);
        *losses = Lost { times: losses.times + times, timeout };
    }

    /// How often the connection sent again, once the answer has come.
    pub(in crate::simulation) const fn retransmits(&self) -> u32 {
        self.requests_lost.times + self.answers_lost.times
    }

    /// How often it did so long after the request left, while there is no answer.
    pub(in crate::simulation) fn retransmits_within(&self, waited: Nanoseconds) -> u32 {
        let lost = self.requests_lost;
        (1..=lost.times).take_while(|times| lost.until(*times) <= waited).fold(0, |_, times| times)
    }

    /// The round trip as TCP measures it.
    pub(in crate::simulation) const fn round_trip(&self) -> Nanoseconds {
        Nanoseconds(ROUND_TRIP.0.saturating_add(self.added.0))
    }
}

/// How often something is lost in a row, by coins that are drawn one after the other.
pub(super) fn losses(mut is_lost: impl FnMut() -> bool) -> u32 {
    (0..MOST_LOSSES).take_while(|_| is_lost()).fold(0, |times, _| times + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_doubles_the_wait() {
        let mut path = Path::default();
        path.lose(true, 3, Nanoseconds(100));
        assert_eq!((path.there, path.back), (Nanoseconds(700), Nanoseconds(0)));
        assert_eq!(path.retransmits(), 3);
        let seen = [0, 99, 100, 300, 699, 700, 9_000].map(|ns| path.retransmits_within(Nanoseconds(ns)));
        assert_eq!(seen, [0, 0, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_longer_way_is_in_the_round_trip_and_lost_time_is_not() {
        let mut path = Path::default();
        path.lengthen(Nanoseconds(5));
        path.lose(false, 1, Nanoseconds(100));
        assert_eq!((path.there, path.back), (Nanoseconds(2), Nanoseconds(103)));
        assert_eq!(path.round_trip(), Nanoseconds(ROUND_TRIP.0 + 5));
    }

    #[test]
    fn what_is_always_lost_ends_nevertheless() {
        assert_eq!(losses(|| true), MOST_LOSSES);
        assert_eq!(losses(|| false), 0);
    }
}
