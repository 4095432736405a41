//! A client that says what it is told to, byte by byte, and knows every answer beforehand.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use observer_common::Timestamp;
use observer_tests::{clock::now, transport::cookie};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection of such a client.
pub(crate) struct Client {
    stream: TcpStream,
    /// Its cookie: how the observer names it.
    pub(crate) connection: u64,
}

/// What a client knows of one request and its answer.
#[derive(Clone, Copy)]
pub(crate) struct Said {
    /// Before the request was written.
    pub(crate) before: Timestamp,
    /// After the answer had been read.
    pub(crate) after: Timestamp,
    /// The request's length.
    pub(crate) request_bytes: u64,
    /// The answer's length.
    pub(crate) response_bytes: u64,
}

impl Client {
    /// Connects to a server on loopback.
    pub(crate) fn connect(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { connection: cookie(&stream)?, stream })
    }

    /// Says something in one write.
    pub(crate) fn say(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// Reads exactly this answer.
    pub(crate) fn hear(&mut self, answer: &[u8]) -> Result<()> {
        let mut buffer = vec![0; answer.len()];
        self.stream
            .read_exact(&mut buffer)
            .with_context(|| format!("instead of {}", answer.escape_ascii()))?;
        ensure!(buffer == answer, "{} instead of {}", buffer.escape_ascii(), answer.escape_ascii());
        Ok(())
    }

    /// Asks, and reads exactly this answer.
    pub(crate) fn ask(&mut self, request: &[u8], answer: &[u8]) -> Result<Said> {
        let before = now();
        self.say(request)?;
        self.hear(answer).with_context(|| format!("asked {}", request.escape_ascii()))?;
        let (request_bytes, response_bytes) = (request.len() as u64, answer.len() as u64);
        Ok(Said { before, after: now(), request_bytes, response_bytes })
    }

    /// Asks, and reads whatever comes until `end`.
    pub(crate) fn ask_until(&mut self, request: &[u8], end: &[u8]) -> Result<Said> {
        let before = now();
        self.say(request)?;
        let (request_bytes, response_bytes) = (request.len() as u64, self.hear_until(end)?);
        Ok(Said { before, after: now(), request_bytes, response_bytes })
    }

    /// Reads whatever comes until `end`, and says how much it was.
    pub(crate) fn hear_until(&mut self, end: &[u8]) -> Result<u64> {
        let (mut answer, mut buffer) = (Vec::new(), [0; 4_096]);
        while !answer.ends_with(end) {
            let more = self.stream.read(&mut buffer)?;
            ensure!(more > 0, "the server left after {}", answer.escape_ascii());
            answer.extend_from_slice(&buffer[..more]);
        }
        Ok(answer.len() as u64)
    }
}
