//! nginx: an object of its variables in JSON, or `combined` followed by pairs of them.
//!
//! Each server that was tried has its own times: `upstream_header_time` to the response's head,
//! `upstream_response_time` to its end, both from where connecting began. The log is written at the end of a request,
//! so that its tries are placed backwards from there.

use std::borrow::Cow;

use observer_common::{Nanoseconds, Outcome, Timestamp};

use super::{
    entry::{Bad, Entry, Found, Kind},
    fields::{Fields, is_missing},
    lack::Lack,
    request, time,
    tokens::{Token, Tokens},
    tries::{Tried, items, items_of},
};

/// What people call variables for short, and what they are.
const SHORT_NAMES: [(&str, &str); 10] = [
    ("rt", "request_time"),
    ("uct", "upstream_connect_time"),
    ("uht", "upstream_header_time"),
    ("urt", "upstream_response_time"),
    ("ut", "upstream_response_time"),
    ("us", "upstream_status"),
    ("ustatus", "upstream_status"),
    ("upstream", "upstream_addr"),
    ("uaddr", "upstream_addr"),
    // Last: it may as well be the user agent.
    ("ua", "upstream_addr"),
];

const NO_UPSTREAM: &str = "upstream_addr and upstream_response_time among its variables: add them to the log_format, \
                           as docs/access-logs.md shows";

pub(super) fn parse(line: &str, found: &mut Found) -> Result<Kind, Bad> {
    let fields = if line.starts_with('{') { Fields::of_json(line)? } else { Fields::Pairs(pairs(line)?) };
    let get = |name: &str| variable(&fields, name);
    let (Some(addresses), Some(times)) = (get("upstream_addr"), get("upstream_response_time")) else {
        return Err(Bad::new(line, NO_UPSTREAM));
    };
    if is_missing(&addresses) {
        return Ok(Kind::NotTried);
    }
    let addresses = items(&addresses);
    let request = Whole::of(&fields)?;
    let tries = addresses.len();
    let texts = ["header_time", "connect_time", "status", "bytes_received", "bytes_sent"]
        .map(|name| get(&format!("upstream_{name}")));
    let mut lists = texts.iter().map(|text| text.as_deref().map(|list| items_of(list, tries)).transpose());
    let mut list = || lists.next().transpose().map(Option::flatten);
    let (heads, connects, statuses, received, sent) = (list()?, list()?, list()?, list()?, list()?);
    let times = items_of(&times, tries)?;

    let mut end = request.end;
    for (index, address) in addresses.iter().enumerate().rev() {
        let is_last = index + 1 == tries;
        let (Tried::Server(address), Some(took)) = (Tried::of(address)?, duration(times[index])?) else {
            continue;
        };
        let start = end.0.checked_sub(took.0).map(Timestamp);
        let start = start.ok_or_else(|| Bad::new(times[index], "a time that began after 1970"))?;
        end = start;
        let attempt = Attempt {
            start,
            took,
            connecting: item(connects.as_ref(), index).map(duration).transpose()?.flatten(),
            head: Head::of(item(heads.as_ref(), index))?,
            // nginx goes on to another server only where one failed.
            status: item(statuses.as_ref(), index).unwrap_or(if is_last { &request.status } else { "502" }),
        };
        if heads.is_none() {
            found.lacks.insert(Lack::FirstByte);
        }
        if connects.is_none() {
            found.lacks.insert(Lack::Connecting);
        }
        let mut entry = attempt.entry(address, &request);
        let whole = |bytes: Option<u64>| bytes.filter(|_| is_last);
        entry.request_bytes =
            item(sent.as_ref(), index).and_then(time::number).or(whole(request.request_bytes));
        entry.response_bytes =
            item(received.as_ref(), index).and_then(time::number).or(whole(request.response_bytes));
        found.entries.push(entry);
    }
    found.entries.reverse();
    found.lacks.insert(Lack::Tick);
    if request.is_coarse {
        found.lacks.insert(Lack::WholeSeconds);
    }
    Ok(if found.entries.is_empty() { Kind::NotTried } else { Kind::Tried })
}

fn item<'a>(list: Option<&Vec<&'a str>>, index: usize) -> Option<&'a str> {
    list?.get(index).copied()
}

/// What a request's tries have in common.
struct Whole {
    end: Timestamp,
    is_coarse: bool,
    class: Option<String>,
    /// What the client was answered.
    status: String,
    service: Option<String>,
    request_bytes: Option<u64>,
    response_bytes: Option<u64>,
}

impl Whole {
    fn of(fields: &Fields<'_>) -> Result<Self, Bad> {
        let get = |name: &str| variable(fields, name);
        let (end, is_coarse) = end(fields)?;
        let class = match (get("request_method"), fields.first(&["request_uri", "uri"])) {
            (Some(method), Some(target)) => request::class(&method, &target, false),
            _ => get("request").and_then(|line| request::class_of_line(&line, false)),
        };
        let bytes = |names: &[&str]| fields.first(names).and_then(|text| time::number(&text));
        Ok(Self {
            end,
            is_coarse,
            class,
            status: get("status").map(Cow::into_owned).unwrap_or_default(),
            service: get("proxy_host").filter(|name| !is_missing(name)).map(Cow::into_owned),
            request_bytes: bytes(&["request_length"]),
            response_bytes: bytes(&["bytes_sent", "body_bytes_sent"]),
        })
    }
}

