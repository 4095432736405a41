//! One assessment of each kind, made by hand, to be rendered.

use observer::{
    analysis::{
        Question,
        model::{
            Action, Alternative, Assessment, Cause, Composition, Decisive, Episodes, Evidence, Expected,
            FanOut, Hedging, Intervals, Latencies, Portion,
        },
    },
    report::Report,
};

use crate::sample::Sample;

/// The report of a good day with another assessment.
pub(crate) fn report(assessment: Assessment) -> Report {
    let mut report = Sample::new().report();
    let service = &mut report.services[0];
    for instance in &mut service.instances {
        instance.elevated = assessment.verdict.elevated.contains(&instance.address);
        instance.slow_share = assessment.verdict.slow_above_s.map(|_| 0.01);
    }
    service.assessment = assessment;
    report
}

/// All of them, by name.
pub(crate) fn all() -> Vec<(&'static str, Assessment)> {
    vec![
        ("independent", independent()),
        ("independent_or_request", independent_or_request()),
        ("instance", instance()),
        ("shared", shared()),
        ("saturated", saturated()),
        ("caller", caller()),
        ("network", network()),
        ("request", request()),
        ("mixed", mixed()),
        ("no_tail", no_tail()),
        ("insufficient", insufficient()),
    ]
}

fn assessment(cause: Cause, helps: Option<bool>, action: Action, summary: &str) -> Assessment {
    let mut assessment = Assessment::insufficient(3_600, String::new(), &Question::default());
    let verdict = &mut assessment.verdict;
    (verdict.cause, verdict.hedging_helps, verdict.confidence) = (cause, helps, 0.93);
    (verdict.missing, verdict.summary) = (None, summary.into());
    (verdict.slow_above_s, verdict.slow) = (Some(0.012), 108);
    assessment.recommendation.action = action;
    assessment
}

fn portion(share: f64) -> Portion {
    Portion { share, ci: [(share - 0.06).max(0.0), (share + 0.05).min(1.0)] }
}

fn evidence(name: &'static str, value: f64, threshold: f64, meaning: &str) -> Evidence {
    let ci = Some([value * 0.8, value * 1.2]);
    Evidence { name, value, ci, threshold: Some(threshold), meaning: meaning.into() }
}

fn co_exceedance(value: f64, meaning: &str) -> Evidence {
    evidence("co-exceedance", value, 0.2, meaning)
}

fn latencies(p50: f64, p95: f64, p99: f64, p999: f64) -> Latencies {
    Latencies { p50: Some(p50), p95: Some(p95), p99: Some(p99), p999: Some(p999) }
}

fn with_policy(assessment: &mut Assessment) {
    let recommendation = &mut assessment.recommendation;
    recommendation.delay_s = Some(0.0081);
    recommendation.budget_fraction = Some(0.05);
    recommendation.hedge_probability = Some(1.0);
    recommendation.max_attempts = Some(2);
    recommendation.expected = Some(Expected {
        before: latencies(0.005_3, 0.011, 0.106, 0.283),
        after: latencies(0.005_3, 0.010_8, 0.014_2, 0.061),
        after_ci: Intervals { p99: Some([0.013_1, 0.016_8]), ..Intervals::default() },
        decisive: Decisive {
            quantile: 0.99,
            before_s: Some(0.106),
            after_s: Some(0.014_2),
            after_ci_s: Some([0.013_1, 0.016_8]),
        },
        hedge_rate: 0.036,
        extra_load: 0.036,
        wins: 0.83,
    });
}

pub(crate) fn independent() -> Assessment {
    let summary = "slow requests come one by one, and other instances answer at the same moment as ever";
    let mut made = assessment(Cause::Independent, Some(true), Action::Hedge, summary);
    with_policy(&mut made);
    made.verdict.composition = Composition {
        independent: portion(0.92),
        instance: portion(0.05),
        request: portion(0.03),
        ..Composition::default()
    };
    made.verdict.evidence = vec![
        co_exceedance(0.021, "another instance is rarely slow at the same moment"),
        evidence("donors that are fast", 0.97, 0.5, "nearly every slow request had a fast one beside it"),
        Evidence {
            name: "slow requests",
            value: 108.0,
            ci: None,
            threshold: None,
            meaning: "enough to tell".into(),
        },
    ];
    let recommendation = &mut made.recommendation;
    recommendation.budget_burst = Some(10);
    recommendation.conditions = vec![
        "requests may be sent twice: nothing tells whether POST /cart may".into(),
        "the instances use at most 70 % of their capacity: a client sees only its own load".into(),
        "the first step is 1 %".into(),
    ];
    recommendation.warnings = vec!["what was observed lasted only 10 s".into()];
    recommendation.instead = vec!["look for what pauses 127.0.0.12:8080".into()];
    recommendation.alternatives = [(0.01, 0.031, 0.5, 0.006, 0.061), (0.1, 0.006_4, 1.0, 0.048, 0.012_9)]
        .map(|(budget_fraction, delay_s, hedge_probability, extra_load, target_s)| Alternative {
            budget_fraction,
            delay_s,
            hedge_probability,
            extra_load,
            target_s,
        })
        .into();
    recommendation.fan_out = Some(FanOut {
        width: 20,
        component_quantile: 0.999_5,
        component_s: Some(0.291),
        slow_share: 0.26,
        budget_per_request: Some(0.05),
    });
    made.hedging = Some(Hedging { observed: true, rate: 0.012, wins: Some(0.41) });
    made
}

