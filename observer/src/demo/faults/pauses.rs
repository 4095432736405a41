//! Replicas that stand still: stopped and continued by signals, as a debugger or a collector of garbage would.

use std::{convert::Infallible, io, net::SocketAddr, os::fd::OwnedFd};

use rand::{SeedableRng, rngs::SmallRng, seq::IndexedRandom};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::time::sleep_until;

use super::{
    super::{
        message::Teller,
        records::Fault,
        timetable::{Ongoing, Timetable},
    },
    Target,
};

/// The replicas' processes, held so that no signal ever reaches another one.
#[derive(Debug)]
pub(super) struct Replicas(Vec<(SocketAddr, OwnedFd)>);

impl Replicas {
    pub(super) fn open(targets: &[Target]) -> io::Result<Self> {
        let open = |target: &Target| {
            let process = i32::try_from(target.process).ok().and_then(Pid::from_raw);
            let process = process.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            Ok((target.instance, pidfd_open(process, PidfdFlags::empty())?))
        };
        targets.iter().map(open).collect::<io::Result<_>>().map(Self)
    }

    /// Stops one of them for each episode. An end of this process, however it comes about, lets it go on.
    pub(super) async fn stop(&self, seed: u64, on: Timetable, teller: &Teller) -> io::Result<Infallible> {
        let mut random = SmallRng::seed_from_u64(seed);
        on.each(async |until| {
            let Some((instance, process)) = self.0.choose(&mut random) else { return Ok(()) };
            let _stopped = Stopped::stop(process)?;
            let _on = Ongoing::begin(teller, Fault::Stopped).at(*instance);
            sleep_until(until).await;
            Ok(())
        })
        .await
    }
}

/// A process that stands still as long as this lives.
struct Stopped<'a>(&'a OwnedFd);

impl<'a> Stopped<'a> {
    fn stop(process: &'a OwnedFd) -> io::Result<Self> {
        pidfd_send_signal(process, Signal::STOP)?;
        Ok(Self(process))
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        // Fails only where the process is gone.
        pidfd_send_signal(self.0, Signal::CONT).ok();
    }
}
