//! When requests arrive.

use std::num::NonZeroU32;

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::{Rate, Share, moment::Moment, random::exponential, rounding::nanoseconds};

/// When requests arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Independently of each other, at this rate.
    Poisson(Rate),
    /// As Poisson, at a rate that changes between two values.
    Bursty(Bursts),
    /// Each client asks again once it has its answer and has thought about it.
    ClosedLoop {
        /// How many clients there are.
        clients: NonZeroU32,
        /// How long a client thinks, on average; exponentially distributed.
        think: Nanoseconds,
    },
}

/// A Poisson process whose rate is high in bursts and low between them (two-state Markov-modulated). Both last
/// exponentially distributed times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    rate: Rate,
    factor: f64,
    share: Share,
    length: Nanoseconds,
}

/// Bursts that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BurstsError {
    /// They bring more requests than there are, or are no bursts.
    #[error(
        "bursts must be more than 1 times the mean rate and at most 1 ÷ their share of the time; make factor or \
         share smaller"
    )]
    Factor,
    /// They are never, or always.
    #[error("the share of time with bursts must lie between 0% and 100%; take 10%, for instance")]
    Share,
    /// They are so short that most hold no request.
    #[error("on average a burst holds less than one request; make it longer")]
    Length,
}

impl Bursts {
    /// Requests at `rate` on average, at `factor` times that in bursts, which take a `share` of the time and last
    /// `length` on average.
    pub fn new(rate: Rate, factor: f64, share: Share, length: Nanoseconds) -> Result<Self, BurstsError> {
        let part = share.as_fraction();
        if part <= 0.0 || part >= 1.0 {
            return Err(BurstsError::Share);
        }
        if !(factor > 1.0 && factor * part <= 1.0) {
            return Err(BurstsError::Factor);
        }
        if length.as_seconds() * rate.as_per_second() * factor < 1.0 {
            return Err(BurstsError::Length);
        }
        Ok(Self { rate, factor, share, length })
    }

    /// How many times the mean rate requests arrive in a burst.
    pub const fn factor(&self) -> f64 {
        self.factor
    }

    /// Which share of the time bursts take.
    pub const fn share(&self) -> Share {
        self.share
    }

    /// How long a burst lasts on average.
    pub const fn length(&self) -> Nanoseconds {
        self.length
    }
}

impl Arrivals {
    /// The mean rate, where it does not depend on the answers.
    pub const fn rate(&self) -> Option<Rate> {
        match self {
            Self::Poisson(rate) => Some(*rate),
            Self::Bursty(bursts) => Some(bursts.rate),
            Self::ClosedLoop { .. } => None,
        }
    }

    /// The same at another mean rate; a closed loop has none.
    #[must_use]
    pub fn at_rate(&self, rate: Rate) -> Self {
        match *self {
            Self::Poisson(_) => Self::Poisson(rate),
            // In time that is stretched as much, a burst holds as many requests as before.
            Self::Bursty(bursts) => {
                let stretched = bursts.length.0 as f64 * bursts.rate.as_per_second() / rate.as_per_second();
                Self::Bursty(Bursts { rate, length: nanoseconds(stretched), ..bursts })
            }
            Self::ClosedLoop { clients, think } => Self::ClosedLoop { clients, think },
        }
    }
}

/// Finds the next arrival where answers have no influence on it.
#[derive(Debug)]
pub(super) enum OpenLoop {
    Poisson { gap_ns: f64 },
    Bursty(Modulated),
}

/// The mean time between two, in nanoseconds.
pub(super) const fn mean_gap_ns(rate: Rate) -> f64 {
    1e9 / rate.as_per_second()
}

impl OpenLoop {
    /// The process behind `arrivals`, if there is one.
    pub(super) fn new(arrivals: &Arrivals, random: &mut Pcg64) -> Option<Self> {
        match arrivals {
            Arrivals::Poisson(rate) => Some(Self::Poisson { gap_ns: mean_gap_ns(*rate) }),
            Arrivals::Bursty(bursts) => Some(Self::Bursty(Modulated::new(bursts, random))),
            Arrivals::ClosedLoop { .. } => None,
        }
    }

    /// The first arrival after `now`.
    pub(super) fn next(&mut self, now: Moment, random: &mut Pcg64) -> Moment {
        match self {
            Self::Poisson { gap_ns } => now.after(nanoseconds(*gap_ns * exponential(random))),
            Self::Bursty(modulated) => modulated.next(now, random),
        }
    }
}

/// Two rates in turn.
#[derive(Debug)]
pub(super) struct Modulated {
    /// Mean gap and mean length, within bursts and between them.
    states: [(f64, f64); 2],
    state: usize,
    until: Moment,
}

impl Modulated {
    const BURST: usize = 0;

