//! The facts that a verdict rests on, as figures.

use super::{
    attributable::OFTEN,
    coincidence::{BROAD, CLEAR, LEAST_P},
    composition::{BUSY, FULL, Findings, QUEUED},
    model::Evidence,
    neighbours::between_instances,
    samples::Samples,
    slow::Slow,
    verdict::{HALF, PAUSES, SLOW, STROKES, TAIL, pauses},
};

/// All that were found.
pub(super) fn evidence(samples: &Samples, slow: &Slow, findings: &Findings, strokes: usize) -> Vec<Evidence> {
    let mut all = tail(slow, strokes);
    all.extend(together(samples, slow, findings));
    all.extend(apart(samples, slow, findings));
    all.extend(load(findings));
    all
}

fn fact(name: &'static str, value: f64, threshold: Option<f64>, meaning: &str) -> Evidence {
    Evidence { name, value, ci: None, threshold, meaning: meaning.to_owned() }
}

fn tail(slow: &Slow, strokes: usize) -> Vec<Evidence> {
    vec![
        fact("tail_ratio", slow.tail_ratio(), Some(TAIL), "target quantile ÷ median"),
        fact("slow_requests", slow.count as f64, Some(SLOW as f64), "requests above the threshold"),
        fact(
            "strokes",
            strokes as f64,
            Some(STROKES as f64),
            "separate strokes of slowness at single instances",
        ),
    ]
}

/// Whether instances are slow together.
fn together(samples: &Samples, slow: &Slow, findings: &Findings) -> Vec<Evidence> {
    let mut all = Vec::new();
    if let Some(coincidence) = &findings.coincidence {
        all.extend([
            fact(
                "co_exceedance",
                coincidence.chi,
                Some(coincidence.slow_share),
                "χ: chance that a request elsewhere in the same window is slow, given that one is; against chance",
            ),
            fact(
                "slow_together",
                coincidence.share,
                Some(HALF),
                "share of slow requests that are slow together with other instances, beyond chance",
            ),
            fact(
                "slow_together_p",
                coincidence.p_value,
                Some(LEAST_P),
                "how often chance brings as much (rotations)",
            ),
            fact(
                "slow_together_score",
                coincidence.score,
                Some(CLEAR),
                "standard deviations of chance beyond its mean",
            ),
            fact(
                "breadth",
                coincidence.breadth,
                Some(BROAD),
                "instances that such times strike, of those that they could have",
            ),
            fact("window_s", coincidence.width.as_seconds(), None, "width of these windows"),
        ]);
    }
    if let Some(nearest) = findings.nearest {
        let chance = slow.count as f64 / samples.primaries.len().max(1) as f64;
        all.push(Evidence {
            ci: Some(nearest.ci),
            ..fact(
                "co_exceedance_nearest",
                nearest.chi,
                Some(chance),
                "χ with the request that began nearest in time at another instance; against chance",
            )
        });
    }
    all
}

/// How slowness comes at single instances.
fn apart(samples: &Samples, slow: &Slow, findings: &Findings) -> Vec<Evidence> {
    let mut all = vec![
        fact(
            "between_instances",
            between_instances(samples, &slow.is),
            None,
            "share of the variance of slowness that lies between instances",
        ),
        fact(
            "pauses",
            pauses(slow, samples, findings),
            Some(PAUSES),
            "by how much slow requests follow one another at an instance beyond chance",
        ),
        fact(
            "queued",
            findings.queued,
            Some(QUEUED),
            "share of other requests that find fewer under way than the first of a run of slow ones",
        ),
    ];
    if let Some((with, without)) = findings.retransmitted {
        all.push(fact(
            "slow_with_retransmission",
            with,
            Some(OFTEN * without),
            "share of slow requests among those during which a segment was seen again",
        ));
    }
    all
}

/// How busy instances are, as far as their client can tell.
fn load(findings: &Findings) -> Vec<Evidence> {
    let load = &findings.load;
    let mut all = vec![
        fact("concurrency", load.concurrency, None, "requests of this client under way at an instance"),
        fact(
            "load_correlation",
            load.correlation,
            None,
            "rank correlation of latency with how many were under way",
        ),
    ];
    if let Some(offered) = &load.offered {
        let meaning = "work that arrives at an instance in a second, in seconds";
        all.push(fact("offered_work", offered.mean, None, meaning));
    }
    if let Some(utilisation) = load.utilisation() {
        all.push(fact(
            "utilisation",
            utilisation,
            Some(FULL),
            "work under way at an instance ÷ the number from which on latency grows",
        ));
    }
    if let Some(one) = load.one_at_a_time {
        all.push(fact(
            "one_at_a_time",
            f64::from(u8::from(one)),
            None,
            "1 where an instance serves one request at a time, so that a slow one holds up others",
        ));
    }
    if findings.busy_share > 0.0 {
        let meaning = "answers that say there is too much to do, at the median instance";
        all.push(fact("busy_answers", findings.busy_share, Some(BUSY), meaning));
    }
    all
}
