//! One copy of a request, from the client's side.

use std::{io, net::SocketAddr};

use observer_common::{Nanoseconds, Timestamp};

use super::{Teller, Ticket, Told, gate::Ends};
use crate::{
    clock::monotonic,
    demo::records::{CopyRecord, Ending},
};

/// Why a copy was not answered, or not well.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// There is no connection.
    #[error("no connection: {0}")]
    Connect(#[from] io::Error),
    /// The connection ended.
    #[error("the connection ended: {0}")]
    Connection(#[from] hyper::Error),
    /// The answer is a failure.
    #[error("the answer is {0}")]
    Answer(String),
}

/// A copy that is to be sent, or is under way. What came of it is told when this is dropped: it was given up, if nobody
/// said otherwise. One that was never sent is not told of.
#[derive(Debug)]
pub(super) struct CopyInFlight<'a> {
    teller: &'a Teller,
    ticket: Ticket,
    sent: Option<Sent>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    instance: SocketAddr,
    ends: Ends,
    start: Timestamp,
    head: Option<Nanoseconds>,
    ending: Ending,
}

impl<'a> CopyInFlight<'a> {
    pub(super) const fn new(teller: &'a Teller, ticket: Ticket) -> Self {
        Self { teller, ticket, sent: None }
    }

    pub(super) const fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// It is sent now, on this connection.
    pub(super) fn send(&mut self, instance: SocketAddr, ends: Ends) {
        let start = monotonic();
        self.sent = Some(Sent { instance, ends, start, head: None, ending: Ending::Cancelled });
    }

    /// The head of the answer is there.
    pub(super) fn head(&mut self) {
        if let Some(sent) = &mut self.sent {
            sent.head = Some(since(sent.start));
        }
    }

    /// All of the answer is there.
    pub(super) fn answered(mut self, status: u16) {
        if let Some(sent) = &mut self.sent {
            sent.ending = Ending::Answered { status, complete: since(sent.start) };
        }
    }

    /// The connection ended.
    pub(super) fn reset(mut self) {
        if let Some(sent) = &mut self.sent {
            sent.ending = Ending::Reset;
        }
    }
}

impl Drop for CopyInFlight<'_> {
    fn drop(&mut self) {
        if let Some(Sent { instance, ends, start, head, ending }) = self.sent {
            let Ticket { request, attempt, class } = self.ticket;
            self.teller.tell(Told::Copy(CopyRecord {
                request,
                attempt,
                class,
                instance,
                client: ends.client,
                connection: ends.cookie,
                start,
                latency: head.unwrap_or_else(|| since(start)),
                ending,
            }));
        }
    }
}

/// The clock never goes backwards, so there always is a duration.
fn since(start: Timestamp) -> Nanoseconds {
    monotonic().since(start).unwrap_or_default()
}
