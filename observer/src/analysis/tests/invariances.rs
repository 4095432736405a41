//! What must not matter.

use proptest::prelude::*;

use super::{
    given::Given,
    traffic::{Traffic, at_random, even, some_slow},
    *,
};
use crate::{
    exchange::{Exchange, Names},
    ledger::{Ledger, Limits},
    simulation::{Effect, Scope, When},
};

/// Recordings of twenty seconds, of several causes.
fn recordings() -> Vec<Given> {
    let traffics = [
        Traffic::to(4, some_slow(ms(5), 0.025, 20)).named(),
        Traffic::to(4, even(ms(5))).named().fault(Scope::All, at_random(3.0, 0.2), Effect::Pause),
        Traffic::to(4, even(ms(5))).named().fault(Scope::EachAlone, at_random(6.0, 0.25), Effect::Pause),
        Traffic::to(5, even(ms(5))).named().fault(Scope::One(1), When::Always, Effect::Slower(8.0)),
        Traffic::to(4, even(ms(5))).classes(&[("a", 0.95, 1.0), ("b", 0.05, 15.0)]),
    ];
    traffics.map(|traffic| Traffic { duration: 20.0, ..traffic }.given(true)).into()
}

/// A recording with each exchange changed, and each name.
fn changed(given: &Given, exchange: impl Fn(Exchange) -> Exchange, name: impl Fn(&str) -> String) -> Given {
    let mut names = Names::default();
    // In another order, so that all ids are others.
    for old in given.exchanges.iter().rev() {
        names.id(&name(given.names.text(old.instance)));
        old.class.map(|class| names.id(&name(given.names.text(class))));
    }
    let mut id = |old| names.id(&name(given.names.text(old)));
    let exchanges = given
        .exchanges
        .iter()
        .map(|old| {
            let new = exchange(*old);
            Exchange {
                service: id(old.service),
                instance: id(old.instance),
                class: old.class.map(&mut id),
                status: old.status.map(&mut id),
                ..new
            }
        })
        .collect();
    Given { names, exchanges }
}

/// That two assessments agree, where the second has all durations so many times as long.
#[track_caller]
fn agree(one: &Assessment, other: &Assessment, times: f64) {
    assert_eq!(one.verdict.cause, other.verdict.cause);
    assert_eq!(one.recommendation.action, other.recommendation.action);
    assert_eq!(one.verdict.slow, other.verdict.slow);
    let close = |one: f64, other: f64| (one - other).abs() <= 0.02 * one.abs().max(0.01);
    let shares = |assessment: &Assessment| {
        let parts = &assessment.verdict.composition;
        [
            parts.independent,
            parts.instance,
            parts.shared,
            parts.saturated,
            parts.caller,
            parts.network,
            parts.request,
        ]
        .map(|part| part.share)
    };
    for (one, other) in shares(one).into_iter().zip(shares(other)) {
        assert!((one - other).abs() < 0.02, "{one} {other}");
    }
    let durations = |assessment: &Assessment| {
        let advice = &assessment.recommendation;
        let expected = advice.expected.as_ref();
        [
            assessment.verdict.slow_above_s,
            advice.delay_s,
            expected.and_then(|expected| expected.before.p99),
            expected.and_then(|expected| expected.after.p99),
        ]
        .map(|duration| duration.unwrap_or(0.0))
    };
    for (one, other) in durations(one).into_iter().zip(durations(other)) {
        assert!(close(one * times, other), "{one} {other}");
    }
    let budgets = [one, other].map(|assessment| assessment.recommendation.budget_fraction.unwrap_or(0.0));
    assert!(close(budgets[0], budgets[1]), "{budgets:?}");
}

#[test]
fn the_order_of_rows_does_not_matter() {
    for given in recordings() {
        let expected = given.assess();
        let mut other = given;
        other.exchanges.reverse();
        assert_eq!(other.assess(), expected);
        let mut random = random(1);
        for place in (1..other.exchanges.len()).rev() {
            other.exchanges.swap(place, random.random_range(0..=place));
        }
        assert_eq!(other.assess(), expected);
    }
}

