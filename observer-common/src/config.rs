//! What user space tells the probes.

/// How many 64-bit words the set of listening ports takes: one bit a port.
pub const LISTENING_WORDS: u32 = 65_536 / 64;

/// Which roles are observed, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles(pub u32);

impl Roles {
    /// Connections that this host opened.
    pub const CLIENT: u32 = 1;
    /// Connections that this host accepted.
    pub const SERVER: u32 = 2;
}

/// The probes' configuration, the one element of an array map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Config {
    /// Which roles are observed: bits of [`Roles`].
    pub roles: u32,
    /// The observer's own process, whose connections are never observed; 0 observes all.
    pub own_pid: u32,
}
