//! Clients that look late at what has been there for a while: that is the client's own time, and no backend's.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::fd::{AsRawFd as _, OwnedFd},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use io_uring::{IoUring, opcode, types::Fd};
use observer_common::Timestamp;
use observer_tests::{
    clock::now,
    observation::Observation,
    process::Programs,
    recording::{Observed, by_connection},
    say::say,
    skip::all,
    transport::cookie,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, epoll, poll},
    io::{ioctl_fionread, retry_on_intr},
    net::{RecvFlags, recv},
};

const REQUEST: [u8; 100] = [b'q'; 100];
const ANSWER: [u8; 200] = [b'a'; 200];

const PATIENCE: Duration = Duration::from_secs(20);
const WAIT: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

/// A way to learn that there is something to read, and to read it.
#[derive(Clone, Copy, Debug)]
enum Reader {
    /// A blocking read, only when the answer has long been there.
    Blocking,
    /// `poll`.
    Polled,
    /// `epoll`, as long as there is something.
    LevelTriggered,
    /// `epoll`, once.
    EdgeTriggered,
    /// A look first, and the read another while later.
    Peeking,
    /// `io_uring`, asked for a read only when the answer has long been there.
    Ring,
    /// `io_uring`, asked for a read at once, which does its work only when its completion is asked for.
    LazyRing,
}

impl Reader {
    const ALL: [Self; 7] = [
        Self::Blocking,
        Self::Polled,
        Self::LevelTriggered,
        Self::EdgeTriggered,
        Self::Peeking,
        Self::Ring,
        Self::LazyRing,
    ];
}

/// What both ends know of one exchange.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Before the request was written.
    asked: Timestamp,
    /// Before the answer was written.
    answered: Timestamp,
    /// When the client knew that it was there.
    ready: Timestamp,
    /// Before the client looked at it.
    before_look: Timestamp,
    /// After that.
    after_look: Timestamp,
}

#[test]
fn a_late_reader_is_told_from_a_late_answer() -> Result<()> {
    let observation = Observation::start(&Programs::beside_tests()?, &["--role", "client"])?;
    let mut clients = Vec::new();
    for reader in Reader::ALL {
        clients.push((reader, converse(reader).with_context(|| format!("{reader:?}"))?));
    }
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut seen = by_connection(recording.exchanges()?);
    for (reader, (connection, known)) in clients {
        let rows = seen.remove(&connection).with_context(|| format!("{reader:?} was not recorded"))?;
        ensure!(rows.len() == known.len(), "{reader:?}: {} exchanges of {}", rows.len(), known.len());
        for (row, known) in rows.iter().zip(&known) {
            check(row, known)
                .with_context(|| format!("{reader:?}: {row:?}, and the client knows {known:?}"))?;
        }
        let mean = |sum: u64| sum / known.len() as u64 / 1_000;
        say(&format!(
            "{reader:?}: latency {} µs, read lag {} µs; the client knew of it for {} µs",
            mean(rows.iter().map(|row| row.latency.0).sum()),
            mean(rows.iter().filter_map(|row| row.read_lag).map(|lag| lag.0).sum()),
            mean(known.iter().map(|known| known.before_look.0 - known.ready.0).sum()),
        ));
    }
    Ok(())
}

/// The answer came between the moments at which it was sent and at which the client knew of it, and it was looked at
/// when the client looked at it.
fn check(row: &Observed, known: &Known) -> Result<()> {
    ensure!(row.outcome == "ok", "no answer");
    let read = row.read_at().context("the answer was read")?;
    ensure!(known.asked <= row.start && row.start <= known.answered, "it was asked at {:?}", row.start);
    ensure!(
        known.answered <= row.first() && row.first() <= known.ready,
        "it was answered at {:?}",
        row.first()
    );
    ensure!(known.before_look <= read && read <= known.after_look, "it was looked at at {read:?}");
    Ok(())
}

/// Asks a server on loopback, waiting before each look: a different time each.
fn converse(reader: Reader) -> Result<(u64, Vec<Known>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut stream = TcpStream::connect(listener.local_addr()?)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let (server, _) = listener.accept()?;
    let server = thread::spawn(move || serve(server));
    let connection = cookie(&stream)?;
    let mut client = Client::new(reader, &stream)?;
    let mut known = Vec::new();
    for round in 0..if all() { 500 } else { 20 } {
        let pause = Duration::from_micros(500 * (1 + round % 20));
        let asked = now();
        stream.write_all(&REQUEST)?;
        let (ready, before_look, after_look) = client.receive(&mut stream, pause)?;
        known.push(Known { asked, answered: Timestamp(0), ready, before_look, after_look });
    }
    drop((client, stream));
    let answered = server.join().map_err(|_| anyhow!("the server panicked"))??;
    ensure!(answered.len() == known.len(), "the server answered {} times", answered.len());
    for (known, answered) in known.iter_mut().zip(answered) {
        known.answered = answered;
    }
    Ok((connection, known))
}

