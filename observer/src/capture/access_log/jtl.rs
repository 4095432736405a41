//! JMeter: a results file in CSV with its header.
//!
//! `elapsed` and `Latency` begin before a connection is opened and include `Connect`, which is not the server's time.

use std::{
    io::{self, BufReader, Read},
    path::Path,
};

use csv::{ByteRecord, ReaderBuilder, Trim};
use observer_common::{Nanoseconds, Outcome, Timestamp};

use super::{
    AccessLogError,
    entry::{Bad, Entry, Found, Kind},
    gathered::Gathered,
    lack::Lack,
    lines::Lines,
    request, time, unreadable,
};
use crate::capture::budget::{Bounded, Budget};

/// The columns that matter, the required ones first.
const COLUMNS: [&str; 11] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "success",
    "bytes",
    "sentBytes",
    "URL",
    "Latency",
    "Connect",
];
const REQUIRED: usize = 2;

/// The instance of samples that name none.
const UNKNOWN_INSTANCE: &str = "unknown";

/// What the row of a transaction says: its requests have rows of their own.
const TRANSACTION: &str = "Number of samples in transaction";

/// What stands in place of a status code where there was no response; the name of a Java exception follows.
const NO_RESPONSE: &str = "Non HTTP response code:";

/// A row of our own behind the last one: where a quote is not closed, that row holds it.
const END: &[u8] = b"\n\0end of file\0\n";

/// Whether a line is the header of a results file, and what separates its columns.
pub(super) fn delimiter_of(header: &str) -> Option<u8> {
    [b',', b';', b'\t'].into_iter().find(|delimiter| {
        let mut columns = header.split(char::from(*delimiter)).map(|name| name.trim_matches(['"', ' ']));
        columns.clone().any(|name| name == COLUMNS[0]) && columns.any(|name| name == COLUMNS[1])
    })
}

pub(super) fn read(source: impl Read, gathered: &mut Gathered<'_>) -> Result<(), AccessLogError> {
    let mut lines = Lines::new(source);
    let budget = lines.budget();
    let header = lines.next_line().map_err(|error| unreadable(gathered, 1, &budget, error))?;
    let header = header.map(|line| line.text.into_owned()).unwrap_or_default();
    let Some(delimiter) = delimiter_of(&header) else {
        return Err(no_header(gathered.path()));
    };
    let columns = Columns::of(&header, delimiter);
    if let Some(column) = columns.twice {
        return Err(AccessLogError::DuplicateColumn { path: gathered.path().to_owned(), column });
    }
    let budget = Budget::new();
    let source = Ending { source: lines.into_rest(), last: b'\n' }.chain(END);
    let input = BufReader::with_capacity(1 << 16, Bounded { source, budget: budget.clone() });
    let mut reader =
        ReaderBuilder::new().flexible(true).has_headers(false).delimiter(delimiter).from_reader(input);
    // One record ahead: of the last it matters whether its line ends.
    let (mut record, mut next) = (ByteRecord::new(), ByteRecord::new());
    let mut waiting = false;
    loop {
        budget.renew();
        // The header was read before.
        let line = reader.position().line() + 1;
        let more = reader
            .read_byte_record(&mut next)
            .map_err(|error| unreadable(gathered, line, &budget, error.into()))?;
        let at_end = more && next.iter().eq([END.trim_ascii()]);
        if waiting {
            let last = reader.get_ref().get_ref().source.get_ref().0.last;
            let line = record.position().map_or(0, csv::Position::line) + 1;
            let is_whole = !at_end || matches!(last, b'\n' | b'"');
            match (more, last) {
                (true, _) if is_whole => gathered.line(line, |found| columns.parse(&record, found))?,
                // It holds the row behind it.
                (false, b'\n') => gathered.line(line, |_| Err(unclosed(&record)))?,
                _ => gathered.cut_off(),
            }
        }
        if !more || at_end {
            return Ok(());
        }
        std::mem::swap(&mut record, &mut next);
        waiting = true;
    }
}

fn unclosed(record: &ByteRecord) -> Bad {
    let open = String::from_utf8_lossy(record.iter().next_back().unwrap_or_default());
    Bad::new(open.lines().next().unwrap_or_default(), "a quote that is closed")
}

fn no_header(path: &Path) -> AccessLogError {
    AccessLogError::NoHeader { path: path.to_owned(), missing: COLUMNS[..REQUIRED].join(" and ") }
}

