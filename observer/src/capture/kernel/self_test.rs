//! One request and its response on loopback: probes count as usable only once they have seen it.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use observer_common::{Endpoint, ExchangeRecord, Outcome, Phase, Role, UNKNOWN_DURATION};
use rustix::net::sockopt::socket_cookie;

use super::{CaptureError, attach::Attached, early::Early, ring::Ring};
use crate::{pairing::Record, provenance::Degradation};

/// How often it is looked whether the ping was seen, and how long is waited in between: a second in all.
const MOST_LOOKS: u32 = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Sends the ping and checks what every probe made of it. A probe that saw nothing is degraded; that the pairing
/// probes saw nothing is an error. A host without loopback cannot be tested, and says so. What others' connections
/// tell meanwhile goes to `early`.
pub(super) fn prove(attached: &mut Attached, ring: &mut Ring, early: &mut Early) -> Result<(), CaptureError> {
    let ping = match Ping::send(attached) {
        Ok(ping) => ping,
        Err(error) => {
            attached.degraded.push(Degradation {
                what: "self-test".to_owned(),
                reason: format!("a connection on 127.0.0.1 failed: {error}"),
                consequence: "whether the probes see traffic was not tried".to_owned(),
            });
            return Ok(());
        }
    };
    let mut seen = None;
    // On a busy host the last segment is still under way, or others write in front of it.
    for _ in 0..MOST_LOOKS {
        ring.drain(|record| {
            early.keep(&record);
            if let Record::Exchange(record) = record
                && record.parties.connection == ping.cookie
            {
                seen = Some(*record);
            }
        });
        if seen.is_some() {
            break;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    let failed = |reason: String| CaptureError::SelfTest { reason };
    let Some(record) = seen else {
        return Err(failed("no exchange arrived".to_owned()));
    };
    let completed = &record.completed;
    let remote = record.parties.remote;
    if completed.role != Role::Client || completed.outcome != Outcome::Ok || remote != ping.server {
        return Err(failed(format!(
            "a {} exchange with {} that ended '{}' arrived instead of a client's with {}",
            completed.role.name(),
            remote.to_socket_addr(),
            completed.outcome.name(),
            ping.server.to_socket_addr()
        )));
    }
    degrade_what_saw_nothing(attached, &record, ping.waiting_seen);
    Ok(())
}

/// What the ping left behind.
struct Ping {
    cookie: u64,
    server: Endpoint,
    /// Whether the iterator showed the request while it was unanswered.
    waiting_seen: bool,
}

impl Ping {
    fn send(attached: &mut Attached) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let server = listener.local_addr()?;
        let mut client = TcpStream::connect(server)?;
        let (mut accepted, _) = listener.accept()?;
        let cookie = socket_cookie(&client)?;
        let mut message = [0_u8; 4];
        client.write_all(b"ping")?;
        accepted.read_exact(&mut message)?;
        let waiting_seen = attached.iterator.as_mut().is_some_and(|iterator| {
            iterator.read().is_ok_and(|mut connections| {
                connections.any(|c| c.parties.connection == cookie && c.phase == Phase::Requesting)
            })
        });
        accepted.write_all(b"pong")?;
        client.read_exact(&mut message)?;
        drop(accepted);
        Ok(Self { cookie, server: Endpoint::from_socket_addr(server), waiting_seen })
    }
}

fn degrade_what_saw_nothing(attached: &mut Attached, record: &ExchangeRecord, waiting_seen: bool) {
    let silent = [
        ("connect4", record.parties.pid == 0),
        ("read", record.completed.read_lag == UNKNOWN_DURATION),
        ("waiting", !waiting_seen),
    ];
    for (name, saw_nothing) in silent {
        let Some(probe) = attached.probes.iter_mut().find(|probe| probe.name == name) else { continue };
        if saw_nothing && probe.attached {
            let reason = "it is attached and saw nothing of the self-test".to_owned();
            attached.degraded.push(Degradation {
                what: format!("probe {name}"),
                reason: reason.clone(),
                consequence: probe.consequence.clone(),
            });
            probe.error = Some(reason);
        }
    }
}
