//! What this host allows, found out by doing it.

use std::{collections::BTreeSet, fs, path::Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProbeStatus, cgroup::CgroupRoot, privileges, trial::prepare};
use crate::provenance::Degradation;

/// What this host allows.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Doctor {
    /// The kernel's release.
    pub kernel: String,
    /// Whether the kernel describes its own types, which two probes need.
    pub btf: bool,
    /// The lockdown mode, where the kernel has one.
    pub lockdown: Option<String>,
    /// The capabilities that observing needs, and whether this process has them.
    pub capabilities: Vec<CapabilityStatus>,
    /// Where cgroup v2 is mounted; `private` where it had to be mounted for this process alone; nothing where
    /// it is not to be had.
    pub cgroup: Option<String>,
    /// Whether the whole host is visible, not only this container.
    pub whole_host: bool,
    /// Every probe, after a real load and attach.
    pub probes: Vec<ProbeStatus>,
    /// Whether the probes saw a request on loopback.
    pub self_test: bool,
    /// What an observation on this host would lack.
    pub degraded: Vec<Degradation>,
    /// Why this host cannot be observed at all, where it cannot.
    pub problem: Option<String>,
}

/// One capability.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityStatus {
    /// Its name.
    pub name: String,
    /// Whether it is effective.
    pub effective: bool,
}

impl Doctor {
    /// Whether this host can be observed.
    pub const fn usable(&self) -> bool {
        self.problem.is_none()
    }
}

/// Tries everything that an observation does, and undoes it. Needs no privileges: without them it says what is
/// missing.
pub fn examine(object: Option<&Path>) -> Doctor {
    let missing = privileges::missing();
    let mut doctor = Doctor {
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        btf: Path::new("/sys/kernel/btf/vmlinux").exists(),
        lockdown: lockdown(),
        capabilities: privileges::NEEDED
            .iter()
            .map(|capability| CapabilityStatus {
                name: capability.to_string(),
                effective: !missing.contains(capability),
            })
            .collect(),
        cgroup: None,
        whole_host: false,
        probes: Vec::new(),
        self_test: false,
        degraded: Vec::new(),
        problem: None,
    };
    let root = match CgroupRoot::open() {
        Ok(root) => root,
        Err(error) => {
            doctor.problem = Some(error.to_string());
            return doctor;
        }
    };
    doctor.cgroup = Some(match &root.path {
        Some(path) => path.display().to_string(),
        None => "private".to_owned(),
    });
    doctor.whole_host = root.whole_host;
    match prepare(&root, object, &BTreeSet::new()) {
        Ok(trial) => {
            doctor.self_test = !trial.attached.degraded.iter().any(|lack| lack.what == "self-test");
            doctor.probes.clone_from(&trial.attached.probes);
            doctor.degraded.clone_from(&trial.attached.degraded);
        }
        Err(refusal) => {
            doctor.probes = refusal.probes;
            doctor.degraded = refusal.degraded;
            doctor.problem = Some(refusal.error.to_string());
        }
    }
    doctor
}

/// The active mode stands in brackets: `none [integrity] confidentiality`.
fn lockdown() -> Option<String> {
    let modes = fs::read_to_string("/sys/kernel/security/lockdown").ok()?;
    let (_, rest) = modes.split_once('[')?;
    let (mode, _) = rest.split_once(']')?;
    Some(mode.to_owned())
}
