//! Input that makes no sense, or hardly any: an answer with its reason, in bounded time.

use proptest::prelude::*;
use serde_json::Value;

use super::{
    given::{CONTEXT, Given, address},
    *,
};
use crate::{
    exchange::{Exchange, Names},
    ledger::{Metric, Row},
};

/// That all numbers of an assessment are numbers, since others become null in JSON, and shares are shares.
#[track_caller]
fn is_sound(assessment: &Assessment) {
    fn check(value: &Value, path: &str) {
        match value {
            Value::Null => panic!("{path} is no number"),
            Value::Array(values) => values.iter().for_each(|value| check(value, path)),
            Value::Object(values) => {
                values.iter().for_each(|(name, value)| check(value, &format!("{path}.{name}")));
            }
            Value::Number(number) => assert!(number.as_f64().is_some_and(f64::is_finite), "{path}"),
            Value::Bool(_) | Value::String(_) => {}
        }
    }
    check(&serde_json::to_value(assessment).unwrap(), "");
    let verdict = &assessment.verdict;
    assert!((0.0..=1.0).contains(&verdict.confidence), "{}", verdict.confidence);
    let parts = &verdict.composition;
    let parts = [
        parts.independent,
        parts.instance,
        parts.shared,
        parts.saturated,
        parts.caller,
        parts.network,
        parts.request,
    ];
    for part in parts {
        let shares = [part.share, part.ci[0], part.ci[1]];
        assert!(shares.iter().all(|share| (-1e-9..=1.0 + 1e-9).contains(share)), "{part:?}");
    }
    let sum: f64 = parts.iter().map(|part| part.share).sum();
    assert!(verdict.slow == 0 || (sum - 1.0).abs() < 1e-6, "{sum}");
    assert!(!verdict.summary.is_empty());
    let advice = &assessment.recommendation;
    let copies = matches!(advice.action, Action::Hedge | Action::Canary);
    assert_eq!(copies, advice.delay_s.is_some() && advice.budget_fraction.is_some());
    assert_eq!(verdict.cause == Cause::Insufficient, verdict.missing.is_some());
}

/// That nothing is known, and why.
#[track_caller]
fn lacks(assessment: &Assessment, what: &str) {
    is_sound(assessment);
    assert_eq!(assessment.verdict.cause, Cause::Insufficient, "{:?}", assessment.verdict);
    assert_eq!(assessment.recommendation.action, Action::Wait);
    let missing = assessment.verdict.missing.as_deref().unwrap();
    assert!(missing.contains(what), "{missing}");
}

fn slow_now_and_then(random: &mut Pcg64) -> f64 {
    if chance(random, 0.03) { 0.1 } else { 0.005 }
}

#[test]
fn no_rows_and_few_rows_lack_requests() {
    lacks(&Given::default().assess(), "300 more requests");
    let mut given = Given::default();
    for place in 0..5 {
        given.add(ms(place * 1_000), 0, ms(10 * place));
    }
    lacks(&given.assess(), "295 more requests");
}

#[test]
fn one_instance_lacks_a_second() {
    let given = Given::poisson(1, 1, 200.0, 60.0, |random, _, _| slow_now_and_then(random));
    lacks(&given.assess(), "second instance");
}

#[test]
fn no_slow_request_is_no_tail() {
    let given = Given::poisson(1, 4, 200.0, 60.0, |random, _, _| 0.01 + 0.005 * random.random::<f64>());
    let assessment = given.assess();
    is_sound(&assessment);
    assert_eq!((assessment.verdict.cause, assessment.recommendation.action), (Cause::NoTail, Action::None));
    assert_eq!((assessment.verdict.slow, assessment.verdict.slow_above_s), (0, None));
}

#[test]
fn all_pending_lacks_answers() {
    let mut given = Given::poisson(1, 4, 200.0, 60.0, |_, start, _| 60.0 - start);
    for exchange in &mut given.exchanges {
        exchange.outcome = Outcome::Pending;
    }
    lacks(&given.assess(), "answers");
    // And so do all that were given up after the same time.
    for exchange in &mut given.exchanges {
        exchange.outcome = Outcome::Timeout;
        exchange.latency = ms(1_000);
    }
    lacks(&given.assess(), "answers");
}

