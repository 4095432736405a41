//! The loopback device of a machine on which nobody has set it up.

use anyhow::{Context as _, Result};
use rustix::{
    ioctl::{Setter, ioctl},
    net::{AddressFamily, SocketType, socket},
};

/// `SIOCSIFFLAGS` of `<linux/sockios.h>`: sets an interface's flags.
const SET_FLAGS: rustix::ioctl::Opcode = 0x8914;

/// Brings the device `lo` up.
pub fn loopback_up() -> Result<()> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut name = [0; libc::IFNAMSIZ];
    for (to, from) in name.iter_mut().zip(*b"lo") {
        *to = from.cast_signed();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the flag is the first bit")]
    let request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: libc::IFF_UP as libc::c_short },
    };
    #[expect(unsafe_code, reason = "rustix has no call for this ioctl")]
    // SAFETY: this request reads an `ifreq`, which lives until the call returns.
    unsafe { ioctl(&socket, Setter::<SET_FLAGS, libc::ifreq>::new(request)) }
        .context("bring the loopback device up")
}
