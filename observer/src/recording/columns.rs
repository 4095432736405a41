//! The columns of an exchange log: their names, order, units and types, and where an [`Exchange`] keeps each.
//!
//! Writers and readers share this one table, so that they cannot disagree.

use observer_common::{Nanoseconds, Outcome, Role, Timestamp};

use crate::exchange::{Exchange, NameId};

/// A column's number in [`COLUMNS`], which is also its place in a file that this program writes.
pub type ColumnIndex = usize;

/// One column of an exchange log.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in the header.
    pub name: &'static str,
    /// What its values are, and where an exchange keeps them.
    pub field: Field,
    /// What its values count, where they count something.
    pub unit: Option<&'static str>,
    /// What it means, in one phrase.
    pub meaning: &'static str,
}

/// What a column's values are, and where an exchange keeps them.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// A whole number below 2⁶⁴ that every row has.
    RequiredNumber(fn(&Exchange) -> u64, fn(&mut Exchange, u64)),
    /// A text that every row has.
    RequiredText(fn(&Exchange) -> NameId, fn(&mut Exchange, NameId)),
    /// A whole number below 2⁶⁴.
    Number(fn(&Exchange) -> Option<u64>, fn(&mut Exchange, u64)),
    /// A whole number below 2³².
    SmallNumber(fn(&Exchange) -> Option<u32>, fn(&mut Exchange, u32)),
    /// A text that has a default.
    DefaultedText(fn(&Exchange) -> NameId, fn(&mut Exchange, NameId)),
    /// A text that a row may lack.
    OptionalText(fn(&Exchange) -> Option<NameId>, fn(&mut Exchange, NameId)),
    /// How the exchange ended.
    Outcome,
    /// Which side was observed.
    Role,
    /// Whether the answer is a failure.
    Failed,
}

impl Column {
    /// Whether a log without this column, or a row without its value, is refused.
    pub const fn is_required(&self) -> bool {
        matches!(self.field, Field::RequiredNumber(..) | Field::RequiredText(..))
    }

    /// What a value of this column has to be, to complete "expected …".
    pub const fn expected(&self) -> &'static str {
        match self.field {
            Field::RequiredNumber(..) | Field::Number(..) => "a whole number from 0 to 18446744073709551615",
            Field::SmallNumber(..) => "a whole number from 0 to 4294967295",
            Field::RequiredText(..) | Field::DefaultedText(..) | Field::OptionalText(..) => "a text",
            Field::Outcome => "one of ok, pending, cancelled, reset, timeout",
            Field::Role => "client or server",
            Field::Failed => "true or false",
        }
    }
}

/// The outcome of this name.
pub(crate) fn outcome_of(name: &str) -> Option<Outcome> {
    Outcome::ALL.into_iter().find(|outcome| outcome.name() == name)
}

/// The observed role of this name.
pub(crate) fn role_of(name: &str) -> Option<Role> {
    [Role::Client, Role::Server].into_iter().find(|role| role.name() == name)
}

/// The number of the column of this name.
pub fn index_of(name: &str) -> Option<ColumnIndex> {
    COLUMNS.iter().position(|column| column.name == name)
}

const NANOSECONDS: Option<&str> = Some("ns");
const BYTES: Option<&str> = Some("bytes");

const fn column(
    name: &'static str,
    unit: Option<&'static str>,
    field: Field,
    meaning: &'static str,
) -> Column {
    Column { name, field, unit, meaning }
}

