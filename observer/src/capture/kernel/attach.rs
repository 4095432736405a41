//! Loading and attaching, probe by probe: what the kernel really does decides, not its version.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::fd::AsFd,
    path::Path,
};

use aya::{
    Btf, Ebpf, EbpfLoader, VerifierLogLevel,
    maps::{Array, Map, MapData, ProgramArray},
    programs::{CgroupSkbAttachType, Program, ProgramError, links::CgroupAttachMode},
};
use observer_common::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CaptureError,
    cgroup::CgroupRoot,
    iterator::StorageIterator,
    plan::{Hook, PLAN, Probe},
    privileges,
};
use crate::provenance::Degradation;

/// The committed object.
static OBJECT: &[u8] =
    aya::include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/observer.bpf.o"));

/// What became of one probe.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProbeStatus {
    /// The program's name.
    pub name: String,
    /// Where it is attached.
    pub hook: String,
    /// Whether nothing can be observed without it.
    pub required: bool,
    /// Whether the verifier took it.
    pub loaded: bool,
    /// Whether it is attached.
    pub attached: bool,
    /// Instructions after the kernel's own rewriting.
    pub instructions: Option<u32>,
    /// Instructions that the verifier walked through; unknown before Linux 5.16.
    pub verified_instructions: Option<u32>,
    /// Why it is not usable, in the kernel's words.
    pub error: Option<String>,
    /// What cannot be told without it.
    pub consequence: String,
}

/// The probes in place. Dropping it detaches them.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) ebpf: Ebpf,
    pub(super) iterator: Option<StorageIterator>,
    pub(super) probes: Vec<ProbeStatus>,
    pub(super) degraded: Vec<Degradation>,
}

/// Loads the object and every probe that this kernel takes. `listening` are the ports that somebody listens on.
pub(super) fn attach(
    root: &CgroupRoot,
    object: Option<&Path>,
    config: Config,
    listening: &BTreeSet<u16>,
) -> Result<Attached, CaptureError> {
    raise_locked_memory_limit();
    let mut ebpf_loader = EbpfLoader::new();
    // Full verifier logs cost more time than the verification; a refused probe is loaded again with one by hand.
    ebpf_loader.verifier_log_level(VerifierLogLevel::STATS);
    let loaded = match object {
        Some(path) => ebpf_loader.load_file(path),
        None => ebpf_loader.load(OBJECT),
    };
    let mut ebpf = loaded.map_err(|error| object_error(&error, object))?;
    configure(&mut ebpf, config)?;
    set_listening_ports(&mut ebpf, listening)?;
    let btf = Btf::from_sys_fs();
    let mut attached = Attached { ebpf, iterator: None, probes: Vec::new(), degraded: Vec::new() };
    // The verifier takes a tenth of a second for all of them. What is attached meanwhile would see requests whose answers
    // the others miss: so all are loaded before the first one is attached.
    let loaded = PLAN.each_ref().map(|probe| attached.load(probe, btf.as_ref().ok()));
    for (probe, (mut status, loaded)) in PLAN.iter().zip(loaded) {
        if let Err(reason) = loaded.and_then(|()| attached.attach(probe, root)) {
            attached.degraded.push(Degradation {
                what: format!("probe {}", probe.name),
                reason: reason.clone(),
                consequence: probe.consequence.to_owned(),
            });
            status.error = Some(reason);
        }
        status.attached = status.error.is_none();
        attached.probes.push(status);
    }
    Ok(attached)
}

/// Tells the probes what is wanted.
pub(super) fn configure(ebpf: &mut Ebpf, config: Config) -> Result<(), CaptureError> {
    let broken = |reason: String| CaptureError::Object { reason };
    let map = ebpf.map_mut("CONFIG").ok_or_else(|| broken("it has no map CONFIG".to_owned()))?;
    let mut array: Array<&mut MapData, [u32; 2]> =
        map.try_into().map_err(|error| broken(format!("its map CONFIG is not usable: {error}")))?;
    array.set(0, [config.roles, config.own_pid], 0).map_err(|error| broken(error.to_string()))
}

/// One bit for every port: what tells a server's connection from a client's where no handshake was seen.
fn set_listening_ports(ebpf: &mut Ebpf, ports: &BTreeSet<u16>) -> Result<(), CaptureError> {
    let broken = |reason: String| CaptureError::Object { reason };
    let map = ebpf.map_mut("LISTENING").ok_or_else(|| broken("it has no map LISTENING".to_owned()))?;
    let mut array: Array<&mut MapData, u64> =
        map.try_into().map_err(|error| broken(format!("its map LISTENING is not usable: {error}")))?;
    let mut words = BTreeMap::<u32, u64>::new();
    for port in ports {
        *words.entry(u32::from(port / 64)).or_default() |= 1 << (port % 64);
    }
    for (index, word) in words {
        array.set(index, word, 0).map_err(|error| broken(error.to_string()))?;
    }
    Ok(())
}

impl Attached {
    /// The probes without which nothing can be observed, in the plan's order.
    pub(super) fn required(&self) -> impl Iterator<Item = &ProbeStatus> {
        self.probes.iter().filter(|probe| probe.required)
    }

