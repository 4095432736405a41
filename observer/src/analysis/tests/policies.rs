//! Which delay and budget are advised, against the best that could be.

use super::{given::Given, *};
use crate::analysis::feedback::Queueing;

/// The benchmark of a published library: log-normal with mean 5 ms and deviation 2 ms, of which a twentieth takes ten
/// times as long.
mod benchmark {
    use super::*;

    const MEDIAN: f64 = 0.004_642_383;
    const SIGMA: f64 = 0.385_253;

    pub(super) fn given() -> Given {
        Given::poisson(5, 10, 2_000.0, 50.0, |random, _, _| {
            let normal = {
                let radius = (-2.0 * libm::log(1.0 - random.random::<f64>())).sqrt();
                radius * libm::cos(std::f64::consts::TAU * random.random::<f64>())
            };
            let times = if chance(random, 0.05) { 10.0 } else { 1.0 };
            MEDIAN * times * libm::exp(SIGMA * normal)
        })
    }

    /// 1 − F.
    pub(super) fn survival(time: f64) -> f64 {
        if time <= 0.0 {
            return 1.0;
        }
        let of = |median: f64| 0.5 * libm::erfc(libm::log(time / median) / SIGMA / std::f64::consts::SQRT_2);
        0.95 * of(MEDIAN) + 0.05 * of(10.0 * MEDIAN)
    }
}

/// What an advice does to a quantile in truth, and what it costs.
fn applied(delay: f64, probability: f64, quantile: f64) -> (f64, f64) {
    let survival = benchmark::survival;
    let hedged = |time: f64| {
        let saved = if time > delay { probability * (1.0 - survival(time - delay)) } else { 0.0 };
        survival(time) * (1.0 - saved)
    };
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if hedged(middle) > 1.0 - quantile { low = middle } else { high = middle }
    }
    (low, probability * survival(delay))
}

/// The delay and probability that are advised for the benchmark within a budget, applied.
fn advised(target: f64, budget: f64) -> (f64, f64) {
    let question = Question { target, budget: Some(share(budget)), ..Question::default() };
    let kinds = ["GET /item", "GET /stock"];
    let given = benchmark::given().with_classes(|place, _| kinds[place % 2]);
    let advice = given.answer(&question).recommendation;
    assert_eq!(advice.action, Action::Hedge);
    let (delay, probability) = (advice.delay_s.unwrap(), advice.hedge_probability.unwrap());
    let (applied, extra) = applied(delay, probability, target);
    // What was expected is what happens.
    let expected = advice.expected.unwrap();
    let [low, high] = expected.decisive.after_ci_s.unwrap();
    assert!((low..=high).contains(&applied), "{low} {applied} {high}");
    assert!(expected.hedge_rate <= budget * 1.001 && advice.budget_fraction.unwrap() <= budget);
    (applied, extra)
}

