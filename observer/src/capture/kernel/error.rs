//! Why this host cannot be observed.

use std::io;

/// Why this host cannot be observed (exit code 3), or not any longer (`Read`, exit code 1).
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The kernel refuses the probes for want of privilege.
    #[error(
        "the probes cannot be loaded: {missing} missing ({reason}); run as root or grant CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON"
    )]
    Privilege {
        /// The capabilities that are not effective.
        missing: String,
        /// The kernel's own word.
        reason: String,
    },
    /// There is no cgroup v2 hierarchy to attach to.
    #[error(
        "cgroup v2 is not available: {reason}; mount it with 'mount -t cgroup2 none /sys/fs/cgroup/unified'"
    )]
    Cgroup {
        /// What was tried and how it failed.
        reason: String,
    },
    /// The eBPF object cannot be loaded at all.
    #[error("the eBPF object cannot be loaded: {reason}; 'observer doctor' shows what this kernel allows")]
    Object {
        /// The loader's word.
        reason: String,
    },
    /// A probe without which nothing can be observed is missing.
    #[error(
        "the probe '{probe}' cannot be used: {reason}; Linux 5.10 or later is needed, see 'observer doctor'"
    )]
    Probe {
        /// The probe's name.
        probe: &'static str,
        /// The kernel's word.
        reason: String,
    },
    /// The probes are attached and do not see what they should.
    #[error("the probes did not see the self-test on loopback: {reason}; see 'observer doctor'")]
    SelfTest {
        /// What was missing.
        reason: String,
    },
    /// Privileges could not be given up.
    #[error(
        "capabilities cannot be dropped: {reason}; grant no more than CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON"
    )]
    Drop {
        /// The system's word.
        reason: String,
    },
    /// Reading from the probes failed.
    #[error("reading {what} failed: {error}; if it persists, start the observer anew")]
    Read {
        /// What was read.
        what: &'static str,
        /// The system's word.
        error: io::Error,
    },
}