/// When the request ended, and whether that is known to the second alone.
fn end(fields: &Fields<'_>) -> Result<(Timestamp, bool), Bad> {
    let bad = |text: &str| Bad::new(text, "a time in msec, time_iso8601 or time_local");
    if let Some(text) = fields.get("msec") {
        let since_1970 = time::seconds(&text).ok_or_else(|| bad(&text))?;
        return Ok((Timestamp(since_1970.0), false));
    }
    if let Some(text) = fields.get("time_iso8601") {
        return Ok((time::rfc3339(&text).ok_or_else(|| bad(&text))?, true));
    }
    let text = fields.get("time_local").ok_or_else(|| bad("a request without a time"))?;
    Ok((time::common(&text).ok_or_else(|| bad(&text))?, true))
}

/// Until the head of a response.
#[derive(Clone, Copy)]
enum Head {
    Came(Nanoseconds),
    NeverCame,
    /// The log does not say.
    Untold,
}

impl Head {
    fn of(item: Option<&str>) -> Result<Self, Bad> {
        let Some(item) = item else { return Ok(Self::Untold) };
        Ok(duration(item)?.map_or(Self::NeverCame, Self::Came))
    }
}

/// One try.
struct Attempt<'a> {
    /// When connecting began.
    start: Timestamp,
    took: Nanoseconds,
    /// Nothing where it is not known, or never came to be.
    connecting: Option<Nanoseconds>,
    head: Head,
    status: &'a str,
}

impl Attempt<'_> {
    fn entry(self, address: &str, request: &Whole) -> Entry {
        // The request leaves when there is a connection.
        let connecting = self.connecting.unwrap_or_default();
        let after = |duration: Nanoseconds| Nanoseconds(duration.0.saturating_sub(connecting.0));
        let abandoned = request.status == "499";
        // Without a time for the head, these codes are taken to be nginx's own.
        let is_own = matches!(self.status, "502" | "504" | "499" | "-" | "");
        let (outcome, latency) = match self.head {
            Head::Came(head) => (Outcome::Ok, head),
            Head::Untold if !is_own => (Outcome::Ok, self.took),
            Head::Untold | Head::NeverCame => (unanswered(self.status, abandoned), self.took),
        };
        let answered = outcome == Outcome::Ok;
        let (status, failed) = Some(self.status).filter(|_| answered).and_then(request::status).unzip();
        Entry {
            start: Timestamp(self.start.0.saturating_add(connecting.0)),
            latency: after(latency),
            complete: (answered && !abandoned).then(|| after(self.took)),
            service: request.service.clone(),
            instance: address.to_owned(),
            outcome,
            class: request.class.clone(),
            status,
            failed: failed.unwrap_or_default(),
            request_bytes: None,
            response_bytes: None,
        }
    }
}

/// Why a server did not answer, by the status that nginx gave the try.
fn unanswered(status: &str, abandoned: bool) -> Outcome {
    match status {
        "504" => Outcome::Timeout,
        "502" => Outcome::Reset,
        _ if abandoned => Outcome::Cancelled,
        _ => Outcome::Reset,
    }
}

/// A duration in seconds; nothing where there is a hyphen.
fn duration(text: &str) -> Result<Option<Nanoseconds>, Bad> {
    if is_missing(text) {
        return Ok(None);
    }
    time::seconds(text).map(Some).ok_or_else(|| Bad::new(text, "seconds with milliseconds, such as 0.012"))
}

/// A variable by its name, or by one of its short names.
fn variable<'a>(fields: &'a Fields<'_>, name: &str) -> Option<Cow<'a, str>> {
    let short = || SHORT_NAMES.iter().filter(|(_, long)| *long == name);
    fields.get(name).or_else(|| short().find_map(|(short, _)| fields.get(short)))
}

/// The variables of `combined`, and the pairs that follow it.
fn pairs(line: &str) -> Result<Vec<(&str, &str)>, Bad> {
    /// The variables that stand one after the other behind the time.
    const AFTER_TIME: [&str; 3] = ["request", "status", "body_bytes_sent"];
    let mut pairs = Vec::new();
    let mut after_time: Option<usize> = None;
    for token in Tokens::of(line) {
        match token {
            Token::Bracketed(time) if after_time.is_none() => {
                pairs.push(("time_local", time));
                after_time = Some(0);
            }
            Token::Pair(key, value) => pairs.push((key, value)),
            Token::Word(value) | Token::Quoted(value) => {
                if let Some(place) = after_time.as_mut() {
                    pairs.extend(AFTER_TIME.get(*place).map(|name| (*name, value)));
                    *place += 1;
                }
            }
            Token::Bracketed(_) => {}
            Token::Unclosed(text) => return Err(Bad::new(text, "a quote or bracket that ends")),
        }
    }
    Ok(pairs)
}
