//! The periods in which something happens.

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::When;
use crate::simulation::{moment::Moment, random::exponential, rounding::nanoseconds};

/// A time in which something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulation) struct Period {
    pub(in crate::simulation) from: Moment,
    /// Not any more then.
    pub(in crate::simulation) to: Moment,
}

/// Which of the periods count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Every,
    /// One in so many, beginning with this one.
    OneIn {
        of: u64,
        from: u64,
    },
}

/// Periods in order, drawn as far as somebody has asked: a run need not have an end in sight.
#[derive(Clone, Debug)]
pub(in crate::simulation) struct Timetable {
    when: When,
    turn: Turn,
    random: Pcg64,
    /// Nothing happens from then on.
    end: Moment,
    periods: Vec<Period>,
    /// How many were drawn, with those that do not count.
    drawn: u64,
    /// From where on the next one is drawn; none if there is none.
    next: Option<Moment>,
}

impl Timetable {
    /// Of what happens until the end, with random numbers of its own.
    pub(in crate::simulation) fn new(when: When, random: Pcg64, end: Moment) -> Self {
        Self::in_turn(when, random, end, Turn::Every)
    }

    /// The same, of which not every period counts.
    pub(super) fn in_turn(when: When, mut random: Pcg64, end: Moment, turn: Turn) -> Self {
        let next = match when {
            When::Always | When::Random { .. } => 0,
            When::Window { from, .. } => from.0,
            When::Periodic { every, .. } => random.random_range(0..every.0.max(1)),
        };
        Self { when, turn, random, end, periods: Vec::new(), drawn: 0, next: Some(Moment(next)) }
    }

    /// The period that it is now.
    pub(in crate::simulation) fn now(&mut self, now: Moment) -> Option<Period> {
        self.first_ending_after(now).filter(|period| period.from <= now)
    }

    /// The first period that ends after a moment: it has begun, or is the next to begin.
    pub(in crate::simulation) fn first_ending_after(&mut self, at: Moment) -> Option<Period> {
        while self.periods.last().is_none_or(|last| last.to <= at) && self.draw() {}
        let place = self.periods.partition_point(|period| period.to <= at);
        self.periods.get(place).copied()
    }

    /// Draws one more period, if there is one.
    fn draw(&mut self) -> bool {
        let Some(next) = self.next.take() else { return false };
        let (from, to) = match self.when {
            When::Always => (next, self.end),
            When::Window { to, .. } => (next, Moment(to.0)),
            When::Periodic { length, .. } => (next, next.after(length)),
            When::Random { gap, length } => {
                let from = next.after(self.drawn_time(gap));
                (from, from.after(self.drawn_time(length)))
            }
        };
        if from >= self.end {
            return false;
        }
        self.next = match self.when {
            When::Always | When::Window { .. } => None,
            When::Periodic { every, .. } => Some(from.after(Nanoseconds(every.0.max(1)))),
            When::Random { .. } => Some(to),
        };
        let counts = match self.turn {
            Turn::Every => true,
            Turn::OneIn { of, from } => self.drawn % of == from,
        };
        self.drawn += 1;
        if counts && to > from {
            self.periods.push(Period { from, to: to.min(self.end) });
        }
        true
    }

    fn drawn_time(&mut self, mean: Nanoseconds) -> Nanoseconds {
        // A nanosecond at least, so that time goes on.
        nanoseconds((mean.0 as f64 * exponential(&mut self.random)).max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::conditions::{Dice, Purpose};

    const END: Moment = Moment(1_000_000);

    fn timetable(when: When, turn: Turn) -> Timetable {
        Timetable::in_turn(when, Dice::new(1).of(Purpose::Fault(0), 0, 0), END, turn)
    }

    fn all(mut timetable: Timetable) -> Vec<Period> {
        let next = |last: &Option<Period>| {
            let last = (*last)?;
            timetable.clone().first_ending_after(last.to)
        };
        let mut periods = Vec::new();
        let mut period = timetable.clone().first_ending_after(Moment(0));
        while let Some(found) = period {
            periods.push(found);
            period = next(&period);
        }
        assert_eq!(timetable.first_ending_after(END), None);
        periods
    }

    fn share_of_time(periods: &[Period]) -> f64 {
        periods.iter().map(|period| period.to.since(period.from).0 as f64).sum::<f64>() / END.0 as f64
    }

    #[test]
    fn periods_are_apart_in_order_and_end_with_the_run() {
        for when in [
            When::Always,
            When::Window { from: Nanoseconds(10), to: Nanoseconds(2_000_000) },
            When::Periodic { every: Nanoseconds(100), length: Nanoseconds(30) },
            When::Random { gap: Nanoseconds(200), length: Nanoseconds(300) },
        ] {
            let periods = all(timetable(when, Turn::Every));
            assert!(periods.iter().all(|period| period.from < period.to && period.to <= END), "{when:?}");
            assert!(periods.windows(2).all(|pair| pair[0].to <= pair[1].from), "{when:?}");
        }
    }

    #[test]
    fn they_take_the_share_of_time_that_they_should() {
        let periodic = When::Periodic { every: Nanoseconds(1_000), length: Nanoseconds(300) };
        assert!((share_of_time(&all(timetable(periodic, Turn::Every))) - 0.3).abs() < 0.001);
        let random = When::Random { gap: Nanoseconds(200), length: Nanoseconds(300) };
        assert!((share_of_time(&all(timetable(random, Turn::Every))) - 0.6).abs() < 0.05);
        assert_eq!(all(timetable(When::Always, Turn::Every)), [Period { from: Moment(0), to: END }]);
    }

    #[test]
    fn turns_share_all_periods_out() {
        let when = When::Random { gap: Nanoseconds(2_000), length: Nanoseconds(3_000) };
        let mut shared: Vec<_> =
            (0..3).flat_map(|from| all(timetable(when, Turn::OneIn { of: 3, from }))).collect();
        shared.sort_unstable_by_key(|period| period.from);
        assert_eq!(shared, all(timetable(when, Turn::Every)));
    }

    #[test]
    fn it_is_a_period_from_its_first_moment_to_before_its_last() {
        let mut window = timetable(When::Window { from: Nanoseconds(10), to: Nanoseconds(20) }, Turn::Every);
        let now = [9, 10, 19, 20].map(|at| window.now(Moment(at)).is_some());
        assert_eq!(now, [false, true, true, false]);
    }
}
