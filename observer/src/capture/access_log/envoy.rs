//! Envoy: the default text, Istio's, which says more about failures, or JSON with the same names.
//!
//! A line is about a request, not about a try: the instance is the last that was tried, and the upstream service time
//! covers all that happened after the request had been read.

use std::borrow::Cow;

use observer_common::Outcome;

use super::{
    entry::{Bad, Entry, Found, Kind},
    fields::{Fields, is_missing},
    lack::Lack,
    request, time,
    tokens::{Token, Tokens},
};

/// Why the response is not all there, by response flag, and how that counts where nothing of it came.
const ENDINGS: [(&str, Outcome); 13] = [
    ("UT", Outcome::Timeout),
    ("SI", Outcome::Timeout),
    ("UMSDR", Outcome::Timeout),
    ("DT", Outcome::Timeout),
    ("DC", Outcome::Cancelled),
    ("DR", Outcome::Cancelled),
    ("LR", Outcome::Cancelled),
    ("DPE", Outcome::Cancelled),
    ("UF", Outcome::Reset),
    ("UC", Outcome::Reset),
    ("UR", Outcome::Reset),
    ("UPE", Outcome::Reset),
    ("URX", Outcome::Reset),
];

/// Flags of requests that Envoy answers itself, with or without an instance in mind.
const NOT_SENT: [&str; 12] = ["UH", "UO", "NR", "NC", "RL", "RLSE", "UAEX", "FI", "LH", "IH", "NFCF", "OM"];

pub(super) fn parse(line: &str, found: &mut Found) -> Result<Kind, Bad> {
    let fields = if line.starts_with('{') { Fields::of_json(line)? } else { Fields::Pairs(text(line)?) };
    let required = |name: &str, expected| {
        fields.get(name).filter(|value| !is_missing(value)).ok_or_else(|| Bad::new(line, expected))
    };
    let optional = |names: &[&str]| fields.first(names).filter(|value| !is_missing(value));
    let start = required("start_time", "a start_time")?;
    let start = time::rfc3339(&start)
        .ok_or_else(|| Bad::new(&start, "a start_time such as 2025-07-28T10:14:14.655Z"))?;
    let milliseconds = |text: &str| {
        time::milliseconds(text).ok_or_else(|| Bad::new(text, "a duration in whole milliseconds"))
    };
    let duration = milliseconds(&required("duration", "a duration")?)?;
    let within = |text: Cow<'_, str>| match milliseconds(&text)? {
        longer if longer > duration => {
            Err(Bad::new(&text, "an upstream service time that is not longer than the duration"))
        }
        service_time => Ok(service_time),
    };
    let service_time = optional(&["upstream_service_time", "x-envoy-upstream-service-time"]);
    let service_time = service_time.map(within).transpose()?;

    let Some(host) = optional(&["upstream_host"]) else { return Ok(Kind::NotTried) };
    let flags = optional(&["response_flags"]).unwrap_or_default();
    let has = |flag: &str| flags.split(',').any(|one| one.trim() == flag);
    let ending = ENDINGS.iter().find(|(flag, _)| has(flag)).map(|(_, outcome)| *outcome);
    if service_time.is_none() && ending.is_none() && NOT_SENT.iter().any(|flag| has(flag)) {
        return Ok(Kind::NotTried);
    }
    let outcome = if service_time.is_some() { Outcome::Ok } else { ending.unwrap_or(Outcome::Ok) };
    let answered = outcome == Outcome::Ok;
    found.lacks.insert(Lack::Tries);
    if answered && service_time.is_none() {
        found.lacks.insert(Lack::FirstByte);
    }
    let latency = service_time.unwrap_or(duration);
    let status = optional(&["response_code"]).filter(|_| answered);
    let (status, failed) = status.and_then(|status| request::status(&status)).unzip();
    let class = match (optional(&["method"]), optional(&["path"])) {
        (Some(method), Some(path)) => request::class(&method, &path, false),
        _ => optional(&["request"]).and_then(|line| request::class_of_line(&line, false)),
    };
    let bytes = |name: &str| fields.get(name).and_then(|text| time::number(&text));
    // That all retries failed says nothing about the last response.
    let whole = !ENDINGS.iter().any(|(flag, _)| *flag != "URX" && has(flag));
    found.entries.push(Entry {
        start,
        latency,
        complete: (answered && whole).then_some(duration),
        service: optional(&["upstream_cluster"]).map(Cow::into_owned),
        instance: host.strip_prefix("tcp://").unwrap_or(&host).to_owned(),
        outcome,
        class,
        status,
        failed: failed.unwrap_or_default(),
        request_bytes: bytes("bytes_received"),
        response_bytes: bytes("bytes_sent"),
    });
    Ok(Kind::Tried)
}

/// Whether a line of text begins as Envoy's do, whether or not its time can be.
pub(super) fn begins(line: &str) -> bool {
    let time = line.strip_prefix('[').and_then(|line| line.split_once("] \""));
    time.is_some_and(|(time, _)| time::is_like_rfc3339(time))
}

/// The fields of a line of text, by the names that they have in JSON.
fn text(line: &str) -> Result<Vec<(&str, &str)>, Bad> {
    const BEGIN: [&str; 4] = ["start_time", "request", "response_code", "response_flags"];
    /// What Istio puts in between.
    const DETAILS: [&str; 3] =
        ["response_code_details", "connection_termination_details", "upstream_transport_failure_reason"];
    const END: [&str; 10] = [
        "bytes_received",
        "bytes_sent",
        "duration",
        "upstream_service_time",
        "x_forwarded_for",
        "user_agent",
        "request_id",
        "authority",
        "upstream_host",
        // Istio's alone.
        "upstream_cluster",
    ];
    let mut values = Vec::new();
    for token in Tokens::of(line).take(BEGIN.len() + DETAILS.len() + END.len()) {
        values.push(match token {
            Token::Word(text) | Token::Quoted(text) | Token::Bracketed(text) => text,
            // Words of a failure's details may look like pairs.
            Token::Pair(_, value) => value,
            Token::Unclosed(text) => return Err(Bad::new(text, "a quote or bracket that ends")),
        });
    }
    let is_plain = values.get(BEGIN.len()).is_some_and(|value| time::number(value).is_some());
    let details: &[&str] = if is_plain { &[] } else { &DETAILS };
    let names = BEGIN.iter().chain(details).chain(&END).copied();
    let fields: Vec<_> = names.zip(values).collect();
    if fields.iter().any(|(name, _)| *name == "upstream_host") {
        Ok(fields)
    } else {
        Err(Bad::new(line, "the fields of Envoy's default format, up to the upstream host"))
    }
}