/// A source whose last byte is remembered.
struct Ending<R> {
    source: R,
    last: u8,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(bytes)?;
        if let Some(last) = bytes.get(..count).and_then(<[u8]>::last) {
            self.last = *last;
        }
        Ok(count)
    }
}

/// Where the columns are in this file.
struct Columns {
    places: [Option<usize>; COLUMNS.len()],
    count: usize,
    /// One that is there more than once.
    twice: Option<&'static str>,
}

impl Columns {
    fn of(header: &str, delimiter: u8) -> Self {
        let names = ReaderBuilder::new()
            .has_headers(false)
            .trim(Trim::All)
            .delimiter(delimiter)
            .from_reader(header.as_bytes())
            .byte_records()
            .next()
            .and_then(Result::ok)
            .unwrap_or_default();
        let place = |column: &str| names.iter().position(|name| name == column.as_bytes());
        let count = |column: &str| names.iter().filter(|name| *name == column.as_bytes()).count();
        let twice = COLUMNS.into_iter().find(|column| count(column) > 1);
        Self { places: COLUMNS.map(place), count: names.len(), twice }
    }

    fn parse(&self, record: &ByteRecord, found: &mut Found) -> Result<Kind, Bad> {
        if record.len() != self.count {
            return Err(Bad::new(&format!("{} fields", record.len()), "as many as the header has"));
        }
        let get = |column: &str| -> String {
            let place = COLUMNS.iter().position(|name| *name == column).and_then(|index| self.places[index]);
            let value = place.and_then(|place| record.get(place)).unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        };
        if get("responseMessage").starts_with(TRANSACTION) {
            return Ok(Kind::Other);
        }
        let milliseconds = |column: &str, expected| {
            let value = get(column);
            time::milliseconds(&value).ok_or_else(|| Bad::new(&value, expected))
        };
        let began = milliseconds(COLUMNS[0], "a timeStamp in milliseconds since 1970")?;
        let elapsed = milliseconds(COLUMNS[1], "elapsed milliseconds")?;
        let optional = |column: &str| time::milliseconds(&get(column)).filter(|duration| duration.0 > 0);
        let code = get("responseCode");
        let outcome = outcome(&code);
        let answered = outcome == Outcome::Ok;
        // Samplers that do not know it write 0.
        let first = optional("Latency").filter(|_| answered);
        let connecting = optional("Connect");
        if connecting.zip(first).is_some_and(|(connecting, first)| connecting > first) {
            return Err(Bad::new(&get("Connect"), "a Connect that is not longer than Latency"));
        }
        // Where no connection came to be, all of the time is that of trying.
        let connecting = connecting.filter(|connecting| *connecting < elapsed).unwrap_or_default();
        let after = |duration: Nanoseconds| Nanoseconds(duration.0.saturating_sub(connecting.0));
        if answered && first.is_none() {
            found.lacks.insert(Lack::FirstByte);
        }
        if self.places[COLUMNS.len() - 1].is_none() {
            found.lacks.insert(Lack::Connecting);
        }
        let start = began.0.checked_add(connecting.0).map(Timestamp);
        found.entries.push(Entry {
            start: start.ok_or_else(|| Bad::new(&get(COLUMNS[0]), "a timeStamp before 2554"))?,
            latency: after(first.unwrap_or(elapsed)),
            complete: answered.then(|| after(elapsed)),
            service: None,
            instance: instance(&get("URL")).unwrap_or_else(|| UNKNOWN_INSTANCE.to_owned()),
            outcome,
            class: request::class_of_label(&get("label")),
            status: request::status(&code).map(|(code, _)| code),
            failed: answered && get("success").eq_ignore_ascii_case("false"),
            request_bytes: time::number(&get("sentBytes")),
            response_bytes: time::number(&get("bytes")),
        });
        Ok(Kind::Tried)
    }
}

/// How a sample ended: what stands in place of a status code names the exception that ended it.
fn outcome(code: &str) -> Outcome {
    let Some(exception) = code.strip_prefix(NO_RESPONSE) else { return Outcome::Ok };
    if exception.contains("Timeout") {
        Outcome::Timeout
    } else if exception.contains("Interrupted") || exception.contains("Aborted") {
        Outcome::Cancelled
    } else {
        Outcome::Reset
    }
}

/// Host and port of a URL.
fn instance(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    // Credentials are nobody's name.
    let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Some(match scheme {
        _ if has_port => host.to_owned(),
        "https" => format!("{host}:443"),
        "http" => format!("{host}:80"),
        _ => host.to_owned(),
    })
}
