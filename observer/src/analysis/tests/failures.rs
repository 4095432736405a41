//! Failures that were published, simulated: what is said about each.

use super::{
    traffic::{Traffic, at_random, even, rate, some_slow},
    *,
};
use crate::simulation::{
    Arrivals, Balancing, Budget, Bursts, Cancellation, CopyIds, Effect, Hedge, HiddenCost, OtherLoad, Policy,
    Scope, ServiceTime, Shape, Tactic, When,
};

/// Asserts that one of these causes is named and one of these actions advised.
#[track_caller]
fn says(assessment: &Assessment, causes: &[Cause], actions: &[Action]) {
    let (cause, action) = (assessment.verdict.cause, assessment.recommendation.action);
    assert!(
        causes.contains(&cause) && actions.contains(&action),
        "{cause:?} {action:?} {:#?}",
        assessment.verdict
    );
}

const NEVER: &[Action] = &[Action::DoNotHedge];
const COPIES: &[Action] = &[Action::Hedge];

#[test]
fn a_database_behind_everyone_is_shared() {
    let wait = ServiceTime::only(Shape::LogNormal { median: ms(80), sigma: 0.3 }).unwrap();
    let effect = Effect::Dependency { share: share(1.0), time: wait, by_request: false };
    let assessment =
        Traffic::to(6, even(ms(4))).named().fault(Scope::All, at_random(9.0, 0.5), effect).assess();
    says(&assessment, &[Cause::Shared], NEVER);
    assert_eq!(assessment.verdict.hedging_helps, Some(false));
    assert!(assessment.verdict.composition.shared.share > 0.7);
    assert!(assessment.verdict.episodes.is_some());
    assert!(assessment.recommendation.instead.iter().any(|line| line.contains("shared")));
}

#[test]
fn stalls_of_everyone_are_shared() {
    let assessment =
        Traffic::to(8, even(ms(4))).named().fault(Scope::All, at_random(5.0, 0.2), Effect::Pause).assess();
    says(&assessment, &[Cause::Shared], NEVER);
}

#[test]
fn synchronised_jobs_are_shared_and_regular() {
    let when = When::Periodic { every: seconds(5.0), length: ms(250) };
    let assessment = Traffic::to(6, even(ms(4))).named().fault(Scope::All, when, Effect::Pause).assess();
    says(&assessment, &[Cause::Shared], NEVER);
    let episodes = assessment.verdict.episodes.unwrap();
    assert!(episodes.regular, "{episodes:?}");
    assert!((episodes.every_s.unwrap() - 5.0).abs() < 0.5, "{episodes:?}");
    assert!((11..=13).contains(&episodes.count), "{episodes:?}");
    assert!(assessment.recommendation.instead.iter().any(|line| line.contains("scheduled job")));
}

#[test]
fn a_hung_instance_is_to_be_taken_out() {
    let since = When::Window { from: seconds(20.0), to: seconds(60.0) };
    for when in [When::Always, since] {
        let assessment =
            Traffic::to(6, even(ms(5))).named().fault(Scope::One(2), when, Effect::Hang).assess();
        says(&assessment, &[Cause::Instance], &[Action::Eject]);
        assert_eq!(assessment.verdict.elevated, ["10.0.0.3:80"]);
        assert!(assessment.recommendation.instead[0].contains("10.0.0.3:80"));
    }
}

#[test]
fn a_slow_instance_is_to_be_taken_out() {
    let assessment =
        Traffic::to(5, even(ms(5))).named().fault(Scope::One(0), When::Always, Effect::Slower(6.0)).assess();
    says(&assessment, &[Cause::Instance], &[Action::Eject]);
    assert_eq!(assessment.verdict.elevated, ["10.0.0.1:80"]);
    assert!(assessment.verdict.composition.instance.share > 0.8);
}

#[test]
fn two_slow_instances_of_four_are_found() {
    let mut traffic =
        Traffic::to(4, even(ms(5))).named().fault(Scope::Some(vec![1, 2]), When::Always, Effect::Slower(6.0));
    // With half of all requests slow ones would decide what the median is.
    traffic.system.balancing = Balancing::Random;
    traffic.conditions.weights = vec![0.4, 0.1, 0.1, 0.4];
    let assessment = traffic.assess();
    says(&assessment, &[Cause::Instance], &[Action::Eject]);
    assert_eq!(assessment.verdict.elevated, ["10.0.0.2:80", "10.0.0.3:80"]);
}

#[test]
fn a_client_that_reads_late_is_the_caller() {
    let assessment = Traffic::to(5, even(ms(4)))
        .named()
        .fault(Scope::All, at_random(4.0, 0.2), Effect::LateReader)
        .assess();
    says(&assessment, &[Cause::Caller], NEVER);
}

