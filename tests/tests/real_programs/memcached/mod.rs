//! memcached.

mod commands;
mod pymemcache;
mod silence;

use std::process::Command;

use anyhow::Result;
use observer_tests::process::Running;

use crate::server::{free_port, program, serve};

/// A server without UDP.
struct Memcached {
    port: u16,
    _server: Running,
}

impl Memcached {
    fn start() -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(program("memcached")?);
        command.args(["-l", "127.0.0.1", "-p", &port.to_string(), "-U", "0", "-u", "nobody"]);
        Ok(Self { port, _server: serve(&mut command, port)? })
    }
}