/// The best that any delay and probability with this extra load do to a quantile (`SingleR`).
fn optimum(quantile: f64, extra: f64) -> f64 {
    let delays = (40..600).map(|step| f64::from(step) * 0.000_1);
    delays
        .map(|delay| applied(delay, (extra / benchmark::survival(delay)).min(1.0), quantile).0)
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn the_closed_form_optimum_of_the_benchmark_is_the_published_one() {
    for (quantile, extra, best) in
        [(0.99, 0.02, 48.7), (0.99, 0.05, 20.5), (0.99, 0.07, 17.0), (0.95, 0.02, 12.7)]
    {
        let found = optimum(quantile, extra) * 1_000.0;
        assert!((found / best - 1.0).abs() < 0.01, "{quantile} {extra}: {found}");
    }
}

/// The aims are 17.1 ms and 20.6 ms of p99 with 7 % and 5 % more load: the first is reached with the load that the formula
/// gives, the second is missed by a few percent, since the delays that are looked at lie apart. Delay and probability are
/// chosen from a sample, so that they would cost a little more or less than the budget, which holds nevertheless.
#[test]
fn what_is_advised_for_the_benchmark_is_the_best_for_the_load_that_it_costs() {
    for (target, budget, most) in [(0.99, 0.07, 0.0175), (0.99, 0.05, 0.0220), (0.95, 0.02, 0.0131)] {
        let (applied, extra) = advised(target, budget);
        assert!(applied <= most && extra <= budget * 1.03, "{target} {budget}: {applied} {extra}");
        assert!(applied <= 1.06 * optimum(target, extra), "{target} {budget}: {applied} {extra}");
    }
}

#[test]
fn a_larger_budget_never_buys_less() {
    let mut before = f64::INFINITY;
    for budget in [0.01, 0.02, 0.05, 0.10] {
        let (applied, _) = advised(0.99, budget);
        assert!(applied <= before * 1.03, "{budget}: {applied} after {before}");
        before = applied;
    }
}

#[test]
fn alternatives_cost_more_and_are_faster_one_after_the_other() {
    let given = benchmark::given();
    let advice = given.assess().recommendation;
    assert!(advice.alternatives.len() >= 3, "{:?}", advice.alternatives);
    assert!(advice.alternatives.windows(2).all(
        |pair| pair[0].target_s > pair[1].target_s && pair[0].budget_fraction <= pair[1].budget_fraction
    ));
}

/// In each hundred requests so many slow ones, spread.
fn one_in(slow: usize, of: usize) -> Given {
    let mut place = 0;
    let mut given = Given::poisson(1, 10, 1_000.0, 20.0, |_, _, _| 0.0);
    given.exchanges.truncate(19_000);
    for exchange in &mut given.exchanges {
        place += 1;
        exchange.latency = if place * 7_919 % of < slow { ms(300) } else { ms(10) };
    }
    given
}

#[test]
fn a_request_that_waits_for_a_hundred_is_slow_two_times_in_three() {
    let given = one_in(1, 100);
    let question = Question { fan_out: count(100), ..Question::default() };
    let fan_out = given.answer(&question).recommendation.fan_out.unwrap();
    // 1 − 0.99^100, and 0.99^(1 ÷ 100).
    assert!((fan_out.slow_share - 0.634).abs() < 0.001, "{fan_out:?}");
    assert!((fan_out.component_quantile - 0.999_899_5).abs() < 1e-7, "{fan_out:?}");
    assert_eq!(fan_out.component_s, Some(0.3));
    assert_eq!(fan_out.width, 100);
    let wider = Question { fan_out: count(1_000), ..Question::default() };
    let fan_out = given.answer(&wider).recommendation.fan_out.unwrap();
    assert!(fan_out.slow_share > 0.999 && (fan_out.component_quantile - 0.999_99).abs() < 1e-6);
}

#[test]
fn a_request_that_waits_for_one_has_no_fan_out() {
    assert_eq!(one_in(1, 100).assess().recommendation.fan_out, None);
}

/// A tenth is what room there is at a utilisation of 0.7 (0.8 ÷ 0.7 − 1 = 0.14, at most 0.1); at 0.9 there is none. At 0.7 few
/// come first: if the slow requests were costly ones after all, a tenth would overload the instances.
#[test]
fn the_budget_follows_from_the_utilisation() {
    // Eight in a hundred are slow: a twentieth of copies changes nothing, a tenth does.
    let given = one_in(8, 100).with_classes(|place, _| ["GET /item", "GET /stock"][place % 2]);
    let at = |utilisation: Option<f64>| {
        given.answer(&Question { utilisation: utilisation.map(share), ..Question::default() }).recommendation
    };
    let roomy = at(Some(0.3));
    assert_eq!(roomy.action, Action::Hedge);
    assert!((0.08..=0.1).contains(&roomy.budget_fraction.unwrap()), "{roomy:?}");
    let busy = at(Some(0.7));
    assert_eq!((busy.action, busy.budget_fraction), (Action::Canary, Some(0.01)));
    assert!(busy.conditions[0].contains("raise the budget to 10 %"), "{busy:?}");
    let full = at(Some(0.9));
    assert_eq!(full.action, Action::DoNotHedge);
    assert!(full.instead.iter().any(|line| line.contains("capacity")), "{:?}", full.instead);
    let unknown = at(None);
    assert!(unknown.budget_fraction.is_none_or(|budget| budget <= 0.05), "{unknown:?}");
}

#[test]
fn a_decided_budget_is_not_exceeded_nor_more_than_there_is_room_for() {
    let given = one_in(2, 100).with_classes(|place, _| ["GET /item", "GET /stock"][place % 2]);
    for (budget, utilisation, most) in
        [(0.03, None, 0.03), (0.10, Some(0.78), 0.026), (0.01, Some(0.1), 0.01)]
    {
        let question = Question {
            budget: Some(share(budget)),
            utilisation: utilisation.map(share),
            ..Question::default()
        };
        let advice = given.answer(&question).recommendation;
        let fraction = advice.budget_fraction.unwrap_or(0.0);
        assert!(fraction <= most, "{budget} {utilisation:?}: {fraction}");
        let rate = advice.expected.map_or(0.0, |expected| expected.hedge_rate);
        assert!(rate <= most * 1.01, "{budget} {utilisation:?}: {rate}");
    }
}

#[test]
fn the_load_settles_where_it_feeds_back_no_more() {
    // ρ' = ρ (1 + h(ρ')).
    for slots in [1.0, 8.0] {
        let queueing = Queueing { utilisation: 0.6, slots };
        let hedged = |waiting: f64| (0.03 * waiting).min(1.0);
        let settled = queueing.settle(hedged).unwrap();
        let again = 0.6 * (1.0 + hedged(settled.waiting));
        assert!((settled.utilisation - again).abs() < 1e-5, "{settled:?} {again}");
        assert!(settled.utilisation > 0.618 && settled.waiting > 1.0);
    }
}

#[test]
fn writes_are_never_sent_twice() {
    let given = one_in(2, 100).with_classes(|place, _| ["POST /order", "POST /basket"][place % 2]);
    let rows = given.rows();
    let context = Context { protocol: Some("http1"), ..given::CONTEXT };
    let advice = assess(&rows, &given.names, &context, &Question::default()).recommendation;
    assert_eq!(advice.action, Action::DoNotHedge);
    let no = Question { idempotent: Idempotent::No, ..Question::default() };
    assert_eq!(one_in(2, 100).answer(&no).recommendation.action, Action::DoNotHedge);
}

#[test]
fn behind_a_virtual_address_nothing_is_said_across_instances() {
    let slow_if = |is: bool| if is { 0.2 } else { 0.01 };
    let struck: [fn(&mut Pcg64, f64, usize) -> bool; 4] = [
        |random, _, _| chance(random, 0.02),
        |random, _, instance| instance == 1 && chance(random, 0.5),
        |_, start, _| start % 7.0 < 0.2,
        // None of them has half of the slow requests.
        |random, start, instance| {
            start % 17.0 < 0.2 || chance(random, 0.008) || (instance == 1 && chance(random, 0.03))
        },
    ];
    for struck in struck {
        let given = Given::poisson(1, 4, 500.0, 60.0, |random, start, instance| {
            slow_if(struck(random, start, instance))
        });
        let context = Context { virtual_address: true, ..given::CONTEXT };
        let found = assess(&given.rows(), &given.names, &context, &Question::default());
        assert_eq!(found.verdict.cause, Cause::Insufficient, "{:?}", found.verdict);
        assert_eq!(found.recommendation.action, Action::Wait);
    }
}