#[test]
fn costly_queries_with_names_are_the_request() {
    let assessment = Traffic::to(5, even(ms(4)))
        .classes(&[("GET /item", 0.97, 1.0), ("GET /report", 0.03, 20.0)])
        .assess();
    says(&assessment, &[Cause::Request], NEVER);
    assert_eq!(assessment.verdict.slow_classes, ["GET /report"]);
    assert!(assessment.recommendation.instead[0].contains("GET /report"));
}

#[test]
fn costly_queries_without_names_are_tried_out_and_never_hedged_at_once() {
    let by_class = Traffic::to(5, even(ms(4)))
        .classes(&[("GET /item", 0.97, 1.0), ("GET /report", 0.03, 20.0)])
        .given(false)
        .assess();
    let mut hidden = Traffic::to(5, even(ms(4)));
    hidden.conditions.hidden_cost = Some(HiddenCost { share: share(0.02), factor: 15.0 });
    for assessment in [by_class, hidden.assess()] {
        says(&assessment, &[Cause::IndependentOrRequest], &[Action::Canary]);
        assert!(assessment.recommendation.budget_fraction.unwrap() <= 0.01);
        assert_eq!(assessment.verdict.hedging_helps, None);
    }
}

#[test]
fn two_instances_with_slow_executions_are_hedged() {
    let assessment = Traffic::to(2, some_slow(ms(5), 0.02, 20)).named().assess();
    says(&assessment, &[Cause::Independent], COPIES);
    assert!(assessment.recommendation.warnings.iter().any(|line| line.contains("two instances")));
    let expected = assessment.recommendation.expected.unwrap();
    assert!(expected.after.p99.unwrap() < 0.5 * expected.before.p99.unwrap());
}

#[test]
fn two_instances_that_stall_together_are_not() {
    let assessment =
        Traffic::to(2, even(ms(5))).named().fault(Scope::All, at_random(4.0, 0.2), Effect::Pause).assess();
    says(&assessment, &[Cause::Shared], NEVER);
}

#[test]
fn pauses_of_single_instances_are_hedged() {
    let assessment =
        Traffic::to(6, even(ms(4))).fault(Scope::EachAlone, at_random(8.0, 0.25), Effect::Pause).assess();
    says(&assessment, &[Cause::Independent], COPIES);
    assert_eq!(assessment.verdict.hedging_helps, Some(true));
}

#[test]
fn one_instance_with_most_of_the_traffic_is_not_slow_for_that() {
    let mut traffic = Traffic::to(5, some_slow(ms(5), 0.02, 20)).named();
    traffic.system.balancing = Balancing::Random;
    traffic.system.slots = count(40);
    traffic.conditions.weights = vec![0.025, 0.9, 0.025, 0.025, 0.025];
    let assessment = traffic.assess();
    says(&assessment, &[Cause::Independent], COPIES);
    assert!(assessment.verdict.elevated.is_empty());
}

#[test]
fn a_deployment_in_the_middle_hides_nothing() {
    let after = When::Window { from: seconds(30.0), to: seconds(60.0) };
    for factor in [0.6, 1.6] {
        let assessment = Traffic::to(6, some_slow(ms(5), 0.02, 20))
            .named()
            .fault(Scope::All, after, Effect::Slower(factor))
            .assess();
        says(&assessment, &[Cause::Independent], COPIES);
    }
}

#[test]
fn a_bad_deployment_is_shared() {
    let spell = When::Window { from: seconds(20.0), to: seconds(32.0) };
    let assessment =
        Traffic::to(6, even(ms(5))).named().fault(Scope::All, spell, Effect::Slower(6.0)).assess();
    says(&assessment, &[Cause::Shared], NEVER);
}

#[test]
fn a_peak_with_room_is_no_saturation() {
    let mut traffic = Traffic::to(6, some_slow(ms(5), 0.02, 20)).named();
    let bursts = Bursts::new(rate(500.0), 2.5, share(0.2), seconds(5.0)).unwrap();
    traffic.system.arrivals = Arrivals::Bursty(bursts);
    says(&traffic.assess(), &[Cause::Independent], COPIES);
}

/// A copy after 15 ms, within a tenth.
fn hedging(cancellation: Cancellation) -> Policy {
    let budget = Budget { share: share(0.1), burst: count(100) };
    let hedge = Hedge { budget: Some(budget), ..Hedge::after(ms(15)) };
    Policy { cancellation, ..Policy::of(Tactic::Hedge(hedge)) }
}