    fn new(bursts: &Bursts, random: &mut Pcg64) -> Self {
        let share = bursts.share.as_fraction();
        let (mean, length) = (mean_gap_ns(bursts.rate), bursts.length.0 as f64);
        // The rest of the requests in the rest of the time; where there is none, the gap is infinite.
        let calm = mean * (1.0 - share) / (1.0 - share * bursts.factor);
        let states = [(mean / bursts.factor, length), (calm, length * (1.0 - share) / share)];
        let state = usize::from(random.random::<f64>() >= share);
        let until = Moment(0).after(nanoseconds(states[state].1 * exponential(random)));
        Self { states, state, until }
    }

    fn next(&mut self, mut now: Moment, random: &mut Pcg64) -> Moment {
        loop {
            let arrival = now.after(nanoseconds(self.states[self.state].0 * exponential(random)));
            // Beyond the change of rate the exponential distribution has no memory: it is drawn anew from there.
            if arrival <= self.until || self.until == Moment(u64::MAX) {
                return arrival;
            }
            now = self.until;
            self.state = if self.state == Self::BURST { 1 } else { Self::BURST };
            self.until = now.after(nanoseconds(self.states[self.state].1 * exponential(random)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::random::Streams;

    fn rate(per_second: f64) -> Rate {
        Rate::per_second(per_second).unwrap()
    }

    fn share(part: f64) -> Share {
        Share::new(part).unwrap()
    }

    fn times(arrivals: &Arrivals, count: usize) -> Vec<Moment> {
        let mut random = Streams::new(1).arrivals;
        let mut process = OpenLoop::new(arrivals, &mut random).unwrap();
        let mut now = Moment(0);
        (0..count)
            .map(|_| {
                now = process.next(now, &mut random);
                now
            })
            .collect()
    }

    /// Variance ÷ mean of the arrivals in a second: 1 for Poisson.
    fn dispersion(times: &[Moment]) -> f64 {
        let seconds = times.last().unwrap().0 / 1_000_000_000;
        let mut counts = vec![0.0; usize::try_from(seconds).unwrap() + 1];
        for time in times {
            counts[usize::try_from(time.0 / 1_000_000_000).unwrap()] += 1.0;
        }
        counts.pop();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64 / mean
    }

    #[test]
    fn poisson_arrivals_keep_their_rate_and_disperse_as_much_as_their_mean() {
        let times = times(&Arrivals::Poisson(rate(100.0)), 100_000);
        let seconds = times.last().unwrap().0 as f64 / 1e9;
        // The standard error of the time of the hundred-thousandth arrival is 1 s ÷ √10.
        assert!((seconds - 1_000.0).abs() < 16.0, "{seconds}");
        let dispersion = dispersion(&times);
        assert!((0.78..1.22).contains(&dispersion), "{dispersion}");
    }

    #[test]
    fn bursts_keep_the_mean_rate_and_disperse_more() {
        let bursts = Bursts::new(rate(100.0), 5.0, share(0.1), Nanoseconds(1_000_000_000)).unwrap();
        let times = times(&Arrivals::Bursty(bursts), 1_000_000);
        let seconds = times.last().unwrap().0 as f64 / 1e9;
        // Cycles of 10 s, whose counts vary as much as their mean: about 3 % over a thousand of them.
        assert!((8_500.0..11_500.0).contains(&seconds), "{seconds}");
        assert!(dispersion(&times) > 50.0);
    }

    #[test]
    fn all_requests_may_come_in_bursts() {
        let bursts = Bursts::new(rate(100.0), 4.0, share(0.25), Nanoseconds(1_000_000_000)).unwrap();
        let times = times(&Arrivals::Bursty(bursts), 10_000);
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(times.last().unwrap().0 < 1_000_000_000_000);
    }

    #[test]
    fn bursts_that_cannot_be_are_refused() {
        let second = Nanoseconds(1_000_000_000);
        for factor in [1.0, 11.0, f64::NAN] {
            assert_eq!(Bursts::new(rate(1.0), factor, share(0.1), second), Err(BurstsError::Factor));
        }
        for part in [0.0, 1.0] {
            assert_eq!(Bursts::new(rate(1.0), 2.0, share(part), second), Err(BurstsError::Share));
        }
        assert_eq!(Bursts::new(rate(1.0), 2.0, share(0.1), Nanoseconds(1)), Err(BurstsError::Length));
    }

    #[test]
    fn another_rate_keeps_the_shape_of_bursts() {
        let second = Nanoseconds(1_000_000_000);
        let bursts = Bursts::new(rate(100.0), 5.0, share(0.1), second).unwrap();
        let slower = Bursts::new(rate(50.0), 5.0, share(0.1), Nanoseconds(2_000_000_000)).unwrap();
        assert_eq!(Arrivals::Bursty(bursts).at_rate(rate(50.0)), Arrivals::Bursty(slower));
    }
}
