//! What must keep second copies from being advised, or from being advised for all requests.

use super::{
    given::Given,
    traffic::{Traffic, at_random, even},
    *,
};
use crate::{
    analysis::model::Objection,
    simulation::{CopyIds, Effect, Hedge, HiddenCost, Policy, Scope, ServiceTime, Shape, Tactic},
};

/// One in fifty is slow by chance.
fn by_chance(random: &mut Pcg64) -> f64 {
    if chance(random, 0.02) { 0.3 } else { 0.01 }
}

fn named() -> Given {
    let given = Given::poisson(1, 6, 500.0, 60.0, |random, _, _| by_chance(random));
    given.with_classes(|place, _| if place % 2 == 0 { "GET /item" } else { "GET /stock" })
}

fn condition(assessment: &Assessment, word: &str) -> bool {
    assessment.recommendation.conditions.iter().any(|condition| condition.contains(word))
}

#[test]
fn without_anything_to_guard_against_it_is_hedged() {
    let assessment = named().assess();
    assert_eq!(assessment.recommendation.action, Action::Hedge);
    assert_eq!(assessment.recommendation.objection, None);
    assert!(!condition(&assessment, "write"), "{:?}", assessment.recommendation.conditions);
}

#[test]
fn a_write_that_is_rare_is_still_a_write() {
    // Of thirty thousand requests sixty are too few to be a class of their own.
    let given = named().with_classes(|place, _| if place % 500 == 7 { "POST /buy" } else { "GET /item" });
    let assessment = given.assess();
    assert!(condition(&assessment, "0.2 % of the requests write"), "{:?}", assessment.recommendation);
    let unnamed = given.with_classes(|_, _| "GET /item");
    assert!(!condition(&unnamed.assess(), "write"));
}

#[test]
fn a_request_without_a_name_may_be_a_write() {
    let mut given = named().with_classes(|_, _| "GET /item");
    for exchange in given.exchanges.iter_mut().step_by(300) {
        exchange.class = None;
    }
    assert!(condition(&given.assess(), "--idempotent"));
}

#[test]
fn what_is_expected_is_of_all_requests_and_not_of_those_that_may_be_sent_twice() {
    // Slow writes alone are more than one in a hundred.
    let mut random = random(3);
    let given = Given::poisson(1, 6, 500.0, 60.0, |random, _, _| by_chance(random));
    let given = given.with_classes(|_, _| if chance(&mut random, 0.7) { "POST /buy" } else { "GET /item" });
    let advice = given.assess().recommendation;
    assert_eq!((advice.action, advice.objection), (Action::DoNotHedge, Some(Objection::NotWorthIt)));
    let expected = advice.expected.unwrap();
    assert_eq!((expected.decisive.before_s, expected.decisive.after_s), (Some(0.3), Some(0.3)));
    assert!(expected.hedge_rate < 0.01 && (expected.hedge_rate - expected.extra_load).abs() < 1e-12);
}

#[test]
fn sizes_of_answers_that_never_came_are_no_kind_of_request() {
    // Those that take long are given up after 0.2 s, or failed, so that they have no answer or a short one.
    for failed in [false, true] {
        let mut given = named().with_classes(|_, _| "GET /item");
        for exchange in &mut given.exchanges {
            (exchange.request_bytes, exchange.response_bytes) = (Some(100), Some(1_000));
            if exchange.latency > ms(200) {
                exchange.latency = ms(200);
                (exchange.outcome, exchange.failed) =
                    if failed { (Outcome::Ok, true) } else { (Outcome::Cancelled, false) };
                exchange.response_bytes = failed.then_some(20);
            }
        }
        let verdict = given.assess().verdict;
        assert!(verdict.slow_classes.is_empty(), "{:?}", verdict.slow_classes);
        assert_ne!(verdict.cause, Cause::Request);
    }
}

