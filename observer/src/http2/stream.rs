//! One request and its response, while they pass (RFC 9113, section 8.1).

use observer_common::{Nanoseconds, Outcome, Timestamp};

use super::{
    ended::{Ended, Event, LeftOut},
    fields::Fields,
    frame::Frame,
    grpc::Status,
    messages::Messages,
};
use crate::protocol::path_template;

/// Bytes of a class that are kept.
const MOST_CLASS: usize = 80;

/// A stream that a client has opened.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) id: u32,
    /// Its number among the requests of the connection.
    pub(super) number: u32,
    pub(super) start: Timestamp,
    pub(super) request: Half,
    pub(super) response: Half,
    /// The response's first byte, once it has come.
    first: Option<First>,
    status: Option<[u8; 3]>,
    grpc_status: Option<Status>,
    pub(super) grpc: bool,
    /// Both sides talk at once.
    streaming: bool,
    /// The responding side gave up with an error.
    broken: bool,
    class: String,
}

/// What one side has sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Half {
    /// Payload bytes of frames.
    pub(super) bytes: u64,
    /// When its last piece so far passed.
    pub(super) last: Timestamp,
    messages: Messages,
    /// A DATA frame that ends it has begun, so that no other can follow.
    closing: bool,
    /// It has come to its end.
    pub(super) ended: bool,
}

impl Half {
    /// Takes in a piece of a DATA frame. Whether the side has come to its end with it.
    pub(super) fn data(&mut self, frame: &Frame<'_>) {
        if self.ended {
            return;
        }
        // Of a frame whose header filled its segment, both pieces begin at 0, but the last one has no data to show.
        let tail = self.closing
            || frame.offset != 0
            || (frame.complete && frame.data.is_empty() && frame.length != 0);
        self.last = self.last.max(frame.now);
        if tail {
            self.messages.go_on(frame);
        } else {
            self.bytes += u64::from(frame.length);
            self.messages.begin(frame);
        }
        self.closing |= frame.ends_stream();
        self.ended = self.closing && frame.complete;
    }
}

#[derive(Clone, Copy, Debug)]
struct First {
    at: Timestamp,
    /// Whether it is known not to be an interim response.
    certain: bool,
}

impl Stream {
    /// Begins anew with what the request's header block says; the class's buffer is used again.
    pub(super) fn begin(&mut self, id: u32, number: u32, start: Timestamp, fields: &Fields) {
        let mut class = std::mem::take(&mut self.class);
        class.clear();
        name_class(fields, &mut class);
        let tunnel = fields.method.as_ref().and_then(|method| method.text()) == Some("CONNECT");
        *self = Self {
            id,
            number,
            start,
            grpc: fields.grpc == Some(true),
            streaming: tunnel,
            class,
            ..Self::default()
        };
    }

    /// A piece of the request's content.
    pub(super) fn request_data(&mut self, frame: &Frame<'_>) {
        let told = self.response.messages.any();
        self.request.data(frame);
        self.streaming |= told && frame.length != 0;
    }

    /// A piece of the response's content. Whether it may come now.
    pub(super) fn response_data(&mut self, frame: &Frame<'_>) -> bool {
        self.response.data(frame);
        match &mut self.first {
            Some(first) => {
                first.certain = true; // interim responses have no content
                true
            }
            None => false,
        }
    }

    /// A header block of the response that passed from `start`. Whether it may come now.
    pub(super) fn response_fields(&mut self, start: Timestamp, ends: bool, fields: &Fields) -> bool {
        self.grpc |= fields.grpc == Some(true);
        if ends && let Some(status) = fields.grpc_status {
            self.grpc_status = Some(status);
        }
        match &mut self.first {
            // Trailers, or what must not come.
            Some(first) if first.certain => return true,
            // Trailers too if there is certainly no status in them. Otherwise the block before may have been interim.
            Some(first) if ends && !fields.pseudo => {
                first.certain = fields.complete;
                return first.certain;
            }
            // Only an interim response is followed by another one.
            _ => {}
        }
        if let Some([b'1', ..]) = fields.status {
            self.first = None;
            return !ends;
        }
        self.first = Some(First { at: start, certain: ends || fields.status.is_some() });
        self.status = fields.status;
        true
    }

