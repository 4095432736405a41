//! `observer` watches, from the kernel, every request that processes on a Linux host send to their backends.
//!
//! Data runs one straight way: a source (`capture`) yields [`exchange::Exchange`]s, the `ledger` sums them up
//! per service and instance, the `report` is the one model that every renderer draws. The [`simulation`] stands apart: it
//! says what a policy would do to a system.

pub mod analysis;
pub mod capture;
pub mod cli;
mod clock;
pub mod demo;
pub mod exchange;
pub mod filter;
pub mod http2;
pub mod identity;
pub mod ledger;
mod maps;
pub mod pairing;
mod printable;
pub mod protocol;
pub mod provenance;
pub mod quantity;
pub mod recording;
pub mod report;
pub mod settings;
pub mod simulation;
