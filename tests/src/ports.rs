//! Ports for servers.

use std::net::TcpListener;

use anyhow::Result;

/// Ports on loopback that nobody listens on, each another one.
///
/// # Errors
///
/// What the system said when none could be had.
pub fn free_ports<const COUNT: usize>() -> Result<[u16; COUNT]> {
    let mut ports = [0; COUNT];
    let mut listeners = Vec::with_capacity(COUNT);
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        *port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(ports)
}
