use proptest::prelude::*;

use super::*;
use crate::simulation::random::Streams;

const MILLISECOND: u64 = 1_000_000;

fn part(of_all: f64, shift_ms: u64, shape: Shape) -> Part {
    Part { share: Share::new(of_all).unwrap(), shift: Nanoseconds(shift_ms * MILLISECOND), shape }
}

fn constant(ms: u64) -> Shape {
    Shape::Constant(Nanoseconds(ms * MILLISECOND))
}

/// Every shape that there is, also shifted and mixed.
fn all() -> Vec<ServiceTime> {
    let [a, b] = [5, 15].map(|ms| Nanoseconds(ms * MILLISECOND));
    let uniform = Shape::Uniform { from: a, to: b };
    let exponential = Shape::Exponential { mean: b };
    let log_normal = Shape::LogNormal { median: a, sigma: 1.0 };
    let times = [3, 3, 4, 9].map(|ms| Nanoseconds(ms * MILLISECOND)).to_vec();
    let measured = Shape::Empirical(Empirical::from_times(times).unwrap());
    let bounds = [1, 2, 4, 8].map(|ms| Nanoseconds(ms * MILLISECOND));
    let counted = Shape::Empirical(Empirical::from_histogram(&bounds, &[7, 0, 2]).unwrap());
    let mixture =
        vec![part(0.5, 0, constant(10)), part(0.3, 5, exponential.clone()), part(0.2, 1, log_normal.clone())];
    let mut all: Vec<_> = [constant(10), uniform, exponential, log_normal, measured, counted]
        .map(|shape| ServiceTime::only(shape).unwrap())
        .into();
    all.push(ServiceTime::mixture(mixture).unwrap());
    all
}

#[test]
fn what_is_drawn_has_the_mean_and_the_survival_that_are_told() {
    for service in all() {
        let mut random = Streams::new(3).primaries;
        let drawn: Vec<_> = (0..200_000).map(|_| service.draw(&mut random)).collect();
        let mean = drawn.iter().map(|time| time.as_seconds()).sum::<f64>() / drawn.len() as f64;
        assert!((mean / service.mean_seconds() - 1.0).abs() < 0.02, "{mean} of {service:?}");
        for ms in [1, 2, 4, 6, 9, 12, 20, 60] {
            let limit = Nanoseconds(ms * MILLISECOND);
            let longer = drawn.iter().filter(|time| **time > limit).count() as f64 / drawn.len() as f64;
            let expected = service.survival(limit);
            // Five standard errors of a share are at most 0.0056 here.
            assert!(
                (longer - expected).abs() < 0.005_6,
                "{longer} > {ms} ms, not {expected}, of {service:?}"
            );
        }
    }
}

#[test]
fn means_are_the_textbooks() {
    let mixture =
        ServiceTime::mixture(vec![part(0.98, 0, constant(10)), part(0.02, 0, constant(300))]).unwrap();
    assert!((mixture.mean_seconds() - 0.015_8).abs() < 1e-12);
    let log_normal = Shape::LogNormal { median: Nanoseconds(10 * MILLISECOND), sigma: 1.0 };
    let mean = ServiceTime::only(log_normal).unwrap().mean_seconds();
    assert!((mean - 0.010 * 0.5_f64.exp()).abs() < 1e-12);
}

#[test]
fn a_mixture_that_cannot_be_is_refused() {
    assert_eq!(ServiceTime::mixture(Vec::new()), Err(ServiceTimeError::Empty));
    let halves = vec![part(0.5, 0, constant(1)), part(0.4, 0, constant(2))];
    assert!(matches!(ServiceTime::mixture(halves), Err(ServiceTimeError::Sum { .. })));
    assert_eq!(ServiceTime::only(constant(0)), Err(ServiceTimeError::Zero));
    assert_eq!(ServiceTime::only(constant(3_600_001)), Err(ServiceTimeError::TooLong));
    let thirds = [1, 2, 3].map(|ms| part(0.333_333, 0, constant(ms))).to_vec();
    assert!(ServiceTime::mixture(thirds).is_ok());
}

#[test]
fn measurements_that_are_no_distribution_are_refused() {
    assert_eq!(Empirical::from_times(Vec::new()), Err(EmpiricalError::Empty));
    assert_eq!(Empirical::from_histogram(&[], &[]), Err(EmpiricalError::Empty));
    let [one, two] = [1, 2].map(Nanoseconds);
    assert_eq!(Empirical::from_histogram(&[one, two], &[0]), Err(EmpiricalError::Empty));
    assert_eq!(Empirical::from_histogram(&[two, one], &[1]), Err(EmpiricalError::Bounds));
    assert_eq!(Empirical::from_histogram(&[one, two], &[1, 1]), Err(EmpiricalError::Bounds));
}

proptest! {
    #[test]
    fn survival_never_rises(place in 0..7_usize, one in 0..100_000_000_u64, another in 0..100_000_000_u64) {
        let service = &all()[place];
        let (less, more) = (one.min(another), one.max(another));
        prop_assert!(service.survival(Nanoseconds(less)) >= service.survival(Nanoseconds(more)));
    }
}
