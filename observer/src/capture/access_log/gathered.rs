//! From entries to exchanges, and what is said about all of them together.

use std::path::Path;

use observer_common::{Nanoseconds, Timestamp};

use super::{
    AccessLogError, AccessLogRead,
    entry::{Bad, Entry, Found, Kind},
    lack::Lack,
};
use crate::{
    exchange::{Exchange, Names},
    protocol::Classes,
    provenance::{Provenance, SourceKind, Window},
};

/// The service of requests of which the log does not name it.
const DEFAULT_SERVICE: &str = "default";

/// All lines of a file so far.
pub(super) struct Gathered<'a> {
    path: &'a Path,
    skip_bad_rows: bool,
    names: &'a mut Names,
    sink: &'a mut dyn FnMut(&Exchange, &Names),
    found: Found,
    classes: Classes,
    /// The first start and the last end.
    span: Option<(Timestamp, Timestamp)>,
    exchanges: u64,
    skipped: u64,
    tried: u64,
    not_tried: u64,
    other: u64,
    cut_off: bool,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(
        path: &'a Path,
        skip_bad_rows: bool,
        names: &'a mut Names,
        sink: &'a mut dyn FnMut(&Exchange, &Names),
    ) -> Self {
        Self {
            path,
            skip_bad_rows,
            names,
            sink,
            found: Found::default(),
            classes: Classes::default(),
            span: None,
            exchanges: 0,
            skipped: 0,
            tried: 0,
            not_tried: 0,
            other: 0,
            cut_off: false,
        }
    }

    /// What messages call the file.
    pub(super) const fn path(&self) -> &Path {
        self.path
    }

    /// The last line is not all there.
    pub(super) const fn cut_off(&mut self) {
        self.cut_off = true;
    }

    /// Takes what `parse` makes of a line: all of it, or nothing where any of it is bad.
    pub(super) fn line(
        &mut self,
        line: u64,
        parse: impl FnOnce(&mut Found) -> Result<Kind, Bad>,
    ) -> Result<(), AccessLogError> {
        self.found.entries.clear();
        let kind = parse(&mut self.found)
            .and_then(|kind| self.found.entries.iter().try_for_each(Entry::check).map(|()| kind));
        match kind {
            Ok(kind) => self.take(kind),
            Err(_) if self.skip_bad_rows => self.skipped += 1,
            Err(Bad { found, expected }) => {
                return Err(AccessLogError::BadLine { path: self.path.to_owned(), line, found, expected });
            }
        }
        Ok(())
    }

    fn take(&mut self, kind: Kind) {
        match kind {
            Kind::Tried => self.tried += 1,
            Kind::NotTried => self.not_tried += 1,
            Kind::Other => self.other += 1,
        }
        for entry in std::mem::take(&mut self.found.entries) {
            let exchange = self.exchange(&entry);
            let end = Timestamp(entry.start.0.saturating_add(entry.complete.unwrap_or(entry.latency).0));
            self.span = Some(match self.span {
                None => (entry.start, end),
                Some((first, last)) => (first.min(entry.start), last.max(end)),
            });
            self.exchanges += 1;
            (self.sink)(&exchange, self.names);
        }
    }

    fn exchange(&mut self, entry: &Entry) -> Exchange {
        let service = self.names.id(entry.service.as_deref().unwrap_or(DEFAULT_SERVICE));
        let instance = self.names.id(&entry.instance);
        let class = entry.class.as_deref().map(|class| self.names.id(self.classes.bounded(class)));
        Exchange {
            complete: entry.complete,
            outcome: entry.outcome,
            class,
            status: entry.status.as_deref().map(|status| self.names.id(status)),
            failed: entry.failed,
            request_bytes: entry.request_bytes,
            response_bytes: entry.response_bytes,
            ..Exchange::new(entry.start, service, instance, entry.latency)
        }
    }

    /// All that is to be said at the end of the file.
    pub(super) fn finish(self) -> Result<AccessLogRead, AccessLogError> {
        if self.tried + self.not_tried + self.skipped == 0 && self.other > 0 {
            return Err(AccessLogError::NoRequests { path: self.path.to_owned(), lines: self.other });
        }
        let mut notes = Vec::new();
        let mut note = |count: u64, what: &str| {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        };
        note(self.not_tried, "requests were sent to no backend and are left out");
        note(self.other, "lines are no requests that are measured, and are left out");
        if self.cut_off {
            notes.push("the last line is cut off and left out".into());
        }
        let mut provenance = Provenance::of(SourceKind::AccessLog);
        provenance.window = self.span.map(|(first, last)| Window {
            start: first,
            duration: last.since(first).unwrap_or(Nanoseconds(0)),
            // A log's clock is the wall clock.
            wall_offset_ns: Some(0),
        });
        provenance.degraded.push(Lack::of_all());
        provenance.degraded.extend(self.found.lacks.iter().map(|lack| lack.degradation()));
        Ok(AccessLogRead { provenance, notes, exchanges: self.exchanges, skipped_rows: self.skipped })
    }
}