/// Answers after a moment, and says when.
fn serve(mut stream: TcpStream) -> Result<Vec<Timestamp>> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let (mut answered, mut buffer) = (Vec::new(), REQUEST);
    while stream.read(&mut buffer[..1])? > 0 {
        stream.read_exact(&mut buffer[1..])?;
        thread::sleep(Duration::from_micros(300));
        answered.push(now());
        stream.write_all(&ANSWER)?;
    }
    Ok(answered)
}

struct Client {
    reader: Reader,
    poll: OwnedFd,
    ring: IoUring,
    /// Outlives the ring, whose reads go here.
    buffer: Box<[u8; ANSWER.len()]>,
}

impl Client {
    fn new(reader: Reader, stream: &TcpStream) -> Result<Self> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = match reader {
            Reader::EdgeTriggered => epoll::EventFlags::IN | epoll::EventFlags::ET,
            _ => epoll::EventFlags::IN,
        };
        epoll::add(&poll, stream, epoll::EventData::new_u64(0), flags)?;
        let ring = match reader {
            Reader::LazyRing => IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(2)?,
            _ => IoUring::new(2)?,
        };
        Ok(Self { reader, poll, ring, buffer: Box::new([0; ANSWER.len()]) })
    }

    /// Receives one answer, and says when it was known to be there, and before and after it was first looked at.
    fn receive(
        &mut self,
        stream: &mut TcpStream,
        pause: Duration,
    ) -> Result<(Timestamp, Timestamp, Timestamp)> {
        self.buffer.fill(0);
        if matches!(self.reader, Reader::LazyRing) {
            self.submit(stream)?;
        }
        self.wait(stream)?;
        let ready = now();
        thread::sleep(pause);
        let before_look = now();
        let received = match self.reader {
            Reader::Peeking => {
                recv(&*stream, &mut self.buffer[..], RecvFlags::PEEK)?;
                let after_look = now();
                thread::sleep(pause);
                stream.read_exact(&mut self.buffer[..])?;
                return Ok((ready, before_look, after_look));
            }
            Reader::Ring => {
                self.submit(stream)?;
                self.complete()?
            }
            Reader::LazyRing => self.complete()?,
            _ => stream.read(&mut self.buffer[..])?,
        };
        let after_look = now();
        ensure!(received == ANSWER.len() && *self.buffer == ANSWER, "{received} bytes at once");
        Ok((ready, before_look, after_look))
    }

    /// Waits until there is something to read, without a look at it.
    fn wait(&self, stream: &TcpStream) -> Result<()> {
        match self.reader {
            Reader::LevelTriggered | Reader::EdgeTriggered => {
                let data = epoll::EventData::new_u64(0);
                let mut events = [epoll::Event { flags: epoll::EventFlags::empty(), data }];
                let ready = retry_on_intr(|| epoll::wait(&self.poll, &mut events, Some(&WAIT)))?;
                ensure!(ready == 1, "no answer came");
            }
            Reader::Polled | Reader::Peeking => {
                let mut descriptors = [PollFd::new(stream, PollFlags::IN)];
                let ready = retry_on_intr(|| poll(&mut descriptors, Some(&WAIT)))?;
                ensure!(ready == 1, "no answer came");
            }
            Reader::Blocking | Reader::Ring | Reader::LazyRing => {
                while ioctl_fionread(stream)? == 0 {
                    thread::sleep(Duration::from_micros(100));
                }
            }
        }
        Ok(())
    }

    fn submit(&mut self, stream: &TcpStream) -> Result<()> {
        let length = u32::try_from(self.buffer.len())?;
        let operation = opcode::Recv::new(Fd(stream.as_raw_fd()), self.buffer.as_mut_ptr(), length).build();
        #[expect(unsafe_code, reason = "the queue cannot know how long the operation's buffer lives")]
        // SAFETY: the buffer outlives the ring, and nobody else uses it before the operation is complete.
        let pushed = unsafe { self.ring.submission().push(&operation) };
        pushed?;
        self.ring.submit()?;
        Ok(())
    }

    fn complete(&mut self) -> Result<usize> {
        loop {
            match self.ring.submit_and_wait(1) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            if let Some(completion) = self.ring.completion().next() {
                return usize::try_from(completion.result()).context("the read succeeded");
            }
        }
    }
}