    /// Has the verifier look at a probe.
    fn load(&mut self, probe: &Probe, btf: Option<&Btf>) -> (ProbeStatus, Result<(), String>) {
        let mut status = ProbeStatus {
            name: probe.name.to_owned(),
            hook: probe.hook.name().to_owned(),
            required: probe.required,
            loaded: false,
            attached: false,
            instructions: None,
            verified_instructions: None,
            error: None,
            consequence: probe.consequence.to_owned(),
        };
        let loaded = self.verify(probe, btf);
        if let Ok(program) = &loaded {
            status.loaded = true;
            if let Ok(information) = program.info() {
                status.instructions = information.size_translated().map(|bytes| bytes / 8);
                status.verified_instructions = information.verified_instruction_count();
            }
        }
        (status, loaded.map(drop))
    }

    fn verify(&mut self, probe: &Probe, btf: Option<&Btf>) -> Result<&Program, String> {
        let need_btf = || btf.ok_or_else(|| "the kernel has no BTF (/sys/kernel/btf/vmlinux)".to_owned());
        let program = self.program(probe)?;
        match &mut *program {
            Program::BtfTracePoint(program) => program.load("tcp_rcv_space_adjust", need_btf()?),
            Program::Iter(program) => program.load("bpf_sk_storage_map", need_btf()?),
            Program::CgroupSkb(program) => program.load(),
            Program::SockOps(program) => program.load(),
            Program::CgroupSockAddr(program) => program.load(),
            _ => return Err("it is of an unexpected kind in the eBPF object".to_owned()),
        }
        .map_err(|error| reason(&error))?;
        Ok(program)
    }

    fn program(&mut self, probe: &Probe) -> Result<&mut Program, String> {
        self.ebpf.program_mut(probe.name).ok_or_else(|| "it is not in the eBPF object".to_owned())
    }

    /// Lets a probe see what happens.
    fn attach(&mut self, probe: &Probe, root: &CgroupRoot) -> Result<(), String> {
        let program = self.program(probe)?;
        let mode = CgroupAttachMode::Single;
        match (&mut *program, probe.hook) {
            (Program::CgroupSkb(program), Hook::Walker(route)) => {
                let program = program.fd().map_err(|error| reason(&error))?.try_clone();
                let program = program.map_err(|error| error.to_string())?;
                let map = self.ebpf.map_mut("WALKERS").ok_or("the eBPF object has no map WALKERS")?;
                let mut walkers: ProgramArray<&mut MapData> =
                    map.try_into().map_err(|error| format!("its map WALKERS is not usable: {error}"))?;
                walkers.set(route.walker(), &program, 0).map_err(|error| causes(&error))?;
                Ok(())
            }
            (Program::CgroupSkb(program), Hook::CgroupSkbEgress) => {
                program.attach(&root.directory, CgroupSkbAttachType::Egress, mode).map(drop)
            }
            (Program::CgroupSkb(program), _) => {
                program.attach(&root.directory, CgroupSkbAttachType::Ingress, mode).map(drop)
            }
            (Program::SockOps(program), _) => program.attach(&root.directory, mode).map(drop),
            (Program::CgroupSockAddr(program), _) => program.attach(&root.directory, mode).map(drop),
            (Program::BtfTracePoint(program), _) => program.attach().map(drop),
            _ => {
                let program = program
                    .fd()
                    .map_err(|error| reason(&error))?
                    .try_clone()
                    .map_err(|error| error.to_string())?;
                let Some(Map::SkStorage(map)) = self.ebpf.map("CONNECTIONS") else {
                    return Err("the eBPF object has no map CONNECTIONS".to_owned());
                };
                let iterator = StorageIterator::link(program.as_fd(), map.fd().as_fd())
                    .map_err(|error| format!("linking failed: {error}"))?;
                self.iterator = Some(iterator);
                Ok(())
            }
        }
        .map_err(|error| reason(&error))
    }
}

/// Before Linux 5.11 maps count against `RLIMIT_MEMLOCK`; later ones do not, so a refusal is no error.
fn raise_locked_memory_limit() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    if setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None }).is_err() {
        tracing::debug!("RLIMIT_MEMLOCK cannot be raised; Linux 5.11 and later do not need it");
    }
}

/// The first line of an error and of its causes: verifier logs run to thousands of lines.
fn reason(error: &ProgramError) -> String {
    if let ProgramError::LoadError { io_error, verifier_log } = error {
        let log = verifier_log.to_string();
        // The verdict stands before the closing statistics.
        let verdict = log
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| {
                !line.is_empty()
                    && !["processed ", "verification time", "stack depth"].iter().any(|p| line.starts_with(p))
            })
            .unwrap_or_default();
        return if verdict.is_empty() {
            format!("the kernel refused to load it: {io_error}")
        } else {
            format!("the kernel refused to load it: {io_error} ({verdict})")
        };
    }
    causes(error)
}

fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

fn object_error(error: &aya::EbpfError, object: Option<&Path>) -> CaptureError {
    let mut reason = causes(error);
    if let Some(path) = object {
        reason = format!("'{}': {reason}", path.display());
    }
    let missing = privileges::missing();
    if missing.is_empty() {
        CaptureError::Object { reason }
    } else {
        CaptureError::Privilege { missing: privileges::names(&missing), reason }
    }
}
