//! Which process gets which part, with what a scenario makes of it.

use std::{
    net::{SocketAddr, TcpListener},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use observer_common::Timestamp;

use super::{
    addresses::{Block, listen, listen_once},
    cause::Cause,
    client::{ClientOptions, ScheduleOptions},
    error::LabError,
    faults::{Deed, Hierarchy, Orders, ProcessorShare, Target},
    forwarder::ForwarderOptions,
    part::{Part, Role},
    process::Process,
    replica::ReplicaOptions,
    scenario::{Purpose, Scenario},
    store::StoreOptions,
    timetable::Timetable,
    truth::{Mechanism, Truth},
};
use crate::{
    clock::monotonic,
    quantity::{Rate, Share},
};

/// Time for all processes to start before the first request is due.
const SETTLING: Duration = Duration::from_secs(1);

/// Processor time of an execution where the cause is a quota.
const WORK: Duration = Duration::from_millis(2);
/// How much of the processor time that it needs a replica gets, at the usual severity.
const QUOTA: f64 = 0.5;
/// So many times as long serves a replica without a quota, at the usual severity.
const SLOWNESS: f64 = 20.0;
/// So many times as long takes an expensive request, at the usual severity.
const EXPENSE: f64 = 20.0;
/// So many times the capacity arrives in a burst, at the usual severity.
const BURST: f64 = 1.3;
/// So many segments are lost on a bad path, at the usual severity.
const LOSS: f64 = 0.1;

/// All processes of a lab, just started.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) client: Process,
    pub(super) faults: Option<Process>,
    pub(super) others: Vec<Process>,
    /// Where the client sends its requests.
    pub(super) instances: Vec<SocketAddr>,
    /// What is known before anything happens.
    pub(super) truth: Truth,
}

/// What needs privileges is done, everything else is still to come.
#[derive(Debug)]
pub(super) struct Rehearsal {
    program: PathBuf,
    scenario: Scenario,
    /// Where a quota can be set, if the cause is one.
    quota: Option<Hierarchy>,
    faults: Option<Process>,
}

impl Rehearsal {
    pub(super) fn new(program: &Path, scenario: &Scenario) -> Result<Self, LabError> {
        let quota = if scenario.cause == Cause::Instance { Hierarchy::find() } else { None };
        let faults = match deed(scenario, quota.as_ref()) {
            Some(deed) => {
                let part = Part::new(Role::Faults(deed));
                Some(Process::start(program, "faults".to_owned(), &part, Stdio::piped())?)
            }
            None => None,
        };
        Ok(Self { program: program.to_owned(), scenario: scenario.clone(), quota, faults })
    }

    /// Starts everything else.
    pub(super) fn perform(self) -> Result<Cast, LabError> {
        let settling = u64::try_from(SETTLING.as_nanos()).unwrap_or_default();
        let start = Timestamp(monotonic().0 + settling);
        let builder = Builder {
            program: &self.program,
            scenario: &self.scenario,
            start,
            quota: self.quota.as_ref(),
            others: Vec::new(),
        };
        builder.build(self.faults)
    }
}

/// What is done to replicas from outside, if anything is.
fn deed(scenario: &Scenario, quota: Option<&Hierarchy>) -> Option<Deed> {
    let Scenario { cause, severity, ref system, .. } = *scenario;
    match (cause, quota) {
        (Cause::Independent, _) => Some(Deed::Stop { seed: scenario.seed(Purpose::Victims) }),
        (Cause::Instance, Some(hierarchy)) => {
            let need = system.rate.as_per_second() / system.replicas.get() as f64 * WORK.as_secs_f64();
            let share = ProcessorShare(need * QUOTA / severity.get());
            Some(Deed::Throttle { hierarchy: hierarchy.clone(), share })
        }
        _ => None,
    }
}

/// Starts one process after another.
struct Builder<'a> {
    program: &'a Path,
    scenario: &'a Scenario,
    start: Timestamp,
    quota: Option<&'a Hierarchy>,
    others: Vec<Process>,
}

