//! The client of the demo: a process that asks the replicas by a fixed schedule and logs what it saw.

use std::{
    ffi::OsString,
    io,
    net::SocketAddr,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use jiff::SignedDuration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    CLIENT_COMMAND, STACK,
    behaviour::LONGEST_PAUSE,
    connection::Connection,
    lifeline,
    log::{self, Entry},
    schedule::Schedule,
};
use crate::clock::monotonic;

/// Time for all connections to open before the first request is due.
const SETTLING: Duration = Duration::from_millis(300);
/// A request that leaves later than this after it was due is told of.
const LATE: Duration = Duration::from_millis(20);

/// What the client is told by the process that starts it.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct ClientOptions {
    /// The replicas, asked in turn.
    #[arg(long = "instance", required = true)]
    pub(super) instances: Vec<SocketAddr>,
    /// Requests a second over all replicas.
    #[arg(long)]
    pub(super) rate: u32,
    /// How long requests are sent.
    #[arg(long)]
    pub(super) duration: SignedDuration,
    /// Where the exchange log is written in the end.
    #[arg(long)]
    pub(super) log: PathBuf,
}

impl ClientOptions {
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![
            format!("--rate={}", self.rate).into(),
            format!("--duration={}", self.duration).into(),
            "--log".into(),
            self.log.clone().into(),
        ];
        arguments.extend(self.instances.iter().map(|instance| format!("--instance={instance}").into()));
        arguments
    }
}

/// Sends requests until the schedule ends, or until standard input does, and writes the log.
pub fn run_client(options: &ClientOptions) -> io::Result<()> {
    lifeline::hold()?;
    let replicas = u32::try_from(options.instances.len()).map_err(io::Error::other)?;
    let duration = options.duration.try_into().map_err(io::Error::other)?;
    let schedule = Schedule::new(options.rate, duration, replicas, LONGEST_PAUSE);
    let began = monotonic();
    let start = Instant::now() + SETTLING;
    let mut seen = Seen::default();
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for (replica, &instance) in (0..).zip(&options.instances) {
            for connection in 0..schedule.connections() {
                let due = schedule.due(replica, connection).map(move |due| start + due);
                let worker = thread::Builder::new().name(CLIENT_COMMAND.into()).stack_size(STACK);
                workers.push(worker.spawn_scoped(scope, move || work(instance, due))?);
            }
        }
        for worker in workers {
            let one =
                worker.join().map_err(|_| io::Error::other("a worker of the demo client panicked"))??;
            seen.entries.extend(one.entries);
            seen.late += one.late;
        }
        Ok::<_, io::Error>(())
    })?;
    if seen.late != 0 {
        tracing::warn!("{} of {} requests left late: this machine is busy", seen.late, seen.entries.len());
    }
    log::write(&options.log, seen.entries, began).map_err(io::Error::other)
}

/// What was seen on one connection, or on all.
#[derive(Debug, Default)]
struct Seen {
    entries: Vec<Entry>,
    late: usize,
}

/// Asks `instance` whenever a request is due, on one connection as long as that lasts.
fn work(instance: SocketAddr, due: impl Iterator<Item = Instant>) -> io::Result<Seen> {
    let mut seen = Seen::default();
    let mut connection = Connection::open(instance)?;
    for (number, due) in due.enumerate() {
        if told_to_stop_before(due)? {
            break;
        }
        seen.late += usize::from(due.elapsed() > LATE);
        let entry = connection.ask(&format!("/item/{number}"))?;
        seen.entries.push(entry);
        if entry.answer.is_none() {
            connection = Connection::open(instance)?;
        }
    }
    Ok(seen)
}

/// Waits until `due`. Whoever started this process may close its standard input to end that.
fn told_to_stop_before(due: Instant) -> io::Result<bool> {
    let input = io::stdin();
    loop {
        let wait = due.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(wait).map_err(io::Error::other)?;
        // Only hang-ups and errors are reported, and those always are.
        match poll(&mut [PollFd::new(&input, PollFlags::empty())], Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        options: ClientOptions,
    }

    #[test]
    fn the_arguments_say_what_the_options_say() {
        let options = ClientOptions {
            instances: vec!["127.0.0.11:80".parse().unwrap(), "127.0.0.12:80".parse().unwrap()],
            rate: 300,
            duration: SignedDuration::from_millis(8_500),
            log: "/tmp/with space/log.csv".into(),
        };
        let arguments = std::iter::once(CLIENT_COMMAND.into()).chain(options.arguments());
        assert_eq!(Program::parse_from(arguments).options, options);
    }
}