pub(crate) fn independent_or_request() -> Assessment {
    let summary = "slow requests come one by one, and nothing tells costly requests apart";
    let mut made = assessment(Cause::IndependentOrRequest, None, Action::Canary, summary);
    with_policy(&mut made);
    made.recommendation.hedge_probability = Some(0.5);
    made.recommendation.max_attempts = Some(3);
    made.verdict.confidence = 0.71;
    made.verdict.composition = Composition { independent: portion(0.95), ..Composition::default() };
    made.recommendation.conditions =
        vec!["the second copies win: if they are as slow as the first ones, the requests are costly".into()];
    made
}

pub(crate) fn instance() -> Assessment {
    let summary = "one of three instances is slow as a whole";
    let mut made = assessment(Cause::Instance, Some(true), Action::Eject, summary);
    made.verdict.elevated = vec!["127.0.0.12:8080".into()];
    made.verdict.composition =
        Composition { instance: portion(0.88), independent: portion(0.12), ..Composition::default() };
    made.verdict.evidence =
        vec![evidence("slow share of 127.0.0.12:8080", 0.088, 0.02, "the others have 0.4 % and 0.3 %")];
    made.recommendation.instead = vec!["hedge until it is gone: p99 would be 14.2 ms".into()];
    made
}

pub(crate) fn shared() -> Assessment {
    let summary = "all instances are slow at the same times";
    let mut made = assessment(Cause::Shared, Some(false), Action::DoNotHedge, summary);
    made.verdict.episodes = Some(Episodes {
        count: 6,
        first_s: 1.2,
        last_s: 9.1,
        length_s: 0.21,
        every_s: Some(1.6),
        regular: true,
        instances: 0.97,
    });
    made.verdict.composition = Composition { shared: portion(0.96), ..Composition::default() };
    made.verdict.evidence = vec![co_exceedance(0.93, "where one instance is slow, so is another")];
    made.recommendation.instead =
        vec!["find what all instances wait for at these times: a store, a lock, a scheduled job".into()];
    made
}

pub(crate) fn saturated() -> Assessment {
    let summary = "instances are slow together whenever more is asked of them";
    let mut made = assessment(Cause::Saturated, Some(false), Action::DoNotHedge, summary);
    made.verdict.composition = Composition {
        saturated: portion(0.81),
        shared: portion(0.14),
        independent: portion(0.05),
        ..Composition::default()
    };
    made.recommendation.warnings = vec!["second copies that are sent already make it worse".into()];
    made.recommendation.instead = vec!["add capacity, or shed load".into()];
    made
}

pub(crate) fn caller() -> Assessment {
    let summary = "the answers had arrived, and the client process read them late";
    let mut made = assessment(Cause::Caller, Some(false), Action::DoNotHedge, summary);
    made.verdict.composition = Composition { caller: portion(0.9), ..Composition::default() };
    made.recommendation.instead =
        vec!["look at the client: garbage collection, a blocked event loop, a processor quota".into()];
    made
}

pub(crate) fn network() -> Assessment {
    let summary = "slow requests are those with lost segments";
    let mut made = assessment(Cause::Network, Some(false), Action::DoNotHedge, summary);
    made.verdict.composition =
        Composition { network: portion(0.77), independent: portion(0.23), ..Composition::default() };
    made.recommendation.instead = vec!["find where segments are lost".into()];
    made
}

pub(crate) fn request() -> Assessment {
    let summary = "the same requests are slow at every instance";
    let mut made = assessment(Cause::Request, Some(false), Action::DoNotHedge, summary);
    made.verdict.slow_classes =
        ["GET /report", "GET /export", "POST /search", "GET /all"].map(Into::into).into();
    made.verdict.composition = Composition { request: portion(0.98), ..Composition::default() };
    made.recommendation.instead = vec!["make them cheaper, cache them, or give them a deadline".into()];
    made
}

pub(crate) fn mixed() -> Assessment {
    let summary = "no cause has half of the slow requests";
    let mut made = assessment(Cause::Mixed, Some(true), Action::Canary, summary);
    with_policy(&mut made);
    made.recommendation.target = 0.995;
    if let Some(expected) = &mut made.recommendation.expected {
        expected.decisive.quantile = 0.995;
    }
    made.verdict.composition = Composition {
        shared: portion(0.41),
        independent: portion(0.34),
        request: portion(0.2),
        network: portion(0.05),
        ..Composition::default()
    };
    made.verdict.clusters = vec![vec!["127.0.0.11:8080".into(), "127.0.0.12:8080".into()]];
    made.recommendation.instead = vec!["find what instances wait for together".into()];
    made
}

pub(crate) fn no_tail() -> Assessment {
    let summary = "p99 is 1.3 times the median";
    let mut made = assessment(Cause::NoTail, None, Action::None, summary);
    made.verdict.slow_above_s = None;
    made.verdict.slow = 0;
    made
}

pub(crate) fn insufficient() -> Assessment {
    let missing = "120 more slow requests, about 4 minutes at this rate";
    let mut made = Assessment::insufficient(3_600, missing.into(), &Question::default());
    made.verdict.slow_above_s = Some(0.012);
    made.verdict.slow = 9;
    made
}
