//! Turns of every protocol, by the bytes that they have on the wire.

mod captured;
mod fuzz;
mod http1;
mod memcached;
mod mysql;
mod postgresql;
mod redis;
mod switching;

use observer_common::Protocol;

use super::{Description, Finding, LeftOut, Messages, Turn};

/// How much the kernel keeps of a request and of a response.
const KEPT: (usize, usize) = (128, 64);

/// What a turn was found to be, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Exchange { protocol: Option<&'static str>, class: Option<String>, status: Option<String>, failed: bool },
    LeftOut(LeftOut),
}

impl Found {
    fn of(finding: Finding<'_>) -> Self {
        match finding {
            Finding::LeftOut(reason) => Self::LeftOut(reason),
            Finding::Exchange(Description { protocol, class, status, failed }) => Self::Exchange {
                protocol,
                class: class.map(str::to_owned),
                status: status.map(str::to_owned),
                failed,
            },
        }
    }

    fn class(&self) -> Option<&str> {
        match self {
            Self::Exchange { class, .. } => class.as_deref(),
            Self::LeftOut(_) => None,
        }
    }

    fn protocol(&self) -> Option<&str> {
        match self {
            Self::Exchange { protocol, .. } => *protocol,
            Self::LeftOut(_) => None,
        }
    }
}

/// One connection, of which the kernel keeps the beginnings of both halves.
struct Wire {
    messages: Messages,
    protocol: Protocol,
    port: u16,
}

impl Wire {
    fn new() -> Self {
        Self { messages: Messages::new(), protocol: Protocol::Unknown, port: 9 }
    }

    fn turn(&mut self, request: impl AsRef<[u8]>, response: impl AsRef<[u8]>) -> Found {
        self.turn_kept(request.as_ref(), response.as_ref(), KEPT.0)
    }

    fn turn_kept(&mut self, request: &[u8], response: &[u8], kept: usize) -> Found {
        let turn = Turn {
            connection: 1,
            port: self.port,
            protocol: self.protocol,
            request: &request[..request.len().min(kept)],
            request_bytes: request.len() as u64,
            response: &response[..response.len().min(KEPT.1)],
            response_bytes: response.len() as u64,
            answered: !response.is_empty(),
        };
        Found::of(self.messages.describe(&turn))
    }
}

/// An exchange as `protocol class`, then ` = status`, then `!` where it failed.
fn exchange(expected: &str) -> Found {
    let (rest, failed) = expected.strip_suffix('!').map_or((expected, false), |rest| (rest, true));
    let (rest, status) =
        rest.split_once(" = ").map_or((rest, None), |(rest, status)| (rest, Some(status.into())));
    let (protocol, class) =
        rest.split_once(' ').map_or((rest, None), |(rest, class)| (rest, Some(class.into())));
    let protocol = ["http1", "redis", "postgresql", "mysql", "memcached", "tls"]
        .into_iter()
        .find(|&name| name == protocol);
    Found::Exchange { protocol, class, status, failed }
}
