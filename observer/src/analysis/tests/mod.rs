//! The analysis against closed forms and published figures, against published failures, against itself, and with input
//! that makes no sense.

mod bad_input;
mod bootstrap;
mod bursts;
mod clusters;
mod coincidence;
mod concurrency;
mod counterfactual;
mod elevated;
mod failures;
mod given;
mod guards;
mod invariances;
mod kinds;
mod policies;
mod survival;
mod traffic;

use std::num::NonZeroU32;

use observer_common::{Nanoseconds, Outcome, Timestamp};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{
    model::{Action, Assessment, Cause},
    *,
};
use crate::quantity::Share;

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

fn share(part: f64) -> Share {
    Share::new(part).unwrap()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
fn seconds(number: f64) -> Nanoseconds {
    Nanoseconds((number * 1e9).round() as u64)
}

const fn ms(number: u64) -> Nanoseconds {
    Nanoseconds(number * 1_000_000)
}

fn random(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

fn chance(random: &mut Pcg64, probability: f64) -> bool {
    random.random::<f64>() < probability
}

/// Exponentially distributed.
fn exponential(random: &mut Pcg64, mean: f64) -> f64 {
    -mean * libm::log(1.0 - random.random::<f64>())
}

/// As many of a hundred calls as say so.
fn times(calls: u64, mut does: impl FnMut(u64) -> bool) -> usize {
    (0..calls).filter(|seed| does(*seed)).count()
}
