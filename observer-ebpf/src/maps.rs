//! What the probes share with each other and with user space.

use aya_ebpf::{
    btf_maps::{Array, PerCpuArray, ProgramArray, RingBuf, SkStorage},
    macros::btf_map,
};
use observer_common::{Config, Connection, Counters, ExchangeRecord, LISTENING_WORDS, Route};

/// Bytes of the ring: about half a second of records at the highest rate that sockets reach.
const RING_BYTES: usize = 16 << 20;

/// State of every observed connection; freed with its socket.
#[btf_map]
pub(crate) static CONNECTIONS: SkStorage<Connection> = SkStorage::new();

/// Exchanges on their way to user space.
#[btf_map]
pub(crate) static EXCHANGES: RingBuf<ExchangeRecord, RING_BYTES> = RingBuf::new();

/// What was not paired and what was lost.
#[btf_map]
pub(crate) static COUNTERS: PerCpuArray<Counters, 1> = PerCpuArray::new();

/// What user space wants.
#[btf_map]
pub(crate) static CONFIG: Array<Config, 1> = Array::new();

/// Ports that had a listener when observation began, one bit each: the role of older connections.
#[btf_map]
pub(crate) static LISTENING: Array<u64, { LISTENING_WORDS as usize }> = Array::new();

/// The programs that walk over frames and records; see `tail`.
#[btf_map]
pub(crate) static WALKERS: ProgramArray<{ Route::WALKERS }> = ProgramArray::new();
