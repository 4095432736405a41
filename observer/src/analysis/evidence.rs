//! The facts that a verdict rests on, as figures.

use super::{
    composition::{FULL, Findings, QUEUED},
    model::Evidence,
    neighbours::between_instances,
    samples::Samples,
    slow::Slow,
    verdict::{SLOW, STROKES, TAIL, pauses, strokes},
};

/// All that were found.
pub(super) fn evidence(samples: &Samples, slow: &Slow, findings: &Findings) -> Vec<Evidence> {
    let fact = |name, value, threshold, meaning: &str| Evidence {
        name,
        value,
        ci: None,
        threshold,
        meaning: meaning.to_owned(),
    };
    let mut all = vec![
        fact("tail_ratio", slow.tail_ratio(), Some(TAIL), "target quantile ÷ median"),
        fact("slow_requests", slow.count as f64, Some(SLOW as f64), "requests above the threshold"),
        fact(
            "strokes",
            strokes(slow, samples, findings) as f64,
            Some(STROKES as f64),
            "separate strokes of slowness at single instances",
        ),
    ];
    if let Some(coincidence) = &findings.coincidence {
        all.push(fact(
            "co_exceedance",
            coincidence.chi,
            Some(coincidence.slow_share),
            "chance that a request elsewhere in the same window is slow, given that one is; the threshold is what \
             chance brings",
        ));
        all.push(fact(
            "slow_together",
            coincidence.share,
            Some(0.5),
            "share of slow requests that are slow together with other instances, beyond chance",
        ));
        all.push(fact(
            "slow_together_p",
            coincidence.p_value,
            Some(0.01),
            "how often chance brings as much (rotations)",
        ));
        all.push(fact(
            "slow_together_score",
            coincidence.score,
            Some(4.0),
            "standard deviations beyond chance",
        ));
        all.push(fact(
            "breadth",
            coincidence.breadth,
            Some(0.5),
            "instances that such times strike, of those that they could have",
        ));
        all.push(fact("window_s", coincidence.width.as_seconds(), None, "width of these windows"));
    }
    if let Some(nearest) = findings.nearest {
        all.push(Evidence {
            ci: Some(nearest.ci),
            ..fact(
                "co_exceedance_nearest",
                nearest.chi,
                Some(slow.count as f64 / samples.primaries.len().max(1) as f64),
                "chance that the request that began nearest in time at another instance is slow, given that one is",
            )
        });
    }
    all.push(fact(
        "between_instances",
        between_instances(samples, &slow.is),
        None,
        "share of the variance of slowness that lies between instances",
    ));
    all.push(fact(
        "pauses",
        pauses(slow, samples, findings),
        Some(0.25),
        "by how much slow requests follow one another at an instance beyond chance",
    ));
    all.push(fact(
        "queued",
        findings.queued,
        Some(QUEUED),
        "share of other requests that find fewer under way than the first of a run of slow ones",
    ));
    all.push(fact(
        "concurrency",
        findings.load.concurrency,
        None,
        "requests of this client under way at an instance",
    ));
    if let Some(utilisation) = findings.load.utilisation() {
        all.push(fact(
            "utilisation",
            utilisation,
            Some(FULL),
            "work under way at an instance ÷ the number from which on latency grows",
        ));
    }
    if let Some(one) = findings.load.one_at_a_time {
        all.push(fact(
            "one_at_a_time",
            f64::from(u8::from(one)),
            None,
            "1 where an instance serves one request at a time, so that a slow one holds up others",
        ));
    }
    all.push(fact(
        "offered_work",
        findings.load.offered,
        None,
        "work that arrives at an instance in a second, in seconds",
    ));
    all.push(fact(
        "load_correlation",
        findings.load.correlation,
        None,
        "rank correlation of latency with how many were under way",
    ));
    if findings.busy_share > 0.0 {
        all.push(fact(
            "busy_answers",
            findings.busy_share,
            Some(0.01),
            "answers that say there is too much to do",
        ));
    }
    if let Some((with, without)) = findings.retransmitted {
        all.push(fact(
            "slow_with_retransmission",
            with,
            Some(3.0 * without),
            "share of slow requests among those during which a segment was seen again",
        ));
    }
    all
}
