//! The probes: loading, attaching, reading. The only place that names aya.

mod attach;
mod cgroup;
mod counters;
mod doctor;
mod early;
mod error;
mod iterator;
mod losses;
mod plan;
mod privileges;
mod ring;
mod self_test;
mod surroundings;
mod trial;
mod unfinished;

use std::{collections::HashSet, path::PathBuf};

use aya_log::EbpfLogger;
use observer_common::{Config, Reason, Role, Roles, Timestamp};

use self::{
    attach::Attached,
    cgroup::CgroupRoot,
    counters::Reading,
    losses::Losses,
    ring::Ring,
    surroundings::Surroundings,
    trial::{Trial, prepare},
};
pub use self::{
    attach::ProbeStatus,
    doctor::{Doctor, examine},
    error::CaptureError,
};
use crate::{
    clock::{monotonic, wall_offset_ns},
    exchange::{Exchange, Names},
    identity::{Processes, Services},
    pairing::{Finisher, Record},
    provenance::{Provenance, SourceKind, Window},
};

/// What to observe, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether connections that this host opened are observed.
    pub client: bool,
    /// Whether connections that this host accepted are observed.
    pub server: bool,
    /// Another eBPF object than the embedded one, for developers.
    pub object: Option<PathBuf>,
    /// Which instances belong to which service, where that is not to be guessed.
    pub services: Services,
    /// Where output will appear: a directory that only `CAP_DAC_OVERRIDE` makes writable keeps that one capability.
    pub outputs: Vec<PathBuf>,
}

impl Options {
    fn roles(&self) -> u32 {
        (u32::from(self.client) * Roles::CLIENT) | (u32::from(self.server) * Roles::SERVER)
    }
}

/// The probes, attached. Dropping it, or the end of the process in whatever way, detaches them.
pub struct KernelCapture {
    attached: Attached,
    /// Only a debug build of the object logs.
    logger: Option<EbpfLogger<&'static dyn log::Log>>,
    ring: Ring,
    finisher: Finisher,
    surroundings: Surroundings,
    roles: u32,
    start: Timestamp,
    wall_offset_ns: i64,
    /// The counters when observation began.
    before: Reading,
    losses: Losses,
}

impl KernelCapture {
    /// Loads and attaches the probes, lets them prove themselves on loopback, and drops all capabilities.
    ///
    /// Capabilities belong to threads: call this before any other thread exists.
    pub fn start(options: &Options) -> Result<Self, CaptureError> {
        let root = CgroupRoot::open()?;
        let processes = Processes::scan();
        let Trial { mut attached, mut ring, mut early } =
            prepare(&root, options.object.as_deref(), processes.listening_ports())
                .map_err(|refusal| refusal.error)?;
        let (mut surroundings, who) = Surroundings::look(options.services.clone(), processes);
        ring.drain(|record| early.keep(&record));
        attached.degraded.extend(surroundings.degraded());
        let kept = privileges::drop_all(&options.outputs, || still_reads(&mut attached))?;
        if !kept.is_empty() {
            tracing::debug!("kept: {}", privileges::names(&kept));
        }
        attach::configure(
            &mut attached.ebpf,
            Config { roles: options.roles(), own_pid: std::process::id() },
        )?;
        ring.drain(|record| early.keep(&record));
        let mut finisher = Finisher::new(who);
        surroundings.poll(|change| finisher.who().translate(change));
        early.replay(|record| {
            if wanted(role_of(record), options.roles()) {
                // No exchange can come of it yet.
                finisher.take(record, monotonic(), &mut Names::default(), &mut |_, _| {});
            }
        });
        let before = Reading::take(&attached.ebpf)?;
        Ok(Self {
            logger: EbpfLogger::init(&mut attached.ebpf).ok(),
            before,
            losses: Losses::since(before),
            attached,
            ring,
            finisher,
            surroundings,
            roles: options.roles(),
            start: monotonic(),
            wall_offset_ns: wall_offset_ns(),
        })
    }

    /// Hands over the exchanges that ended since the last call.
    pub fn poll(&mut self, names: &mut Names, sink: &mut dyn FnMut(&Exchange, &Names)) {
        self.take(names, sink, &mut |_| {});
    }

