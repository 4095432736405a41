//! Capabilities: which are there, and giving them up.

use std::path::{Path, PathBuf};

use caps::{CapSet, Capability, CapsHashSet};
use rustix::fs::{Access, AtFlags, CWD};

use super::CaptureError;

/// What loading and attaching takes: without the last the verifier refuses pointer arithmetic.
pub(super) const NEEDED: [Capability; 3] =
    [Capability::CAP_BPF, Capability::CAP_NET_ADMIN, Capability::CAP_PERFMON];

/// The needed capabilities that are not effective.
pub(super) fn missing() -> Vec<Capability> {
    let effective = caps::read(None, CapSet::Effective).unwrap_or_default();
    if effective.contains(&Capability::CAP_SYS_ADMIN) && effective.contains(&Capability::CAP_NET_ADMIN) {
        return Vec::new(); // the old superset
    }
    NEEDED.into_iter().filter(|capability| !effective.contains(capability)).collect()
}

/// Names for a sentence.
pub(super) fn names(capabilities: &[Capability]) -> String {
    capabilities.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Gives up every capability for good, except the one that an output file in somebody else's directory needs, and
/// except `CAP_BPF` where `still_works` fails without it (Linux 5.10 wants it for reading).
///
/// Capabilities belong to threads: call this before any other thread exists.
pub(super) fn drop_all(
    outputs: &[PathBuf],
    mut still_works: impl FnMut() -> bool,
) -> Result<Vec<Capability>, CaptureError> {
    let refused = |error: caps::errors::CapsError| CaptureError::Drop { reason: error.to_string() };
    let mut kept = CapsHashSet::new();
    if !outputs.iter().all(|output| writable_without_capabilities(output)) {
        kept.insert(Capability::CAP_DAC_OVERRIDE);
    }
    let permitted = caps::read(None, CapSet::Permitted).map_err(refused)?;
    kept.retain(|capability| permitted.contains(capability));

    caps::clear(None, CapSet::Ambient).map_err(refused)?;
    caps::clear(None, CapSet::Inheritable).map_err(refused)?;
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).unwrap_or(false) {
        // So that no program started later gets them back by being root.
        caps::clear(None, CapSet::Bounding).map_err(refused)?;
    }
    caps::set(None, CapSet::Effective, &kept).map_err(refused)?;
    if !still_works() && permitted.contains(&Capability::CAP_BPF) {
        kept.insert(Capability::CAP_BPF);
        caps::set(None, CapSet::Effective, &kept).map_err(refused)?;
    }
    caps::set(None, CapSet::Permitted, &kept).map_err(refused)?;
    Ok(kept.into_iter().collect())
}

/// Whether the owner's, group's and others' bits alone let this process write into the file's directory.
fn writable_without_capabilities(output: &Path) -> bool {
    let directory = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let effective = caps::read(None, CapSet::Effective).unwrap_or_default();
    if caps::clear(None, CapSet::Effective).is_err() {
        return true;
    }
    let writable =
        rustix::fs::accessat(CWD, directory, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok();
    // Raising from the permitted set again cannot fail: it was effective a moment ago.
    let restored = caps::set(None, CapSet::Effective, &effective).is_ok();
    writable || !restored
}
