//! What a second copy would have done.

use super::{
    given::{CONTEXT, Given, slow},
    *,
};
use crate::analysis::{
    counterfactual::{Closeness, Counterfactual},
    kinds::Kinds,
    quantiles::Survival,
    races::{Effect, Trial},
    repeatable::Repeatable,
    samples::Samples,
};

/// As much as anybody could want.
const WITHOUT_LIMIT: Trial = Trial { budget: 1.0, burst: NonZeroU32::MAX, stress: 1.0 };

/// What second copies of all requests of these that are late after a delay would have done to a quantile.
fn effect(given: &Given, delay: Nanoseconds, trial: Trial, quantile: f64) -> Effect {
    let samples = given.samples();
    let kinds = Kinds::of_classes(&samples, |_| false);
    with(&samples, given, &kinds, |counterfactual| {
        counterfactual.races(delay, Closeness { late: 100_000, donors: 6 }).within(trial, quantile)
    })
}

fn with<T>(samples: &Samples, given: &Given, kinds: &Kinds, of: impl FnOnce(&Counterfactual<'_>) -> T) -> T {
    let repeatable = Repeatable::of(samples, &given.names, &CONTEXT, &Question::default());
    let survival = Survival::of(&samples.primaries);
    of(&Counterfactual::new(samples, &survival, kinds, &repeatable, ms(50)))
}

/// Where the survival function `beyond(t)` is one minus the quantile.
fn solve(quantile: f64, beyond: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > 1.0 - quantile { low = middle } else { high = middle }
    }
    low
}

/// Hedged and independent, F(t) + (1 − F(t)) F(t − d) are answered by t, with F(t) = 1 − e^(−t ÷ 10 ms).
#[test]
fn for_independent_requests_it_is_the_closed_form() {
    let given = Given::poisson(1, 5, 2_000.0, 30.0, |random, _, _| exponential(random, 0.01));
    let survival = |time: f64| libm::exp(-time.max(0.0) / 0.01);
    for (delay, quantile) in [(0.02, 0.99), (0.03, 0.99), (0.01, 0.95), (0.0231, 0.999)] {
        let hedged = |time: f64| survival(time) * if time > delay { survival(time - delay) } else { 1.0 };
        let expected = solve(quantile, hedged);
        let found = effect(&given, seconds(delay), WITHOUT_LIMIT, quantile);
        let ratio = found.target.as_seconds() / expected;
        let tolerance = if quantile > 0.99 { 0.12 } else { 0.05 };
        assert!((ratio - 1.0).abs() < tolerance, "{delay} {quantile}: {ratio}");
        assert!((found.rate - survival(delay)).abs() < 0.01, "{delay}: {}", found.rate);
    }
}

