//! Sources of exchanges.

pub mod kernel;
pub mod pcap;
pub mod table;