impl Builder<'_> {
    fn build(mut self, mut faults: Option<Process>) -> Result<Cast, LabError> {
        let count = self.scenario.system.replicas.get();
        let store = self.store()?;
        let mut instances = Vec::new();
        let mut targets = Vec::new();
        let with_paths = self.scenario.cause == Cause::Network;
        let fronts = listen(Block::Instances, count)?;
        let backs = if with_paths { listen(Block::Behind, count)? } else { Vec::new() };
        let mut backs = backs.into_iter();
        for (index, (instance, front)) in fronts.into_iter().enumerate() {
            let listener = match backs.next() {
                None => front,
                Some((replica, back)) => {
                    self.path(index, instance, replica, front)?;
                    back
                }
            };
            let process = self.replica(index, instance, store, listener)?;
            targets.push(Target { instance, process });
            instances.push(instance);
        }
        if let Some(faults) = &mut faults {
            faults.listen()?;
            faults.order(&Orders { targets, on: self.timetable(self.scenario.cause) })?;
        }
        let client = self.client(&instances)?;
        let truth = Truth::new(self.scenario, self.mechanism(), self.start, client.id());
        Ok(Cast { client, faults, others: self.others, instances, truth })
    }

    const fn mechanism(&self) -> Mechanism {
        match (self.scenario.cause, self.quota) {
            (Cause::Independent, _) => Mechanism::StoppedProcess,
            (Cause::Instance, Some(Hierarchy::V1(_))) => Mechanism::ProcessorQuotaV1,
            (Cause::Instance, Some(Hierarchy::V2(_))) => Mechanism::ProcessorQuotaV2,
            (Cause::Instance, None) => Mechanism::LongerService,
            (Cause::Shared, _) => Mechanism::LockedStore,
            (Cause::Saturated, _) => Mechanism::ArrivalsAboveCapacity,
            (Cause::Caller, _) => Mechanism::UnreadAnswers,
            (Cause::Network, _) => Mechanism::LossyForwarder,
            (Cause::Request, _) => Mechanism::ExpensiveRequests,
            (Cause::NoTail, _) => Mechanism::None,
        }
    }

    fn timetable(&self, cause: Cause) -> Timetable {
        Timetable { start: self.start, episodes: self.scenario.episodes(cause) }
    }

    fn launch(&self, role: Role, what: &str, input: Stdio) -> Result<Process, LabError> {
        let mut process = Process::start(self.program, what.to_owned(), &Part::new(role), input)?;
        process.listen()?;
        Ok(process)
    }

    fn store(&mut self) -> Result<SocketAddr, LabError> {
        let (address, listener) = listen_once(Block::Store)?;
        let options = StoreOptions { locked: self.timetable(Cause::Shared) };
        self.others.push(self.launch(Role::Store(options), "store", input(listener))?);
        Ok(address)
    }

    fn replica(
        &mut self,
        index: usize,
        instance: SocketAddr,
        store: SocketAddr,
        listener: TcpListener,
    ) -> Result<u32, LabError> {
        let Scenario { severity, ref system, .. } = *self.scenario;
        let mut slow = self.timetable(Cause::Instance);
        if index > 0 || self.quota.is_some() {
            slow.episodes.share = Share::NONE;
        }
        let options = ReplicaOptions {
            instance,
            wire: system.wire,
            slots: system.slots,
            service: system.service.clone(),
            work: if self.quota.is_some() { WORK } else { Duration::ZERO },
            expense: EXPENSE * severity.get(),
            slow,
            slowness: SLOWNESS * severity.get(),
            store,
            seed: self.scenario.seed(Purpose::Replica(index)),
        };
        let process = self.launch(Role::Replica(options), &format!("replica {instance}"), input(listener))?;
        let id = process.id();
        self.others.push(process);
        Ok(id)
    }

    fn path(
        &mut self,
        index: usize,
        instance: SocketAddr,
        replica: SocketAddr,
        listener: TcpListener,
    ) -> Result<(), LabError> {
        let loss = (LOSS * self.scenario.severity.get()).min(1.0);
        let options = ForwarderOptions {
            instance,
            replica,
            bad: self.timetable(Cause::Network),
            loss: Share::new(loss).unwrap_or(Share::ALL),
            seed: self.scenario.seed(Purpose::Path(index)),
        };
        self.others.push(self.launch(
            Role::Forwarder(options),
            &format!("path to {instance}"),
            input(listener),
        )?);
        Ok(())
    }

    fn client(&self, instances: &[SocketAddr]) -> Result<Process, LabError> {
        let Scenario { cause, severity, duty_cycle, ref system, .. } = *self.scenario;
        // Where requests take no time, nothing can be full.
        let full = system.capacity().map(|capacity| BURST * severity.get() * capacity.as_per_second());
        let options = ClientOptions {
            instances: instances.to_owned(),
            wire: system.wire,
            balancing: system.balancing,
            balancing_seed: self.scenario.seed(Purpose::Balancing),
            start: self.start,
            schedule: ScheduleOptions {
                rate: system.rate,
                burst_rate: full.and_then(Rate::per_second).unwrap_or(system.rate),
                bursts: self.scenario.episodes(Cause::Saturated),
                duration: system.duration,
                expensive: if cause == Cause::Request { duty_cycle } else { Share::NONE },
                seed: self.scenario.seed(Purpose::Arrivals),
            },
            not_reading: self.timetable(Cause::Caller),
            hedging: self.scenario.policy(),
            chance_seed: self.scenario.seed(Purpose::Chance),
        };
        self.launch(Role::Client(options), "client", Stdio::null())
    }
}

fn input(listener: TcpListener) -> Stdio {
    Stdio::from(OwnedFd::from(listener))
}