    /// The responding side gave up.
    pub(super) fn break_off(&mut self) {
        self.broken = true;
    }

    /// What became of it at `now`: `unanswered` if the response had not begun.
    pub(super) fn event(&self, now: Timestamp, unanswered: Outcome) -> Event<'_> {
        let complete = if self.response.ended { Some(self.response.last) } else { None };
        match self.ended(now, complete, unanswered) {
            Ok(ended) => Event::Ended(ended),
            Err(reason) => Event::LeftOut { stream: self.id, reason },
        }
    }

    /// How it stands at `now`.
    pub(super) fn so_far(&self, now: Timestamp) -> Result<Ended<'_>, LeftOut> {
        self.ended(now, Some(self.response.last), Outcome::Pending)
    }

    fn ended(
        &self,
        now: Timestamp,
        complete: Option<Timestamp>,
        unanswered: Outcome,
    ) -> Result<Ended<'_>, LeftOut> {
        let many = self.grpc && (self.request.messages.are_many() || self.response.messages.are_many());
        if self.streaming || many {
            return Err(LeftOut::Streaming);
        }
        let (latency, complete, outcome) = match self.first {
            Some(first) if !first.certain => return Err(LeftOut::Uncertain),
            Some(first) => (
                self.until(first.at)?,
                complete.map(|complete| self.until(complete.max(first.at))).transpose()?,
                Outcome::Ok,
            ),
            None => (self.until(now)?, None, unanswered),
        };
        Ok(Ended {
            stream: self.id,
            number: self.number,
            start: self.start,
            sent: self.until(self.request.last)?,
            latency,
            complete,
            outcome,
            class: if self.class.is_empty() { None } else { Some(&self.class) },
            status: self.status_text(),
            failed: self.is_failure(),
            grpc: self.grpc,
            request_bytes: self.request.bytes,
            response_bytes: self.response.bytes,
        })
    }

    fn until(&self, moment: Timestamp) -> Result<Nanoseconds, LeftOut> {
        moment.since(self.start).ok_or(LeftOut::NegativeDuration)
    }

    /// The status of the call; of the response where that is not known, or is a proxy's that knows no gRPC.
    fn status_text(&self) -> Option<&str> {
        if self.grpc {
            if let Some(status) = self.grpc_status {
                return Some(status.text());
            }
            // It says no more than that the answer, or a failure, is to follow.
            if self.status == Some(*b"200") {
                return None;
            }
        }
        self.status.as_ref().and_then(|digits| std::str::from_utf8(digits).ok())
    }

    fn is_failure(&self) -> bool {
        let http = matches!(self.status, Some([b'5', ..] | [b'4', b'2', b'9']));
        let grpc = self.grpc && self.grpc_status.is_some_and(Status::is_failure);
        self.broken || http || grpc
    }
}

/// Writes what kind of request it is, if the fields tell for certain.
fn name_class(fields: &Fields, class: &mut String) {
    let (Some(method), Some(path)) = (&fields.method, &fields.path) else { return };
    let (Some(method), Some(text)) = (method.text(), path.text()) else { return };
    match fields.grpc {
        Some(true) => class.push_str(text),
        // It may be a gRPC call whose content type is hidden.
        None if !fields.complete => return,
        Some(false) | None => {
            class.push_str(method);
            class.push(' ');
            path_template(text, path.truncated, class);
        }
    }
    if class.len() > MOST_CLASS {
        class.truncate(class.floor_char_boundary(MOST_CLASS));
        class.shrink_to(MOST_CLASS);
    }
}
