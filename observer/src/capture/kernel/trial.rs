//! Attaching the probes, and letting them prove themselves.

use std::{collections::BTreeSet, path::Path};

use observer_common::{Config, Roles};

use super::{
    CaptureError, ProbeStatus,
    attach::{self, Attached},
    cgroup::CgroupRoot,
    early::Early,
    plan, privileges,
    ring::Ring,
    self_test,
};
use crate::provenance::Degradation;

/// Probes that have proven themselves.
pub(super) struct Trial {
    pub(super) attached: Attached,
    pub(super) ring: Ring,
    /// What others' connections told meanwhile.
    pub(super) early: Early,
}

/// Why they have not, and how far they came.
pub(super) struct Refusal {
    pub(super) error: CaptureError,
    pub(super) probes: Vec<ProbeStatus>,
    pub(super) degraded: Vec<Degradation>,
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
pub(super) fn prepare(
    root: &CgroupRoot,
    object: Option<&Path>,
    listening: &BTreeSet<u16>,
) -> Result<Trial, Refusal> {
    // Both roles and no process left out, so that the ping is seen.
    let everything = Config { roles: Roles::CLIENT | Roles::SERVER, own_pid: 0 };
    let mut attached =
        attach::attach(root, object, everything, listening).map_err(Refusal::before_attaching)?;
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
    let mut early = Early::default();
    match self_test::prove(&mut attached, &mut ring, &mut early) {
        Ok(()) => Ok(Trial { attached, ring, early }),
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
