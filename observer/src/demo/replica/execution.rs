//! What a replica tells of each request.

use std::net::SocketAddr;

use observer_common::Timestamp;

use super::super::{
    message::{Teller, Told},
    records::Execution,
    wire::Ticket,
};
use crate::clock::monotonic;

/// A request that is being dealt with. It is told when this is dropped, however that comes.
#[derive(Debug)]
pub(super) struct Running<'a> {
    teller: &'a Teller,
    instance: SocketAddr,
    ticket: Ticket,
    arrived: Timestamp,
    answered: bool,
}

impl<'a> Running<'a> {
    /// It was read just now.
    pub(super) fn begin(teller: &'a Teller, instance: SocketAddr, ticket: Ticket) -> Self {
        Self { teller, instance, ticket, arrived: monotonic(), answered: false }
    }

    /// It is answered.
    pub(super) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Ticket { request, attempt, .. } = self.ticket;
        self.teller.tell(Told::Execution(Execution {
            instance: self.instance,
            request,
            attempt,
            arrived: self.arrived,
            ended: monotonic(),
            answered: self.answered,
        }));
    }
}