#[test]
fn names_do_not_matter() {
    for given in recordings() {
        // Hosts stay apart: an address without its port is a host.
        let renamed =
            changed(&given, |exchange| exchange, |name| format!("x{}.example:1", name.replace(':', "-")));
        let (one, other) = (given.assess(), renamed.assess());
        agree(&one, &other, 1.0);
        let new = |name: &String| format!("x{}.example:1", name.replace(':', "-"));
        let mut expected: Vec<_> = one.verdict.elevated.iter().map(new).collect();
        let mut found = other.verdict.elevated.clone();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
        assert_eq!(one.verdict.slow_classes.iter().map(new).collect::<Vec<_>>(), other.verdict.slow_classes);
    }
}

#[test]
fn when_it_was_does_not_matter() {
    for mut given in recordings() {
        let expected = given.assess();
        for shift in [1, 1_000_000_007, 1 << 62] {
            for exchange in &mut given.exchanges {
                exchange.start.0 += shift;
            }
            assert_eq!(given.assess(), expected);
        }
    }
}

#[test]
fn the_unit_of_time_does_not_matter() {
    for given in recordings() {
        let expected = given.assess();
        for times in [3, 1_000] {
            let longer = |exchange: Exchange| Exchange {
                start: Timestamp(exchange.start.0 * times),
                latency: Nanoseconds(exchange.latency.0 * times),
                read_lag: exchange.read_lag.map(|lag| Nanoseconds(lag.0 * times)),
                // What is kept of it ends at four seconds.
                srtt: exchange.srtt.map(|srtt| Nanoseconds(srtt.0 * times)),
                ..exchange
            };
            agree(&expected, &changed(&given, longer, str::to_owned).assess(), times as f64);
        }
    }
}

#[test]
fn other_services_beside_it_do_not_matter() {
    let [mut one, other]: [Given; 2] =
        recordings().into_iter().take(2).collect::<Vec<_>>().try_into().unwrap();
    let alone = [one.assess(), other.assess()];
    // Both in one ledger, with the names of both in one table.
    let mut ledger = Ledger::new(Limits::default());
    let second = one.name("other");
    let mut both = one.exchanges.clone();
    for exchange in &other.exchanges {
        let instance = one.name(&format!("other-{}", other.names.text(exchange.instance)));
        let class = exchange.class.map(|class| one.names.id(other.names.text(class)));
        both.push(Exchange { service: second, instance, class, ..*exchange });
    }
    both.sort_by_key(|exchange| exchange.start);
    for exchange in &both {
        ledger.record(exchange);
    }
    let services = ledger.services();
    assert_eq!(services.len(), 2);
    for service in services {
        let rows = service.rows();
        let found = assess(&rows, &one.names, &given::CONTEXT, &Question::default());
        agree(&alone[usize::from(service.key.name == second)], &found, 1.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn rows_at_the_same_moment_may_come_in_any_order(
        requests in proptest::collection::vec((0..400_u64, 1..4_u64, 0..3_usize, any::<bool>()), 300..700),
        seed in any::<u64>(),
    ) {
        let mut given = Given::default();
        let statuses = [given.name("503"), given.name("500")];
        for (start, latency, instance, failed) in requests {
            // Few moments and few latencies, so that many rows tie.
            let latency = if latency == 3 { ms(200) } else { ms(10 * latency) };
            let exchange = given.add(ms(start * 50), instance, latency);
            exchange.failed = failed && latency == ms(20);
            exchange.status = exchange.failed.then_some(statuses[instance % 2]);
        }
        let expected = given.assess();
        let mut random = random(seed);
        for place in (1..given.exchanges.len()).rev() {
            given.exchanges.swap(place, random.random_range(0..=place));
        }
        prop_assert_eq!(given.assess(), expected);
    }
}
