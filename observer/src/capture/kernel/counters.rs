//! The probes' counters, summed over processors.

use std::collections::BTreeMap;

use aya::{
    Ebpf, Pod,
    maps::{MapData, PerCpuArray},
};
use observer_common::{COUNTERS, Counters, Reason};

use super::CaptureError;

/// [`Counters`] as aya copies it.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Raw(Counters);

// SAFETY: a transparent wrapper of an array of integers, which is plain data.
#[expect(unsafe_code, reason = "the kernel border: aya asks for this promise")]
unsafe impl Pod for Raw {}

/// A reading of all counters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading([u64; COUNTERS]);

impl Reading {
    /// Reads the counters of every processor.
    pub(super) fn take(ebpf: &Ebpf) -> Result<Self, CaptureError> {
        let failed = |reason: String| CaptureError::Read {
            what: "the probes' counters",
            error: std::io::Error::other(reason),
        };
        let map = ebpf.map("COUNTERS").ok_or_else(|| failed("no map COUNTERS".to_owned()))?;
        let map: PerCpuArray<&MapData, Raw> = map.try_into().map_err(|e| failed(format!("{e}")))?;
        let processors = map.get(&0, 0).map_err(|e| failed(format!("{e}")))?;
        let mut sum = [0; COUNTERS];
        for processor in processors.iter() {
            for (total, count) in sum.iter_mut().zip(processor.0.counts) {
                *total += count;
            }
        }
        Ok(Self(sum))
    }

    /// How often this was counted since `before`.
    pub(super) fn since(&self, before: &Self, reason: Reason) -> u64 {
        let index = reason as usize;
        self.0[index].saturating_sub(before.0[index])
    }

    /// What was not paired since `before`, by reason; only what happened.
    pub(super) fn unpaired_since(&self, before: &Self) -> BTreeMap<String, u64> {
        Reason::ALL
            .iter()
            .filter(|reason| !matches!(reason, Reason::Emitted | Reason::RingFull))
            .map(|reason| (reason.name().to_owned(), self.since(before, *reason)))
            .filter(|(_, count)| *count != 0)
            .collect()
    }
}