#[test]
fn what_one_instance_alone_is_asked_for_has_no_second_copy() {
    let mut given = named();
    for exchange in &mut given.exchanges {
        let instance = given.names.text(exchange.instance).to_owned();
        exchange.class = Some(given.names.id(&format!("page of {instance}")));
    }
    let advice = given.assess().recommendation;
    assert_eq!((advice.action, advice.objection), (Action::DoNotHedge, Some(Objection::OneInstance)));
}

#[test]
fn copies_that_lose_refute_chance() {
    // Hidden costs: the second copy of a costly request is as costly, whatever its name.
    let constant = ServiceTime::only(Shape::Constant(ms(5))).unwrap();
    let mut traffic = Traffic::to(6, constant).named();
    traffic.conditions.hidden_cost = Some(HiddenCost { share: share(0.03), factor: 40.0 });
    traffic.policy = Policy::of(Tactic::Hedge(Hedge::after(ms(20))));
    traffic.ids = CopyIds::Logged;
    let assessment = traffic.assess();
    assert!(assessment.hedging.unwrap().wins.unwrap() < 0.1, "{:?}", assessment.hedging);
    let advice = &assessment.recommendation;
    assert_eq!((advice.action, advice.objection), (Action::DoNotHedge, Some(Objection::CopiesLose)));
    assert_eq!(assessment.verdict.cause, Cause::IndependentOrRequest);
    assert_eq!(assessment.verdict.hedging_helps, Some(false));
}

#[test]
fn two_instances_that_pause_are_tried_with_few_first() {
    let traffic =
        Traffic::to(2, even(ms(5))).named().fault(Scope::EachAlone, at_random(4.0, 0.15), Effect::Pause);
    assert_eq!(traffic.assess().recommendation.action, Action::Canary);
}

#[test]
fn a_budget_of_nothing_is_named() {
    let question = Question { budget: Some(share(0.0)), ..Question::default() };
    let advice = named().answer(&question).recommendation;
    assert_eq!((advice.action, advice.objection), (Action::DoNotHedge, Some(Objection::NoBudget)));
}

#[test]
fn a_quantile_beyond_what_was_seen_is_not_known() {
    let question = Question { target: 0.999_9, ..Question::default() };
    let mut given = named();
    given.exchanges.truncate(10_000);
    let assessment = given.answer(&question);
    assert_eq!(assessment.verdict.cause, Cause::Insufficient);
    assert!(assessment.verdict.missing.unwrap().contains("more requests"));
}

#[test]
fn where_every_request_was_sent_again_that_explains_none() {
    let mut given = named();
    for exchange in &mut given.exchanges {
        exchange.retransmits = Some(1);
    }
    assert_eq!(given.assess().verdict.cause, Cause::Independent);
}

#[test]
fn where_latencies_are_whole_milliseconds_a_median_of_zero_hides_no_delay() {
    let given =
        Given::poisson(1, 6, 500.0, 60.0, |random, _, _| if chance(random, 0.02) { 0.2 } else { 0.0 });
    let given = given.with_classes(|place, _| if place % 2 == 0 { "GET /item" } else { "GET /stock" });
    let advice = given.assess().recommendation;
    assert_eq!(advice.action, Action::Hedge);
    assert!(advice.expected.unwrap().decisive.after_s.unwrap() < 0.05);
}

#[test]
fn copies_alone_are_no_more_than_requests() {
    let mut given = named();
    for (place, exchange) in given.exchanges.iter_mut().enumerate() {
        (exchange.attempt, exchange.request) = (Some(1), Some(place as u64));
    }
    let hedging = given.assess().hedging.unwrap();
    assert_eq!((hedging.rate, hedging.wins), (1.0, None));
}

#[test]
fn what_was_seen_of_a_part_is_less_sure() {
    let rows = named().rows();
    let of = |seen| {
        let context = Context { seen, ..given::CONTEXT };
        assess(&rows, &named().names, &context, &Question::default())
    };
    let (all, tenth) = (of(1.0), of(0.1));
    assert!(tenth.verdict.confidence < 0.2 * all.verdict.confidence);
    assert!(tenth.recommendation.warnings[0].contains("10 % of the requests were seen"));
}