    /// The same, and shows every exchange of a turn that has ended.
    fn take(
        &mut self,
        names: &mut Names,
        sink: &mut dyn FnMut(&Exchange, &Names),
        ended: &mut dyn FnMut((u64, u32)),
    ) {
        let Self { attached, ring, finisher, surroundings, roles, logger, losses, .. } = self;
        if let Some(logger) = logger {
            logger.flush();
        }
        let now = monotonic();
        ring.drain(|record| {
            if let Record::Exchange(exchange) = &record {
                ended((exchange.parties.connection, exchange.completed.number));
            }
            // What it would end may have ended before, in a record that was lost.
            if finisher.ends_streams(&record) && losses.grew(&attached.ebpf) {
                finisher.lose(monotonic());
            }
            if finisher.meets(&record) {
                // Its address was translated, and that was told, before anything was sent to it.
                surroundings.poll(|change| finisher.who().translate(change));
            }
            if wanted(role_of(&record), *roles) {
                finisher.take(&record, now, names, sink);
            }
        });
        if losses.grew(&attached.ebpf) {
            finisher.lose(monotonic());
        }
    }

    /// The exchanges that are not over: requests that still wait (`pending`), with their age, and responses that
    /// nothing has ended yet, as far as they have come. What has ended meanwhile goes to `sink`.
    pub fn unfinished(
        &mut self,
        names: &mut Names,
        sink: &mut dyn FnMut(&Exchange, &Names),
    ) -> Result<Vec<Exchange>, CaptureError> {
        let now = monotonic();
        let mut records = Vec::new();
        if let Some(iterator) = &mut self.attached.iterator {
            let connections = iterator
                .read()
                .map_err(|error| CaptureError::Read { what: "the state of connections", error })?;
            records.extend(connections.filter_map(|connection| unfinished::record(&connection, now)));
        }
        // What ended while the connections were looked at is in the ring, as it ended.
        let mut ended = HashSet::new();
        self.take(names, sink, &mut |exchange| {
            ended.insert(exchange);
        });
        let mut unfinished = Vec::new();
        for record in &records {
            let exchange = (record.parties.connection, record.completed.number);
            if wanted(record.completed.role, self.roles) && !ended.contains(&exchange) {
                unfinished.extend(self.finisher.unfinished(record, now, names));
            }
        }
        self.finisher.unfinished_streams(now, names, &mut |exchange, _| unfinished.push(*exchange));
        Ok(unfinished)
    }

    /// Ends the observation: hands over what the ring still holds, then what is not over.
    pub fn finish(
        &mut self,
        names: &mut Names,
        sink: &mut dyn FnMut(&Exchange, &Names),
    ) -> Result<(), CaptureError> {
        for exchange in self.unfinished(names, sink)? {
            sink(&exchange, names);
        }
        Ok(())
    }

    /// What was observed and lost since the start.
    pub fn provenance(&self) -> Result<Provenance, CaptureError> {
        let reading = Reading::take(&self.attached.ebpf)?;
        let mut provenance = Provenance::of(SourceKind::Kernel);
        provenance.window = Some(Window {
            start: self.start,
            duration: monotonic().since(self.start).unwrap_or_default(),
            wall_offset_ns: Some(self.wall_offset_ns),
        });
        provenance.lost_events = reading.since(&self.before, Reason::RingFull) + self.ring.malformed();
        provenance.unpaired = reading.unpaired_since(&self.before);
        for (reason, count) in self.finisher.unpaired() {
            *provenance.unpaired.entry(reason.name().to_owned()).or_default() += count;
        }
        provenance.degraded.clone_from(&self.attached.degraded);
        provenance.degraded.extend(self.surroundings.missed());
        Ok(provenance)
    }
}

/// Whether counters and connections can be read with the capabilities that are effective now.
fn still_reads(attached: &mut Attached) -> bool {
    let counters = Reading::take(&attached.ebpf).is_ok();
    counters && attached.iterator.as_mut().is_none_or(|iterator| iterator.read().is_ok())
}

/// Which side a record is about, where it is about one.
fn role_of(record: &Record<'_>) -> Option<Role> {
    match record {
        Record::Exchange(record) => Some(record.completed.role),
        Record::Opened(record) | Record::Closed(record) => Some(record.role),
        Record::Frame(..) | Record::Hello(_) | Record::Names(_) => None,
    }
}

/// Connections accepted during the self-test have a role that may not be wanted.
fn wanted(role: impl Into<Option<Role>>, roles: u32) -> bool {
    match role.into() {
        None => true,
        Some(Role::Client) => roles & Roles::CLIENT != 0,
        Some(Role::Server) => roles & Roles::SERVER != 0,
        Some(Role::Unknown | Role::Ignored) => false,
    }
}
