//! The probes: loading, attaching, reading. The only place that names aya.

use std::path::PathBuf;

use observer_common::Nanoseconds;

use crate::{
    exchange::{Exchange, Names},
    provenance::Provenance,
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
    /// Where output will appear: a directory that only CAP_DAC_OVERRIDE makes writable keeps that one capability.
    pub output: Option<PathBuf>,
}

/// The probes, attached.
#[derive(Debug)]
pub struct KernelCapture {}

impl KernelCapture {
    /// Loads and attaches the probes, lets them prove themselves on loopback, and drops all capabilities.
    pub fn start(_options: &Options) -> Result<Self, CaptureError> {
        Err(CaptureError::Stub)
    }

    /// Hands over the exchanges that ended since the last call.
    pub fn poll(
        &mut self,
        _names: &mut Names,
        _sink: &mut dyn FnMut(&Exchange, &Names),
    ) -> Result<(), CaptureError> {
        Err(CaptureError::Stub)
    }

    /// Looks at every connection: exchanges that have been complete for `idle` go to `sink` (each once, whatever
    /// the ring says later), requests that still wait go to `pending`, with the outcome `pending`.
    pub fn sweep(
        &mut self,
        _idle: Nanoseconds,
        _names: &mut Names,
        _sink: &mut dyn FnMut(&Exchange, &Names),
        _pending: &mut Vec<Exchange>,
    ) -> Result<(), CaptureError> {
        Err(CaptureError::Stub)
    }

    /// What was observed and lost since the start.
    pub fn provenance(&self) -> Result<Provenance, CaptureError> {
        Err(CaptureError::Stub)
    }
}

/// Why this host cannot be observed. All of these end the program with exit code 3.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// Not written yet.
    #[error("not there yet")]
    Stub,
}
