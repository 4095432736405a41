//! The eBPF object: how it is built, what it was built from, what is in it.

pub(crate) mod compile;
pub(crate) mod expected;
pub(crate) mod inputs;
pub(crate) mod manifest;
pub(crate) mod strip;
pub(crate) mod structure;
pub(crate) mod toolchain;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of `bytes` as people compare it.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