#[test]
fn copies_in_the_traffic_do_not_hide_what_they_are_for() {
    for cancellation in [Cancellation::Never, Cancellation::After(Nanoseconds(200_000))] {
        let mut traffic = Traffic::to(6, some_slow(ms(5), 0.02, 20)).named();
        traffic.policy = hedging(cancellation);
        traffic.ids = CopyIds::Logged;
        let assessment = traffic.assess();
        let hedging = assessment.hedging.unwrap();
        assert!(hedging.observed && (hedging.rate - 0.02).abs() < 0.01, "{hedging:?}");
        // Copies of what takes 100 ms nearly always win; few are late for another reason.
        assert!((0.85..1.0).contains(&hedging.wins.unwrap()), "{hedging:?}");
        // Of first copies that are given up as soon as the second ones answer, only what they waited is known: too little
        // to name a cause, which must not be a wrong one then.
        if cancellation != Cancellation::Never {
            says(&assessment, &[Cause::Independent, Cause::Insufficient], &[Action::Hedge, Action::Wait]);
            continue;
        }
        says(&assessment, &[Cause::Independent], &[Action::Hedge]);
        // What is expected before is what there would be without any copies.
        let before = assessment.recommendation.expected.unwrap().before.p99.unwrap();
        assert!((0.07..0.13).contains(&before), "{before}");
    }
}

#[test]
fn copies_in_the_traffic_do_not_hide_what_they_are_not_for() {
    for ids in [CopyIds::Logged, CopyIds::Anonymous] {
        let mut traffic =
            Traffic::to(6, even(ms(4))).named().fault(Scope::All, at_random(5.0, 0.2), Effect::Pause);
        traffic.policy = hedging(Cancellation::Never);
        traffic.ids = ids;
        says(&traffic.assess(), &[Cause::Shared], NEVER);
    }
}

#[test]
fn copies_that_lose_every_race_win_none() {
    // The copy leaves when nearly everything is answered, and goes where all is slow.
    let mut traffic = Traffic::to(2, even(ms(20))).named();
    traffic.system.arrivals = Arrivals::Poisson(rate(100.0));
    traffic.policy = Policy::of(Tactic::Hedge(Hedge::after(ms(28))));
    traffic.ids = CopyIds::Logged;
    let hedging = traffic.assess().hedging.unwrap();
    assert!(hedging.rate > 0.02 && hedging.wins.unwrap() < 0.05, "{hedging:?}");
}

#[test]
fn full_instances_are_saturated() {
    let mut traffic = Traffic::to(4, even(ms(20))).named();
    traffic.system.slots = count(2);
    let bursts = Bursts::new(rate(250.0), 2.5, share(0.2), seconds(2.0)).unwrap();
    traffic.system.arrivals = Arrivals::Bursty(bursts);
    says(&traffic.assess(), &[Cause::Saturated], NEVER);
}

#[test]
fn where_even_the_median_grows_it_is_saturated_or_without_a_tail() {
    let mut traffic = Traffic::to(4, even(ms(20))).named();
    traffic.system.slots = count(2);
    traffic.system.arrivals = Arrivals::Poisson(rate(415.0));
    let assessment = traffic.assess();
    says(&assessment, &[Cause::Saturated, Cause::NoTail], &[Action::DoNotHedge, Action::None]);
}

#[test]
fn surges_of_others_are_never_hedged() {
    let mut traffic = Traffic::to(4, even(ms(10))).named();
    traffic.system.slots = count(2);
    traffic.system.arrivals = Arrivals::Poisson(rate(300.0));
    traffic.conditions.others = vec![OtherLoad { when: at_random(8.0, 1.0), rate: rate(800.0) }];
    says(&traffic.assess(), &[Cause::Saturated, Cause::Shared], NEVER);
}

#[test]
fn answers_that_say_there_is_too_much_are_saturation() {
    let mut traffic = Traffic::to(4, even(ms(20))).named();
    traffic.system.slots = count(2);
    traffic.conditions.most_waiting = Some(12);
    let bursts = Bursts::new(rate(250.0), 3.0, share(0.2), seconds(2.0)).unwrap();
    traffic.system.arrivals = Arrivals::Bursty(bursts);
    says(&traffic.assess(), &[Cause::Saturated], NEVER);
}

#[test]
fn loss_is_the_network() {
    let effect = Effect::Loss { share: share(0.02), timeout: ms(200) };
    let assessment = Traffic::to(5, even(ms(4))).named().fault(Scope::All, When::Always, effect).assess();
    says(&assessment, &[Cause::Network], NEVER);
}

#[test]
fn a_long_way_is_the_network() {
    let effect = Effect::RoundTrip { added: ms(60) };
    let assessment =
        Traffic::to(5, even(ms(4))).named().fault(Scope::All, at_random(10.0, 0.5), effect).assess();
    says(&assessment, &[Cause::Network], NEVER);
}

#[test]
fn where_nothing_is_slow_there_is_nothing_to_do() {
    says(&Traffic::to(5, even(ms(4))).named().assess(), &[Cause::NoTail], &[Action::None]);
}