/// All columns, in the order in which they are written.
pub const COLUMNS: [Column; 26] = [
    column(
        "start_ns",
        NANOSECONDS,
        Field::RequiredNumber(
            |exchange| exchange.start.0,
            |exchange, value| exchange.start = Timestamp(value),
        ),
        "first request byte, on the observed host's monotonic clock",
    ),
    column(
        "service",
        None,
        Field::DefaultedText(|exchange| exchange.service, |exchange, text| exchange.service = text),
        "instances that a client uses interchangeably",
    ),
    column(
        "instance",
        None,
        Field::RequiredText(|exchange| exchange.instance, |exchange, text| exchange.instance = text),
        "the backend's address, ip:port",
    ),
    column(
        "latency_ns",
        NANOSECONDS,
        Field::RequiredNumber(
            |exchange| exchange.latency.0,
            |exchange, value| exchange.latency = Nanoseconds(value),
        ),
        "from the start to the first response byte, or how long was waited where there is none",
    ),
    column(
        "complete_ns",
        NANOSECONDS,
        Field::Number(
            |exchange| exchange.complete.map(|duration| duration.0),
            |exchange, value| exchange.complete = Some(Nanoseconds(value)),
        ),
        "from the start to the last response byte",
    ),
    column(
        "sent_ns",
        NANOSECONDS,
        Field::Number(
            |exchange| exchange.sent.map(|duration| duration.0),
            |exchange, value| exchange.sent = Some(Nanoseconds(value)),
        ),
        "from the start to the last request byte",
    ),
    column("outcome", None, Field::Outcome, "ok, or why there is no response"),
    column(
        "class",
        None,
        Field::OptionalText(|exchange| exchange.class, |exchange, text| exchange.class = Some(text)),
        "what kind of request it was",
    ),
    column(
        "request_bytes",
        BYTES,
        Field::Number(
            |exchange| exchange.request_bytes,
            |exchange, value| exchange.request_bytes = Some(value),
        ),
        "payload of the request",
    ),
    column(
        "response_bytes",
        BYTES,
        Field::Number(
            |exchange| exchange.response_bytes,
            |exchange, value| exchange.response_bytes = Some(value),
        ),
        "payload of the response",
    ),
    column(
        "srtt_ns",
        NANOSECONDS,
        Field::Number(
            |exchange| exchange.srtt.map(|duration| duration.0),
            |exchange, value| exchange.srtt = Some(Nanoseconds(value)),
        ),
        "smoothed round-trip time at the end of the exchange",
    ),
    column(
        "retransmits",
        None,
        Field::SmallNumber(
            |exchange| exchange.retransmits,
            |exchange, value| exchange.retransmits = Some(value),
        ),
        "segments seen again during the exchange",
    ),
    column(
        "read_lag_ns",
        NANOSECONDS,
        Field::Number(
            |exchange| exchange.read_lag.map(|duration| duration.0),
            |exchange, value| exchange.read_lag = Some(Nanoseconds(value)),
        ),
        "from the first response byte until the application looked at it",
    ),
    column(
        "connection",
        None,
        Field::Number(|exchange| exchange.connection, |exchange, value| exchange.connection = Some(value)),
        "the connection; the socket's cookie where the kernel observed it",
    ),
    column(
        "client",
        None,
        Field::OptionalText(|exchange| exchange.client, |exchange, text| exchange.client = Some(text)),
        "who asked",
    ),
    column("role", None, Field::Role, "which side was observed: client or server"),
    column(
        "protocol",
        None,
        Field::OptionalText(|exchange| exchange.protocol, |exchange, text| exchange.protocol = Some(text)),
        "the protocol, where it was recognised",
    ),
    column(
        "status",
        None,
        Field::OptionalText(|exchange| exchange.status, |exchange, text| exchange.status = Some(text)),
        "the protocol's own status",
    ),
    column("failed", None, Field::Failed, "whether the answer is a failure"),
    column(
        "comm",
        None,
        Field::OptionalText(|exchange| exchange.comm, |exchange, text| exchange.comm = Some(text)),
        "name of the observed process",
    ),
    column(
        "pid",
        None,
        Field::SmallNumber(|exchange| exchange.pid, |exchange, value| exchange.pid = Some(value)),
        "the observed process",
    ),
    column(
        "cgroup",
        None,
        Field::OptionalText(|exchange| exchange.cgroup, |exchange, text| exchange.cgroup = Some(text)),
        "control group of the observed process",
    ),
    column(
        "service_address",
        None,
        Field::OptionalText(
            |exchange| exchange.service_address,
            |exchange, text| exchange.service_address = Some(text),
        ),
        "what the client dialled, where that is not the instance",
    ),
    column(
        "head_hash",
        None,
        Field::Number(|exchange| exchange.head_hash, |exchange, value| exchange.head_hash = Some(value)),
        "keyed hash of the request's head",
    ),
    column(
        "request",
        None,
        Field::Number(|exchange| exchange.request, |exchange, value| exchange.request = Some(value)),
        "which logical request this is a copy of",
    ),
    column(
        "attempt",
        None,
        Field::SmallNumber(|exchange| exchange.attempt, |exchange, value| exchange.attempt = Some(value)),
        "which copy: 0 the primary, 1 the hedge",
    ),
];
