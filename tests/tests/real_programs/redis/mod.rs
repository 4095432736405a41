//! Redis.

mod benchmark;
mod commands;
mod subscriptions;

use std::process::Command;

use anyhow::Result;
use observer_tests::process::Running;

use crate::server::{free_port, program, serve};

/// A server that keeps nothing.
struct Redis {
    port: u16,
    _server: Running,
}

impl Redis {
    fn start() -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(program("redis-server")?);
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]);
        Ok(Self { port, _server: serve(&mut command, port)? })
    }
}

/// A command in the form of an array.
fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len());
    for word in words {
        bytes.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    bytes.into_bytes()
}
