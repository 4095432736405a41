//! How long it takes to serve a request, once its turn has come.

mod empirical;
mod shape;

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

pub use self::{
    empirical::{Empirical, EmpiricalError},
    shape::Shape,
};
use super::Share;

/// A distribution of service times: a mixture of shapes, drawn anew for every copy of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceTime {
    parts: Vec<Part>,
    /// For each part, the share of it and all before it.
    cumulative: Vec<f64>,
}

/// One part of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// How many requests it is about.
    pub share: Share,
    /// What is added to every time.
    pub shift: Nanoseconds,
    /// How their times are distributed.
    pub shape: Shape,
}

/// A mixture that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ServiceTimeError {
    /// It has no parts.
    #[error("it has no parts; give at least one time, such as '10ms'")]
    Empty,
    /// Its shares do not add up.
    #[error("its shares add up to {:.4}%, not to 100%; correct one of them", sum * 100.0)]
    Sum {
        /// What they add up to.
        sum: f64,
    },
    /// It takes no time at all.
    #[error("all its times are zero; give at least one longer time")]
    Zero,
    /// Its mean is beyond what can be simulated.
    #[error("its mean is longer than an hour; check the units")]
    TooLong,
}

/// How far shares may be from adding up: enough for three shares of 33.3333%.
const TOLERANCE: f64 = 1e-5;

/// What a service takes at most on average.
const LONGEST_MEAN_NS: f64 = 3.6e12;

impl ServiceTime {
    /// A mixture whose shares add up to one.
    pub fn mixture(parts: Vec<Part>) -> Result<Self, ServiceTimeError> {
        if parts.is_empty() {
            return Err(ServiceTimeError::Empty);
        }
        let sum: f64 = parts.iter().map(|part| part.share.as_fraction()).sum();
        if (sum - 1.0).abs() > TOLERANCE {
            return Err(ServiceTimeError::Sum { sum });
        }
        let cumulative = parts
            .iter()
            .scan(0.0, |before, part| {
                *before += part.share.as_fraction() / sum;
                Some(*before)
            })
            .collect();
        let mixture = Self { parts, cumulative };
        match mixture.mean_ns() {
            mean if mean <= 0.0 => Err(ServiceTimeError::Zero),
            mean if mean > LONGEST_MEAN_NS => Err(ServiceTimeError::TooLong),
            _ => Ok(mixture),
        }
    }

    /// One shape alone.
    pub fn only(shape: Shape) -> Result<Self, ServiceTimeError> {
        Self::mixture(vec![Part { share: Share::ALL, shift: Nanoseconds(0), shape }])
    }

    /// Its parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The mean, in seconds.
    pub fn mean_seconds(&self) -> f64 {
        self.mean_ns() / 1e9
    }

    fn mean_ns(&self) -> f64 {
        let of = |part: &Part| part.share.as_fraction() * (part.shift.0 as f64 + part.shape.mean_ns());
        self.parts.iter().map(of).sum()
    }

    /// The share of requests that take longer than this.
    pub fn survival(&self, duration: Nanoseconds) -> f64 {
        let of = |part: &Part| match duration.0.checked_sub(part.shift.0) {
            Some(beyond) => part.share.as_fraction() * part.shape.survival(Nanoseconds(beyond)),
            None => part.share.as_fraction(),
        };
        self.parts.iter().map(of).sum::<f64>().min(1.0)
    }

    /// Draws one.
    #[inline]
    pub(super) fn draw(&self, random: &mut Pcg64) -> Nanoseconds {
        let part = if let [only] = self.parts.as_slice() {
            only
        } else {
            let drawn = random.random::<f64>();
            let place = self.cumulative.partition_point(|cumulative| *cumulative <= drawn);
            // Rounding may leave the last cumulative share a little below one.
            &self.parts[place.min(self.parts.len() - 1)]
        };
        Nanoseconds(part.shift.0.saturating_add(part.shape.draw(random).0))
    }
}

#[cfg(test)]
mod tests;
