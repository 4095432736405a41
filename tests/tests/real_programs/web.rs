//! nginx, configured by the test.

use std::{fs, process::Command};

use anyhow::Result;
use observer_tests::{
    process::{Running, succeed},
    skip::skipped,
};
use tempfile::TempDir;

use crate::server::{PATIENCE, program, serve};

/// A running nginx.
pub(crate) struct Nginx {
    _running: Running,
    _directory: TempDir,
}

impl Nginx {
    /// Starts nginx with these `server` blocks, which may name these files by paths without a leading slash, and
    /// waits until it listens on `port`.
    ///
    /// One worker, no log, and connections that live as long as the client wants.
    pub(crate) fn start(port: u16, servers: &str, files: &[(&str, &[u8])]) -> Result<Self> {
        let directory = TempDir::new()?;
        for (name, content) in files {
            fs::write(directory.path().join(name), content)?;
        }
        let configuration = directory.path().join("nginx.conf");
        fs::write(&configuration, CONFIGURATION.replace("SERVERS", servers))?;
        let running = serve(
            Command::new(program("nginx")?)
                .arg("-c")
                .arg(&configuration)
                .arg("-p")
                .arg(directory.path())
                .args(["-e", "errors"]),
            port,
        )?;
        Ok(Self { _running: running, _directory: directory })
    }
}

const CONFIGURATION: &str = "
    daemon off; master_process off; pid pid;
    events { worker_connections 1024; }
    http {
        access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
        client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi; scgi_temp_path scgi;
        client_max_body_size 100m; client_body_buffer_size 1m;
        large_client_header_buffers 8 64k; http2_max_concurrent_streams 256;
        SERVERS
    }";

/// A certificate for 127.0.0.1 and its key, as PEM.
pub(crate) fn certificate() -> Result<(Vec<u8>, Vec<u8>)> {
    let directory = TempDir::new()?;
    succeed(
        Command::new(program("openssl")?)
            .args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-addext", "subjectAltName=IP:127.0.0.1", "-out", "certificate", "-keyout", "key"])
            .current_dir(directory.path()),
        PATIENCE,
    )?;
    Ok((fs::read(directory.path().join("certificate"))?, fs::read(directory.path().join("key"))?))
}

/// Whether one of these is to be left out.
pub(crate) fn any_skipped(needs: &[&str]) -> bool {
    needs.iter().any(|need| skipped(need))
}
