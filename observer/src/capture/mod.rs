//! Sources of exchanges.

pub mod access_log;
mod budget;
pub mod kernel;
mod opened;
pub mod pcap;
pub mod table;

pub use opened::Opened;
