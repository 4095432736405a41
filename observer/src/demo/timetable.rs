//! Episodes on the host's clock, which all processes of the lab share.

use std::{convert::Infallible, future, io, time::Duration};

use observer_common::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use super::{
    episodes::Episodes,
    message::{Teller, Told},
    number::TimestampNumber,
    records::{Fault, FaultSpan},
};
use crate::clock::monotonic;

/// When a fault is on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Timetable {
    /// When the run begins.
    #[serde(rename = "start_ns", with = "TimestampNumber")]
    pub(super) start: Timestamp,
    /// When the fault is on, counted from there.
    pub(super) episodes: Episodes,
}

impl Timetable {
    /// Lets `act` run through every episode, until the moment that it is given. Ends only if it fails.
    pub(super) async fn each(
        self,
        mut act: impl AsyncFnMut(Instant) -> io::Result<()>,
    ) -> io::Result<Infallible> {
        for episode in self.episodes.iter() {
            let end = instant(self.start, episode.end());
            // One that this process has slept through is not made up for.
            if end > Instant::now() {
                sleep_until(instant(self.start, episode.begin)).await;
                act(end).await?;
            }
        }
        future::pending().await
    }
}

/// The moment `offset` after `start`, for timers; now, if it has passed.
pub(super) fn instant(start: Timestamp, offset: Duration) -> Instant {
    let from_start = u64::try_from(offset.as_nanos()).unwrap_or(u64::MAX);
    let ahead = start.0.saturating_add(from_start).saturating_sub(monotonic().0);
    Instant::now() + Duration::from_nanos(ahead)
}

/// A fault that is on. It is told when this is dropped, however that comes.
#[derive(Debug)]
pub(super) struct Ongoing<'a> {
    teller: &'a Teller,
    span: FaultSpan,
}

impl<'a> Ongoing<'a> {
    /// `fault` is on from now, everywhere.
    pub(super) fn begin(teller: &'a Teller, fault: Fault) -> Self {
        let now = monotonic();
        Self { teller, span: FaultSpan { fault, instance: None, client: None, begin: now, end: now } }
    }

    /// It strikes only this replica.
    pub(super) fn at(mut self, instance: std::net::SocketAddr) -> Self {
        self.span.instance = Some(instance);
        self
    }

    /// It strikes only the connection of this client.
    pub(super) fn of(mut self, client: std::net::SocketAddr) -> Self {
        self.span.client = Some(client);
        self
    }
}

impl Drop for Ongoing<'_> {
    fn drop(&mut self) {
        self.teller.tell(Told::Fault(FaultSpan { end: monotonic(), ..self.span.clone() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Share;

    fn timetable(share: Share) -> Timetable {
        let length = Duration::from_millis(1);
        Timetable {
            start: monotonic(),
            episodes: Episodes { seed: 1, share, shortest: length, longest: length },
        }
    }

    #[tokio::test]
    async fn without_a_share_nothing_is_ever_on() {
        let off = timetable(Share::NONE).each(async |_| panic!("it is on"));
        assert!(tokio::time::timeout(Duration::from_millis(20), off).await.is_err());
    }

    #[tokio::test]
    async fn a_fault_that_cannot_be_is_a_failure() {
        let refused = timetable(Share::ALL).each(async |_| Err(io::ErrorKind::PermissionDenied.into())).await;
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[tokio::test]
    async fn a_fault_that_ends_before_its_time_is_told_too() {
        let (teller, told) = Teller::for_test();
        let on = timetable(Share::ALL).each(async |_| {
            let _on = Ongoing::begin(&teller, Fault::StoreLocked);
            future::pending().await
        });
        assert!(tokio::time::timeout(Duration::from_millis(20), on).await.is_err());
        let Told::Fault(span) = told.try_recv().unwrap() else { panic!("no fault was told") };
        assert!(span.fault == Fault::StoreLocked && span.begin < span.end);
    }
}
