//! Sessions whose every message the test knows.

use anyhow::Result;

use crate::talk::{Client, Said};

/// A message with a type.
fn message(kind: u8, body: &[u8]) -> Result<Vec<u8>> {
    let length = u32::try_from(body.len() + 4)?;
    Ok([&[kind][..], &length.to_be_bytes(), body].concat())
}

/// `ReadyForQuery`: no transaction, in one, or in one that failed.
pub(super) const IDLE: &[u8] = b"Z\0\0\0\x05I";
pub(super) const OPEN: &[u8] = b"Z\0\0\0\x05T";
pub(super) const FAILED: &[u8] = b"Z\0\0\0\x05E";

/// A client of the simple protocol.
pub(super) struct Session {
    pub(super) client: Client,
}

impl Session {
    /// Connects and starts a session.
    pub(super) fn start(port: u16) -> Result<Self> {
        let mut client = Client::connect(port)?;
        let startup = b"\0\x03\0\0user\0postgres\0database\0postgres\0\0";
        let length = u32::try_from(startup.len() + 4)?;
        client.ask_until(&[&length.to_be_bytes()[..], startup].concat(), IDLE)?;
        Ok(Self { client })
    }

    /// Sends a query and reads its answer, at whose end the server is in this state.
    pub(super) fn query(&mut self, text: &str, state: &[u8]) -> Result<Said> {
        self.client.ask_until(&message(b'Q', &[text.as_bytes(), b"\0"].concat())?, state)
    }

    /// Ends the session and returns the number of its connection.
    pub(super) fn end(mut self) -> Result<u64> {
        self.client.say(&message(b'X', &[])?)?;
        Ok(self.client.connection)
    }
}