/// `SingleR`: with probability q, F(t) + q (1 − F(t)) F(t − d).
#[test]
fn a_budget_below_the_late_share_is_a_probability() {
    let given = Given::poisson(2, 5, 2_000.0, 30.0, |random, _, _| exponential(random, 0.01));
    let survival = |time: f64| libm::exp(-time.max(0.0) / 0.01);
    let (delay, budget) = (0.02, 0.05);
    let found = effect(&given, seconds(delay), Trial { budget, ..WITHOUT_LIMIT }, 0.99);
    let q = found.probability;
    // A little less than budget ÷ late, for when a few more are late.
    assert!((0.85..1.0).contains(&(q * survival(delay) / budget)), "{q}");
    assert!(found.rate <= budget * 1.001);
    let expected = solve(0.99, |time| {
        survival(time) * (1.0 - q * (1.0 - survival(time - delay)) * f64::from(u8::from(time > delay)))
    });
    let ratio = found.target.as_seconds() / expected;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

fn mostly_fast(random: &mut Pcg64) -> f64 {
    if chance(random, 0.02) { 0.3 } else { 0.01 }
}

#[test]
fn ninety_eight_fast_and_two_slow_become_forty_milliseconds_after_thirty() {
    let given = Given::poisson(1, 10, 2_500.0, 20.0, |random, _, _| mostly_fast(random));
    let found = effect(&given, ms(30), WITHOUT_LIMIT, 0.99);
    assert_eq!(found.target, ms(40));
    assert!((found.rate - 0.02).abs() < 0.003, "{}", found.rate);
    let samples = given.samples();
    let kinds = Kinds::of_classes(&samples, |_| false);
    let before = with(&samples, &given, &kinds, |counterfactual| counterfactual.quantile(0.99));
    assert_eq!(before, ms(300).0);
}

#[test]
fn what_strikes_all_instances_strikes_the_copy() {
    // For 0.4 s of every ten everybody is slow.
    let given =
        Given::poisson(1, 5, 1_000.0, 30.0, |_, start, _| if start % 10.0 < 0.4 { 0.3 } else { 0.01 });
    let found = effect(&given, ms(30), WITHOUT_LIMIT, 0.99);
    assert!(found.target >= ms(300), "{:?}", found.target);
}

#[test]
fn a_copy_never_goes_to_the_same_instance() {
    // One of four is slow as a whole.
    let given = Given::poisson(1, 4, 1_000.0, 30.0, |_, _, instance| if instance == 0 { 0.3 } else { 0.01 });
    assert_eq!(effect(&given, ms(30), WITHOUT_LIMIT, 0.99).target, ms(40));
    // And with one instance alone there is none that it could go to.
    let alone = Given::poisson(1, 1, 1_000.0, 30.0, |random, _, _| mostly_fast(random));
    assert_eq!(effect(&alone, ms(30), WITHOUT_LIMIT, 0.99).target, ms(300));
}

#[test]
fn a_costly_request_is_as_slow_a_second_time() {
    let given = Given::poisson(1, 4, 1_000.0, 30.0, |random, _, _| mostly_fast(random));
    let costly = |exchange: &crate::exchange::Exchange| exchange.latency >= ms(300);
    let given = given.with_classes(|_, exchange| if costly(exchange) { "report" } else { "item" });
    assert_eq!(effect(&given, ms(30), WITHOUT_LIMIT, 0.99).target, ms(300));
}

#[test]
fn a_failure_is_no_answer_that_a_copy_could_bring() {
    let mut given = Given::poisson(1, 2, 1_000.0, 30.0, |random, _, _| mostly_fast(random));
    let failing = given.exchanges[0].instance;
    for exchange in given.exchanges.iter_mut().filter(|exchange| exchange.instance == failing) {
        exchange.failed = true;
    }
    // Late requests of the other one find no donor but failures, which do not count.
    let samples = given.samples();
    let late = slow(&samples).count as f64 / samples.primaries.len() as f64;
    let found = effect(&given, ms(30), WITHOUT_LIMIT, 1.0 - late / 4.0);
    assert_eq!(found.target, ms(300));
}

#[test]
fn a_copy_that_fails_brings_nothing_though_another_would_not() {
    // A third of the copies of what is late at the two good instances goes to the one that fails.
    let mut given = Given::poisson(1, 3, 1_000.0, 30.0, |random, _, _| mostly_fast(random));
    let failing = given.exchanges[0].instance;
    for exchange in given.exchanges.iter_mut().filter(|exchange| exchange.instance == failing) {
        (exchange.failed, exchange.latency) = (true, ms(1));
    }
    let found = effect(&given, ms(30), WITHOUT_LIMIT, 0.99);
    assert!((0.4..0.6).contains(&found.wins), "{}", found.wins);
}

#[test]
fn what_happened_seconds_away_says_nothing_of_this_moment() {
    // Everybody is slow for half a second in ten, and this kind of request comes once in one and a half seconds.
    let given = Given::poisson(3, 4, 0.7, 2_000.0, |_, start, _| if start % 10.0 < 0.5 { 0.3 } else { 0.01 });
    let found = effect(&given, ms(30), WITHOUT_LIMIT, 0.99);
    // The few that win are at the edges of these half seconds.
    assert!(found.target >= ms(300) && found.wins < 0.2, "{found:?}");
}

#[test]
fn what_all_wait_for_without_an_answer_wins_nothing() {
    // For the last three seconds nobody answers.
    let mut given = Given::poisson(1, 4, 500.0, 30.0, |_, _, _| 0.01);
    for exchange in given.exchanges.iter_mut().filter(|exchange| exchange.start.0 > 27_000_000_000) {
        exchange.outcome = Outcome::Pending;
        exchange.latency = Nanoseconds(30_000_000_000 - exchange.start.0);
    }
    let found = effect(&given, ms(30), WITHOUT_LIMIT, 0.99);
    assert!(found.wins < 0.02 && found.target.as_seconds() > 1e6, "{found:?}");
}

#[test]
fn tokens_run_out_in_a_long_burst() {
    // Two seconds in which one of two instances answers nothing: half of all requests then are late, a fifteenth of all.
    let given = Given::poisson(1, 2, 1_000.0, 30.0, |_, start, instance| {
        if instance == 0 && (10.0..12.0).contains(&start) { 2.0 } else { 0.01 }
    });
    let small = Trial { budget: 0.05, burst: count(100), stress: 1.0 };
    let found = effect(&given, ms(30), small, 0.99);
    // A hundred saved up, and what is earned meanwhile: a twentieth of 2,000.
    let sent = found.rate * given.exchanges.len() as f64;
    assert!((100.0..260.0).contains(&sent), "{sent}");
    assert!(found.target >= ms(2_000), "{:?}", found.target);
    let large = Trial { budget: 0.05, burst: NonZeroU32::MAX, stress: 1.0 };
    assert!(effect(&given, ms(30), large, 0.99).rate > found.rate);
}
