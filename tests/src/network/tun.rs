//! A TUN device: a link whose other end is a file.

use std::{
    fs::{File, OpenOptions},
    net::Ipv4Addr,
    os::unix::fs::OpenOptionsExt as _,
};

use anyhow::{Context as _, Result};
use rustix::ioctl::{Setter, ioctl, opcode};

use super::Namespace;

/// Makes the device `wire` in a namespace, with an address in a network of 256.
///
/// Without offloads the kernel segments everything before it comes here: what passes are real packets.
pub(super) fn open(namespace: &Namespace, address: Ipv4Addr) -> Result<File> {
    let file = namespace.run(device)??;
    namespace.ip(&format!("addr add {address}/24 dev {NAME}"))?;
    namespace.ip(&format!("link set {NAME} up"))?;
    Ok(file)
}

const NAME: &str = "wire";

/// `TUNSETIFF` of `<linux/if_tun.h>`: gives the file its device.
const SET_DEVICE: rustix::ioctl::Opcode = opcode::write::<libc::c_int>(b'T', 202);

fn device() -> Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")
        .context("open /dev/net/tun")?;
    let mut name = [0; libc::IFNAMSIZ];
    for (to, from) in name.iter_mut().zip(NAME.bytes()) {
        *to = from.cast_signed();
    }
    let flags = libc::IFF_TUN | libc::IFF_NO_PI;
    #[expect(clippy::cast_possible_truncation, reason = "both flags are 16 bits wide")]
    let request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags as libc::c_short },
    };
    #[expect(unsafe_code, reason = "rustix has no call for this ioctl")]
    // SAFETY: this request reads an `ifreq`, which lives until the call returns.
    unsafe { ioctl(&file, Setter::<SET_DEVICE, libc::ifreq>::new(request)) }.context("make a TUN device")?;
    Ok(file)
}
