//! A forwarder in user space between two TUN devices, which does to chosen packets what networks do.

use std::{
    collections::HashSet,
    fs::File,
    io::{ErrorKind, Read as _, Write as _},
    os::fd::OwnedFd,
    thread::{self, JoinHandle},
};

use anyhow::{Result, anyhow};
use observer_common::Timestamp;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    pipe::pipe,
};

use super::{Direction, Packet};
use crate::clock::now;

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It is lost.
    Drop,
    /// It goes on twice.
    Twice,
    /// It waits until this many later packets of its direction have gone on.
    Behind(u32),
}

/// A packet that a forwarder has seen.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// When it came.
    pub time: Timestamp,
    /// What it was.
    pub packet: Packet,
    /// What happened to it.
    pub verdict: Verdict,
}

/// The running forwarder.
#[derive(Debug)]
pub struct Forwarder {
    stop: OwnedFd,
    thread: JoinHandle<Result<Vec<Passed>>>,
}

impl Forwarder {
    /// Forwards packets between a client's and a server's TUN device, as `rule` says.
    pub(super) fn start(
        client: File,
        server: File,
        rule: impl FnMut(&Packet) -> Verdict + Send + 'static,
    ) -> Result<Self> {
        let (stopped, stop) = pipe()?;
        let thread = thread::spawn(move || {
            let mut road = Road {
                rule,
                journal: Vec::new(),
                lanes: [Lane::default(), Lane::default()],
                buffer: vec![0; 1 << 16].into(),
            };
            road.run(&client, &server, &stopped)?;
            Ok(road.journal)
        });
        Ok(Self { stop, thread })
    }

    /// Stops forwarding and returns everything that has passed.
    pub fn stop(self) -> Result<Vec<Passed>> {
        drop(self.stop);
        self.thread.join().map_err(|_| anyhow!("the forwarder panicked"))?
    }
}

/// One direction's state.
#[derive(Default)]
struct Lane {
    data: u32,
    seen: HashSet<(u32, u32)>,
    /// Packets that wait, with how many others have to go first.
    waiting: Vec<(u32, Vec<u8>)>,
}

impl Lane {
    fn packet(&mut self, bytes: &[u8], direction: Direction) -> Option<Packet> {
        let mut packet = Packet::parse(bytes, direction)?;
        if packet.length > 0 {
            self.data += 1;
            packet.data = self.data;
            packet.again = !self.seen.insert((packet.sequence, packet.length));
        }
        Some(packet)
    }
}

struct Road<R> {
    rule: R,
    journal: Vec<Passed>,
    lanes: [Lane; 2],
    buffer: Box<[u8]>,
}

impl<R: FnMut(&Packet) -> Verdict> Road<R> {
    /// How long a packet waits for others that do not come.
    const HOLD: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

    fn run(&mut self, client: &File, server: &File, stopped: &OwnedFd) -> Result<()> {
        loop {
            let mut ready = [
                PollFd::new(client, PollFlags::IN),
                PollFd::new(server, PollFlags::IN),
                PollFd::new(stopped, PollFlags::IN),
            ];
            let waits = self.lanes.iter().any(|lane| !lane.waiting.is_empty());
            poll(&mut ready, waits.then_some(&Self::HOLD))?;
            let [from_client, from_server, stop] = ready.map(|descriptor| descriptor.revents());
            if !stop.is_empty() {
                return Ok(());
            }
            if from_client.is_empty() && from_server.is_empty() {
                self.release(Direction::ToServer, server, u32::MAX);
                self.release(Direction::ToClient, client, u32::MAX);
            }
            self.forward(Direction::ToServer, client, server)?;
            self.forward(Direction::ToClient, server, client)?;
        }
    }

    fn forward(&mut self, direction: Direction, mut from: &File, to: &File) -> Result<()> {
        loop {
            let length = match from.read(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let bytes = &self.buffer[..length];
            // What is no TCP over IPv4 (IPv6's neighbour discovery) is none of our business.
            let Some(packet) = self.lanes[direction as usize].packet(bytes, direction) else { continue };
            let verdict = (self.rule)(&packet);
            self.journal.push(Passed { time: now(), packet, verdict });
            match verdict {
                Verdict::Pass => send(to, bytes),
                Verdict::Drop => continue,
                Verdict::Twice => {
                    send(to, bytes);
                    send(to, bytes);
                }
                Verdict::Behind(others) => {
                    self.lanes[direction as usize].waiting.push((others, bytes.to_vec()));
                    continue;
                }
            }
            self.release(direction, to, 1);
        }
    }

    /// Lets those go that have waited long enough, now that `passed` more packets have gone.
    fn release(&mut self, direction: Direction, to: &File, passed: u32) {
        self.lanes[direction as usize].waiting.retain_mut(|(others, bytes)| {
            *others = others.saturating_sub(passed);
            if *others == 0 {
                send(to, bytes);
            }
            *others != 0
        });
    }
}

/// Puts a packet onto a device. One that does not fit is lost, as on any network: TCP sends it again.
fn send(mut to: &File, bytes: &[u8]) {
    let _ = to.write(bytes);
}