#[test]
fn all_failed_lacks_answers() {
    let mut given = Given::poisson(1, 4, 200.0, 60.0, |random, _, _| slow_now_and_then(random));
    for exchange in &mut given.exchanges {
        exchange.failed = true;
    }
    lacks(&given.assess(), "answers");
}

#[test]
fn all_too_busy_is_saturation() {
    for latency in [slow_now_and_then as fn(&mut Pcg64) -> f64, |_| 0.001] {
        let mut given = Given::poisson(1, 4, 200.0, 60.0, |random, _, _| latency(random));
        let busy = given.name("503");
        for exchange in &mut given.exchanges {
            exchange.failed = true;
            exchange.status = Some(busy);
        }
        let assessment = given.assess();
        is_sound(&assessment);
        assert_eq!(assessment.verdict.cause, Cause::Saturated);
        assert_eq!(assessment.recommendation.action, Action::DoNotHedge);
    }
}

#[test]
fn a_clock_that_jumps_gives_an_answer() {
    for jump in [3_600_000_000_000, u64::MAX / 2, u64::MAX] {
        let mut given = Given::poisson(1, 4, 200.0, 30.0, |random, _, _| slow_now_and_then(random));
        let half = given.exchanges.len() / 2;
        for exchange in &mut given.exchanges[half..] {
            exchange.start = Timestamp(exchange.start.0.saturating_add(jump));
        }
        is_sound(&given.assess());
        // Or a single one is far away.
        let mut given = Given::poisson(1, 4, 200.0, 30.0, |random, _, _| slow_now_and_then(random));
        given.exchanges[77].start = Timestamp(jump);
        is_sound(&given.assess());
    }
}

#[test]
fn durations_that_are_all_the_same_have_no_tail() {
    for latency in [0, 1, 1_000_000, u64::MAX / 2, u64::MAX] {
        let mut given = Given::default();
        for place in 0..2_000 {
            given.add(ms(place), (place % 3) as usize, Nanoseconds(latency));
        }
        let assessment = given.assess();
        is_sound(&assessment);
        assert_eq!(assessment.verdict.cause, Cause::NoTail, "{latency}");
    }
}

#[test]
fn zero_durations_among_others_give_an_answer() {
    for share_of_zeros in [0.3, 0.6, 0.97, 0.995] {
        let given =
            Given::poisson(
                1,
                3,
                500.0,
                30.0,
                |random, _, _| {
                    if chance(random, share_of_zeros) { 0.0 } else { 0.01 }
                },
            );
        is_sound(&given.assess());
    }
}

#[test]
fn all_at_the_same_moment_gives_an_answer() {
    let mut random = random(1);
    let mut given = Given::default();
    for place in 0..3_000 {
        let latency = seconds(slow_now_and_then(&mut random));
        given.add(ms(7), place % 4, latency);
    }
    is_sound(&given.assess());
}

#[test]
fn the_longest_durations_are_slow() {
    for long in [u64::MAX / 2 - 1, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX] {
        let mut given = Given::poisson(1, 4, 500.0, 60.0, |_, _, _| 0.01);
        for exchange in given.exchanges.iter_mut().step_by(40) {
            exchange.latency = Nanoseconds(long);
        }
        let assessment = given.assess();
        is_sound(&assessment);
        assert!(assessment.verdict.slow > 500, "{:?}", assessment.verdict);
        assert_ne!(assessment.verdict.cause, Cause::NoTail);
    }
}

