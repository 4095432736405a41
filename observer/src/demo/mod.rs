//! The lab: real processes on loopback, in which each cause of slow requests can be switched on, with the truth known.
//!
//! ```text
//! schedule ──> client (hedging) ──> [forwarder] ──> replicas ──> store
//!                 │                     │              │           │
//!                 └─────────────────────┴─ Truth ──────┴───────────┘
//! ```
//!
//! All of them are processes of their own, started from this very program, that speak HTTP/1.1 or gRPC over real
//! sockets. A fault is a mechanism: nothing ever adjusts a number. [`run`] runs a [`Scenario`] to its end and hands over
//! the [`Truth`]; [`Lab`] does the same step by step, so that something can watch meanwhile.

mod addresses;
mod cast;
mod cause;
mod client;
mod comparison;
mod episodes;
mod error;
mod faults;
mod forwarder;
mod grpc;
pub mod hedging;
mod lab;
mod lifeline;
mod log;
mod message;
mod number;
mod part;
mod process;
mod records;
mod replica;
mod scenario;
mod service_time;
mod store;
mod summary;
mod system;
mod timetable;
mod truth;
mod wire;

pub(crate) use addresses::MOST_REPLICAS;
pub use cause::Cause;
pub(crate) use client::PATIENCE;
pub use comparison::Comparison;
pub use error::LabError;
pub use lab::{Lab, PreparedLab, run};
pub use part::{Part, play};
pub use process::PART_COMMAND;
pub use records::{CopyRecord, Ending, Execution, Fault, FaultSpan, RequestRecord};
pub use scenario::{Scenario, Severity};
pub use service_time::ServiceTime;
pub use summary::{Latencies, Summary};
pub use system::{Balancing, System, Wire};
pub use truth::{Mechanism, Truth};
pub use wire::Class;
