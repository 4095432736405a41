//! Observing this host for a while.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::{
    arguments::{DeveloperArguments, RoleChoice},
    console::Console,
    failure::Failure,
    interrupt::Interrupt,
};
use crate::{
    capture::kernel::{KernelCapture, Options},
    exchange::{Exchange, Names},
    identity::Services,
    provenance::Provenance,
};

/// How often the ring is emptied: it holds half a second of traffic at the highest rate.
const POLL: Duration = Duration::from_millis(10);
/// The same under load. Short turns leave the processor to whoever is observed before that is noticed.
const BUSY_POLL: Duration = Duration::from_millis(1);
/// So many exchanges in one turn are load.
const BUSY: u64 = 64;

/// Whom exchanges are shown to. An error ends the observation.
pub(super) trait Audience {
    /// An exchange has ended, or stands so at the end of the observation.
    fn take(&mut self, exchange: &Exchange, names: &Names) -> Result<(), Failure>;

    /// An interval is over; `unfinished` is what is not over at this moment.
    fn look(
        &mut self,
        unfinished: &[Exchange],
        names: &Names,
        provenance: &Provenance,
    ) -> Result<(), Failure>;
}

/// Who is interested in exchanges alone.
impl<F: FnMut(&Exchange, &Names) -> Result<(), Failure>> Audience for F {
    fn take(&mut self, exchange: &Exchange, names: &Names) -> Result<(), Failure> {
        self(exchange, names)
    }

    fn look(&mut self, _: &[Exchange], _: &Names, _: &Provenance) -> Result<(), Failure> {
        Ok(())
    }
}

/// What to ask of the kernel for these arguments.
pub(super) fn options<'path>(
    role: RoleChoice,
    services: Services,
    developer: &DeveloperArguments,
    outputs: impl IntoIterator<Item = &'path Path>,
) -> Options {
    Options {
        client: matches!(role, RoleChoice::Client | RoleChoice::Both),
        server: matches!(role, RoleChoice::Server | RoleChoice::Both),
        services,
        object: developer.bpf_object.clone(),
        outputs: outputs.into_iter().map(Into::into).collect(),
    }
}

/// When an observation ends: after its duration, or earlier by an interrupt.
#[derive(Debug)]
pub(super) struct End {
    start: Instant,
    duration: Option<Duration>,
    interrupt: Interrupt,
}

impl End {
    /// Without a duration only an interrupt ends it.
    pub(super) fn new(duration: Option<jiff::SignedDuration>, interrupt: Interrupt) -> Self {
        Self { start: Instant::now(), duration: duration.map(jiff::SignedDuration::unsigned_abs), interrupt }
    }

    /// Whether it is there.
    pub(super) fn is_there(&self) -> bool {
        self.interrupt.is_noted() || self.duration.is_some_and(|duration| self.start.elapsed() >= duration)
    }

    /// How far it is.
    pub(super) fn progress(&self, exchanges: u64) -> String {
        let elapsed = self.start.elapsed().as_secs();
        let so_far = format!("{exchanges} exchanges so far; Ctrl-C ends it early");
        match self.duration {
            Some(duration) => format!("observing: {elapsed} s of {} s, {so_far}", duration.as_secs()),
            None => format!("observing: {elapsed} s, {so_far}"),
        }
    }
}

/// Shows every exchange to `audience` until `end` is there, then what is complete or pending at that moment, and says
/// what was observed. An `interval` shows in between what is not over.
pub(super) fn observe(
    mut capture: KernelCapture,
    end: &mut dyn FnMut(&mut Console, u64) -> Result<bool, Failure>,
    interval: Option<Duration>,
    console: &mut Console,
    names: &mut Names,
    audience: &mut dyn Audience,
) -> Result<Provenance, Failure> {
    let mut feed = Feed { audience, taken: 0, failure: None };
    console.observing();
    let mut due = interval.map(|interval| Instant::now() + interval);
    let mut taken_before = 0;
    while !end(console, feed.taken)? {
        wait(feed.taken - taken_before);
        taken_before = feed.taken;
        capture.poll(names, &mut |exchange, names| feed.take(exchange, names));
        feed.check()?;
        if let (Some(interval), Some(time)) = (interval, due)
            && Instant::now() >= time
        {
            if end(console, feed.taken)? {
                break; // what there is to look at is the end
            }
            due = Some(time + interval);
            let unfinished = capture.unfinished(names, &mut |exchange, names| feed.take(exchange, names))?;
            feed.check()?;
            feed.audience.look(&unfinished, names, &capture.provenance()?)?;
        }
    }
    capture.finish(names, &mut |exchange, names| feed.take(exchange, names))?;
    feed.check()?;
    console.clear_progress();
    Ok(capture.provenance()?)
}

/// Waits until it is time to look again, after a turn with so many exchanges.
pub(super) fn wait(taken: u64) {
    thread::sleep(if taken < BUSY { POLL } else { BUSY_POLL });
}

/// An audience whose first failure is remembered, and that is shown nothing after it.
struct Feed<'a> {
    audience: &'a mut dyn Audience,
    taken: u64,
    failure: Option<Failure>,
}

impl Feed<'_> {
    fn take(&mut self, exchange: &Exchange, names: &Names) {
        if self.failure.is_none() {
            self.taken += 1;
            self.failure = self.audience.take(exchange, names).err();
        }
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }
}
