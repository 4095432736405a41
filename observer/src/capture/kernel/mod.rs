//! The probes: loading, attaching, reading. The only place that names aya.

mod attach;
mod cgroup;
mod counters;
mod decode;
mod doctor;
mod error;
mod iterator;
mod listening;
mod plan;
mod privileges;
mod ring;
mod self_test;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use aya_log::EbpfLogger;
use observer_common::{Config, ExchangeRecord, Reason, Role, Roles, Timestamp};

use self::{attach::Attached, cgroup::CgroupRoot, counters::Reading, decode::Decoder, ring::Ring};
pub use self::{
    attach::ProbeStatus,
    doctor::{Doctor, examine},
    error::CaptureError,
};
use crate::{
    clock::{monotonic, wall_offset_ns},
    exchange::{Exchange, Names},
    provenance::{Degradation, Provenance, SourceKind, Window},
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
    /// Where output will appear: a directory that only `CAP_DAC_OVERRIDE` makes writable keeps that one capability.
    pub output: Option<PathBuf>,
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
    decoder: Decoder,
    roles: u32,
    start: Timestamp,
    wall_offset_ns: i64,
    /// The counters when observation began.
    before: Reading,
}

impl KernelCapture {
    /// Loads and attaches the probes, lets them prove themselves on loopback, and drops all capabilities.
    ///
    /// Capabilities belong to threads: call this before any other thread exists.
    pub fn start(options: &Options) -> Result<Self, CaptureError> {
        let root = CgroupRoot::open()?;
        let Trial { mut attached, mut ring } =
            prepare(&root, options.object.as_deref()).map_err(|refusal| refusal.error)?;
        let kept = privileges::drop_all(options.output.as_deref(), || still_reads(&mut attached))?;
        if !kept.is_empty() {
            tracing::debug!("kept: {}", privileges::names(&kept));
        }
        attach::configure(
            &mut attached.ebpf,
            Config { roles: options.roles(), own_pid: std::process::id() },
        )?;
        ring.drain(|_| {});
        Ok(Self {
            logger: EbpfLogger::init(&mut attached.ebpf).ok(),
            before: Reading::take(&attached.ebpf)?,
            attached,
            ring,
            decoder: Decoder::default(),
            roles: options.roles(),
            start: monotonic(),
            wall_offset_ns: wall_offset_ns(),
        })
    }

    /// Hands over the exchanges that ended since the last call.
    pub fn poll(&mut self, names: &mut Names, sink: &mut dyn FnMut(&Exchange, &Names)) {
        let Self { ring, decoder, roles, logger, .. } = self;
        if let Some(logger) = logger {
            logger.flush();
        }
        ring.drain(|record| {
            if wanted(record, *roles) {
                sink(&decoder.exchange(record, names), names);
            }
        });
    }

    /// Ends the observation: hands over what the ring still holds, then, from the state of every connection, the
    /// exchanges whose response nothing has ended yet, and the requests that still wait (`pending`).
    pub fn finish(
        &mut self,
        names: &mut Names,
        sink: &mut dyn FnMut(&Exchange, &Names),
    ) -> Result<(), CaptureError> {
        self.poll(names, sink);
        let now = monotonic();
        let mut unfinished = Vec::new();
        if let Some(iterator) = &mut self.attached.iterator {
            let connections = iterator
                .read()
                .map_err(|error| CaptureError::Read { what: "the state of connections", error })?;
            unfinished.extend(connections.filter_map(|connection| decode::unfinished(&connection, now)));
        }
        // What ended while the connections were looked at is in the ring, as it ended.
        let Self { ring, decoder, roles, .. } = self;
        let mut ended = HashSet::new();
        ring.drain(|record| {
            ended.insert((record.connection, record.number));
            if wanted(record, *roles) {
                sink(&decoder.exchange(record, names), names);
            }
        });
        for record in &unfinished {
            if wanted(record, *roles) && !ended.contains(&(record.connection, record.number)) {
                sink(&decoder.exchange(record, names), names);
            }
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
        provenance.degraded.clone_from(&self.attached.degraded);
        Ok(provenance)
    }
}

/// Probes that have proven themselves.
struct Trial {
    attached: Attached,
    ring: Ring,
}

/// Why they have not, and how far they came.
struct Refusal {
    error: CaptureError,
    probes: Vec<ProbeStatus>,
    degraded: Vec<Degradation>,
}

impl Refusal {
    fn before_attaching(error: CaptureError) -> Self {
        Self { error, probes: Vec::new(), degraded: Vec::new() }
    }

    fn of(attached: Attached, error: CaptureError) -> Self {
        Self { error, probes: attached.probes, degraded: attached.degraded }
    }
}

/// Everything up to the self-test.
fn prepare(root: &CgroupRoot, object: Option<&Path>) -> Result<Trial, Refusal> {
    // Both roles and no process left out, so that the ping is seen.
    let everything = Config { roles: Roles::CLIENT | Roles::SERVER, own_pid: 0 };
    let mut attached = attach::attach(root, object, everything).map_err(Refusal::before_attaching)?;
    if !root.whole_host {
        attached.degraded.push(Degradation {
            what: "view".to_owned(),
            reason: "the root of cgroup v2 is not visible from this cgroup namespace".to_owned(),
            consequence: "only this container is observed".to_owned(),
        });
    }
    if let Err(error) = require(&attached) {
        return Err(Refusal::of(attached, error));
    }
    let mut ring = match Ring::open(&mut attached.ebpf) {
        Ok(ring) => ring,
        Err(error) => return Err(Refusal::of(attached, error)),
    };
    match self_test::prove(&mut attached, &mut ring) {
        Ok(()) => Ok(Trial { attached, ring }),
        Err(error) => Err(Refusal::of(attached, error)),
    }
}

/// Without these probes there is nothing to observe.
fn require(attached: &Attached) -> Result<(), CaptureError> {
    let refused =
        plan::PLAN.iter().filter(|probe| probe.required).zip(attached.required()).find(|(_, s)| !s.attached);
    let Some((probe, status)) = refused else { return Ok(()) };
    let reason = status.error.clone().unwrap_or_default();
    let missing = privileges::missing();
    Err(if missing.is_empty() {
        CaptureError::Probe { probe: probe.name, reason }
    } else {
        CaptureError::Privilege { missing: privileges::names(&missing), reason }
    })
}

/// Whether counters and connections can be read with the capabilities that are effective now.
fn still_reads(attached: &mut Attached) -> bool {
    let counters = Reading::take(&attached.ebpf).is_ok();
    counters && attached.iterator.as_mut().is_none_or(|iterator| iterator.read().is_ok())
}

/// Connections accepted during the self-test have a role that may not be wanted.
fn wanted(record: &ExchangeRecord, roles: u32) -> bool {
    match record.role {
        Role::Client => roles & Roles::CLIENT != 0,
        Role::Server => roles & Roles::SERVER != 0,
        Role::Unknown | Role::Ignored => false,
    }
}