/// So many instances with one request each.
fn one_each(instances: usize, classes: usize) -> (Vec<Row>, Names) {
    let mut random = random(1);
    let mut names = Names::default();
    let service = names.id("search");
    let classes: Vec<_> = (0..classes).map(|class| names.id(&format!("GET /{class}"))).collect();
    let rows = (0..instances)
        .map(|instance| {
            let latency = seconds(slow_now_and_then(&mut random));
            let start = Timestamp(instance as u64 * 100_000);
            let exchange = Exchange::new(start, service, names.id(&address(instance)), latency);
            let class = classes.get(random.random_range(0..classes.len().max(1))).copied();
            Row::of(&Exchange { class, ..exchange }, Metric::FirstByte)
        })
        .collect();
    (rows, names)
}

/// Quadratic work or memory would make this take minutes, and be seen.
#[test]
fn very_many_instances_with_one_request_each_are_answered() {
    for classes in [0, 400] {
        let (rows, names) = one_each(300_000, classes);
        let assessment = assess(&rows, &names, &CONTEXT, &Question::default());
        is_sound(&assessment);
        assert!(matches!(assessment.verdict.cause, Cause::Independent | Cause::IndependentOrRequest));
    }
}

/// Any row at all, of which many are alike.
fn row() -> impl Strategy<Value = (u64, u64, usize, u8, u8, u8)> {
    let start = prop_oneof![6 => 0..60_000_000_000_u64, 1 => any::<u64>(), 1 => Just(u64::MAX), 1 => Just(0)];
    let latency = prop_oneof![
        8 => 1_000_000..20_000_000_u64,
        2 => 100_000_000..400_000_000_u64,
        1 => any::<u64>(),
        1 => Just(0),
        1 => Just(u64::MAX)
    ];
    (start, latency, 0..5_usize, any::<u8>(), any::<u8>(), any::<u8>())
}

fn sane_row() -> impl Strategy<Value = (u64, u64, usize, u8, u8, u8)> {
    let latency = prop_oneof![30 => 1_000_000..5_000_000_u64, 1 => 30_000_000..400_000_000_u64];
    (0..60_000_000_000_u64, latency, 0..5_usize, Just(0), any::<u8>(), any::<u8>())
}

fn given(rows: &[(u64, u64, usize, u8, u8, u8)]) -> Given {
    let mut given = Given::default();
    let statuses = ["503", "500", "OK", ""].map(|status| given.name(status));
    let classes = ["GET /item", "POST /order", "SELECT", "x"].map(|class| given.name(class));
    for (start, latency, instance, outcome, kind, bits) in rows {
        let exchange = given.add(Nanoseconds(*start), *instance, Nanoseconds(*latency));
        // Most are answered.
        exchange.outcome = Outcome::ALL[usize::from(outcome.saturating_sub(200)) % 5];
        exchange.class = classes.get(usize::from(*kind % 8)).copied();
        exchange.failed = bits & 15 == 1;
        exchange.status = statuses.get(usize::from(bits >> 4)).copied();
        exchange.read_lag =
            (kind & 16 != 0).then_some(Nanoseconds(if bits & 31 == 3 { *latency } else { 5 }));
        exchange.retransmits = Some(u32::from(bits & 63 == 5));
        exchange.srtt = (kind & 32 != 0).then_some(Nanoseconds(u64::from(*bits) << (bits & 31)));
        exchange.attempt = (kind & 64 != 0).then_some(u32::from(bits & 7 == 7));
        exchange.request = exchange.attempt.map(|_| u64::from(*bits));
    }
    given
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_rows_give_a_sound_answer(
        wild in proptest::collection::vec(row(), 0..400),
        sane in proptest::collection::vec(sane_row(), 0..1_500),
        target in 0.5..0.9999_f64,
        utilisation in proptest::option::of(0.0..1.0_f64),
        budget in proptest::option::of(0.0..1.0_f64),
        fan_out in 1..2_000_u32,
    ) {
        let question = Question {
            target,
            budget: budget.map(share),
            utilisation: utilisation.map(share),
            idempotent: Idempotent::Auto,
            fan_out: count(fan_out),
        };
        for rows in [&wild, &sane, &[wild.clone(), sane.clone()].concat()] {
            is_sound(&given(rows).answer(&question));
        }
    }
}
