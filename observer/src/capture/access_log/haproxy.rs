//! HAProxy: `option httplog` and `option httpslog`, as they are, with or without what syslog puts in front.
//!
//! The request reaches the server after TR (the client sends it), Tw (it waits in a queue) and Tc (connecting), all
//! counted from the first byte that the client sent. None of them is the server's time: that is Tr.

use observer_common::{Nanoseconds, Outcome, Timestamp};

use super::{
    entry::{Bad, Entry, Found, Kind},
    lack::Lack,
    request, time,
};

/// What HAProxy says of itself in the same log begins so.
const OWN_MESSAGES: [&str; 6] = ["[", "Server ", "Backup Server ", "Proxy ", "proxy ", "backend "];

const A_DATE: &str = "a date that exists, from 1970 on, such as 28/Jul/2025:10:14:14.655";

pub(super) fn parse(line: &str, found: &mut Found) -> Result<Kind, Bad> {
    let Some((date, rest)) = at_date(line) else {
        let other = has_tag(line) || OWN_MESSAGES.iter().any(|begin| line.starts_with(begin));
        return if other {
            Ok(Kind::Other)
        } else {
            Err(Bad::new(
                line,
                "a line of 'option httplog' with its time, such as [28/Jul/2025:10:14:14.655]",
            ))
        };
    };
    let accepted = time::local(date).ok_or_else(|| Bad::new(date, A_DATE))?;
    let mut words = rest.split(' ').filter(|word| !word.is_empty());
    let mut word = |expected| words.next().ok_or_else(|| Bad::new(rest, expected));
    if word("the name of a frontend")?.ends_with(':') {
        // Connections that did not come to a request: "SSL handshake failure".
        return Ok(Kind::Other);
    }
    let server = word("backend/server")?;
    let (backend, name) = server.split_once('/').ok_or_else(|| Bad::new(server, "backend/server"))?;
    let timers = word("timers")?;
    let Some(timers) = Timers::of(timers)? else { return Ok(Kind::Other) };
    let status = word("a status")?;
    let bytes = word("how many bytes were sent")?;
    let (_, _) = (word("a cookie or '-'")?, word("a cookie or '-'")?);
    let ending = word("how the session ended, such as '----'")?;
    // Answered by HAProxy itself, or by nobody.
    if name.starts_with('<') {
        return Ok(Kind::NotTried);
    }
    let Some(attempt) = timers.attempt(ending) else { return Ok(Kind::NotTried) };
    let start = accepted.0.checked_add(attempt.after.0).map(Timestamp);
    let answered = attempt.outcome == Outcome::Ok;
    let (status, failed) = Some(status).filter(|_| answered).and_then(request::status).unzip();
    let request = rest.split_once(" \"").map(|(_, request)| request);
    let class = request.and_then(|request| match request.split_once('"') {
        Some((line, _)) => request::class_of_line(line, false),
        // Logs are cut to the longest line that syslog takes.
        None => request::class_of_line(request, true),
    });
    found.lacks.insert(Lack::TimeZone);
    found.entries.push(Entry {
        start: start.ok_or_else(|| Bad::new(line, "a time before 2554"))?,
        latency: attempt.latency,
        complete: attempt.complete,
        service: Some(backend.to_owned()),
        instance: server.to_owned(),
        outcome: attempt.outcome,
        class,
        status,
        failed: failed.unwrap_or_default(),
        request_bytes: None,
        response_bytes: time::number(bytes).filter(|_| attempt.complete.is_some()),
    });
    Ok(Kind::Tried)
}

/// When the request began, as it is written, and what stands behind that: the first brackets with a date in them,
/// whether or not there is such a day.
pub(super) fn at_date(line: &str) -> Option<(&str, &str)> {
    line.match_indices('[').find_map(|(at, _)| {
        // Zones are written behind a space: other logs than these have them.
        line[at + 1..].split_once(']').filter(|(text, _)| time::is_like_local(text))
    })
}

/// Whether syslog names a process: `haproxy[123]: `.
fn has_tag(line: &str) -> bool {
    line.split_once("]: ")
        .and_then(|(before, _)| before.rsplit_once('['))
        .is_some_and(|(_, process)| time::number(process).is_some())
}

/// TR, Tw, Tc, Tr and Ta; nothing where it did not come to that.
struct Timers {
    request: Option<Nanoseconds>,
    queue: Option<Nanoseconds>,
    connecting: Option<Nanoseconds>,
    response: Option<Nanoseconds>,
    active: Option<Nanoseconds>,
    /// Whether the log was written before the end (`option logasap`).
    early: bool,
}

/// What became of a request.
struct Attempt {
    /// From the first byte of the client to the first that the server got.
    after: Nanoseconds,
    latency: Nanoseconds,
    complete: Option<Nanoseconds>,
    outcome: Outcome,
}

impl Timers {
    /// Nothing where these are the timers of `option tcplog`.
    fn of(text: &str) -> Result<Option<Self>, Bad> {
        let bad = || Bad::new(text, "the timers TR/Tw/Tc/Tr/Ta of 'option httplog' in milliseconds");
        let timer = |text: &str| match text.trim_start_matches('+') {
            "-1" => Ok(None),
            number => time::milliseconds(number).map(Some).ok_or_else(bad),
        };
        let parts: Vec<&str> = text.split('/').collect();
        match parts[..] {
            [request, queue, connecting, response, active] => {
                let timers = Self {
                    request: timer(request)?,
                    queue: timer(queue)?,
                    connecting: timer(connecting)?,
                    response: timer(response)?,
                    active: timer(active)?,
                    early: active.starts_with('+'),
                };
                if timers.active.is_some_and(|active| timers.parts() > u128::from(active.0)) {
                    return Err(Bad::new(
                        text,
                        "timers TR/Tw/Tc/Tr/Ta of which Ta is no shorter than the others together",
                    ));
                }
                Ok(Some(timers))
            }
            [_, _, _] => Ok(None),
            _ => Err(bad()),
        }
    }

    /// Nanoseconds of all timers that are parts of Ta.
    fn parts(&self) -> u128 {
        let parts = [self.request, self.queue, self.connecting, self.response];
        parts.into_iter().flatten().map(|part| u128::from(part.0)).sum()
    }

    /// Nothing where the request never came to a server.
    fn attempt(&self, ending: &str) -> Option<Attempt> {
        let before = self.request?.0.checked_add(self.queue?.0)?;
        let after = Nanoseconds(before.checked_add(self.connecting.unwrap_or_default().0)?);
        let until_end = self.active.map(|active| Nanoseconds(active.0.saturating_sub(after.0)));
        if let (Some(_), Some(latency)) = (self.connecting, self.response) {
            let complete = until_end.filter(|_| !self.early && ending.starts_with('-'));
            return Some(Attempt { after, latency, complete, outcome: Outcome::Ok });
        }
        let outcome = match ending.as_bytes().first() {
            // The server or its network ended it, or it answered what is no HTTP.
            Some(b'S' | b'P') => Outcome::Reset,
            Some(b's') => Outcome::Timeout,
            // The client, or HAProxy itself for its own reasons.
            _ => Outcome::Cancelled,
        };
        Some(Attempt { after, latency: until_end?, complete: None, outcome })
    }
}
