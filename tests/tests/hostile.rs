//! Conversations that are malformed, hostile or seen in part: the observer ends well, takes no memory for them, and
//! pairs what is good beside them exactly.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use observer_tests::{
    capture::{Capturing, analyze},
    observation::{Observation, Recording},
    process::Programs,
    recording::{Observed, by_connection},
    say::say,
    skip::skipped,
    transport::cookie,
};

const PATIENCE: Duration = Duration::from_secs(10);

/// By how much the observer may grow, in kilobytes.
const GROWTH: u64 = 32 * 1024;

/// How many exchanges the good connection has, before and after what is bad.
const GOOD: usize = 40;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Both ends of a connection.
struct Ends {
    client: TcpStream,
    server: TcpStream,
}

impl Ends {
    fn open(address: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(address).with_context(|| format!("listen on {address}"))?;
        let client = TcpStream::connect(listener.local_addr()?)?;
        let (server, _) = listener.accept()?;
        for end in [&client, &server] {
            end.set_nodelay(true)?;
            end.set_read_timeout(Some(PATIENCE))?;
            end.set_write_timeout(Some(PATIENCE))?;
        }
        Ok(Self { client, server })
    }

    /// On a port that nobody knows.
    fn anywhere() -> Result<Self> {
        Self::open(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    fn cookie(&self) -> Result<u64> {
        Ok(cookie(&self.client)?)
    }

    /// The client says something short, and the server has it.
    fn ask(&mut self, bytes: &[u8]) -> Result<()> {
        self.client.write_all(bytes)?;
        Ok(self.server.read_exact(&mut vec![0; bytes.len()])?)
    }

    /// The server says something short, and the client has it.
    fn answer(&mut self, bytes: &[u8]) -> Result<()> {
        self.server.write_all(bytes)?;
        Ok(self.client.read_exact(&mut vec![0; bytes.len()])?)
    }

    fn turn(&mut self, ask: &[u8], answer: &[u8]) -> Result<()> {
        self.ask(ask)?;
        self.answer(answer)
    }

    /// Both say all of this at once, piece by piece, and close.
    fn talk(self, ask: &[Vec<u8>], answer: &[Vec<u8>]) -> Result<()> {
        fn write(mut stream: &TcpStream, pieces: &[Vec<u8>]) -> Result<()> {
            for piece in pieces {
                stream.write_all(piece)?;
            }
            Ok(stream.shutdown(Shutdown::Write)?)
        }
        fn drain(mut stream: &TcpStream) -> Result<()> {
            let mut buffer = vec![0; 1 << 16];
            while stream.read(&mut buffer)? != 0 {}
            Ok(())
        }
        let Self { client, server } = &self;
        thread::scope(|scope| {
            let threads = [
                scope.spawn(|| write(client, ask)),
                scope.spawn(|| write(server, answer)),
                scope.spawn(|| drain(client)),
                scope.spawn(|| drain(server)),
            ];
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().unwrap_or_else(|_| bail!("a thread panicked")))
        })
    }
}

/// Numbers that look random, and are the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> usize {
        usize::try_from(self.next() % bound).unwrap_or_default()
    }

    fn bytes(&mut self, longest: u64) -> Vec<u8> {
        let length = 1 + self.below(longest);
        (0..length).map(|_| self.next().to_le_bytes()[3]).collect()
    }

    fn pieces(&mut self, count: usize) -> Vec<Vec<u8>> {
        (0..count).map(|_| self.bytes(400)).collect()
    }
}

/// A frame of HTTP/2.
fn frame(length: usize, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [.., l0, l1, l2] = length.to_be_bytes();
    let mut bytes = vec![l0, l1, l2, kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

fn whole(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    frame(payload.len(), kind, flags, stream, payload)
}

/// Kilobytes of memory that a process has.
fn resident(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("a process has memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Observes something bad beside a good connection, which is paired exactly; the observer ends well and has not grown.
fn beside(name: &str, bad: impl FnOnce() -> Result<()>) -> Result<Recording> {
    let observation = Observation::start(&Programs::beside_tests()?, &["--role", "client"])?;
    let mut good = Ends::anywhere()?;
    let connection = good.cookie()?;
    let mut converse = || (0..GOOD).try_for_each(|_| good.turn(&[b'q'; 100], &[b'a'; 200]));
    converse()?;
    let before = resident(observation.id())?;
    bad()?;
    // The observer reads what the probes left.
    thread::sleep(Duration::from_millis(300));
    let after = resident(observation.id())?;
    converse()?;
    let recording = observation.finish()?;
    let unpaired = recording.report()?["source"]["unpaired"].clone();
    say(&format!("{name}: {before} kB before, {after} kB after; unpaired {unpaired}"));
    ensure!(after.saturating_sub(before) < GROWTH, "from {before} kB the observer grew to {after} kB");
    let rows = rows(&recording, connection)?;
    let exact = |row: &Observed| row.outcome == "ok" && (row.request_bytes, row.response_bytes) == (100, 200);
    ensure!(rows.len() == 2 * GOOD && rows.iter().all(exact), "the good connection: {rows:?}");
    Ok(recording)
}

fn rows(recording: &Recording, connection: u64) -> Result<Vec<Observed>> {
    Ok(by_connection(recording.exchanges()?).remove(&connection).unwrap_or_default())
}

/// All that was counted and not paired.
fn odd(recording: &Recording) -> Result<u64> {
    let report = recording.report()?;
    let unpaired = report["source"]["unpaired"].as_object().context("a report says what is unpaired")?;
    Ok(unpaired.values().filter_map(serde_json::Value::as_u64).sum())
}

/// An address of loopback that is this test's alone, so that well-known ports are free.
fn own(port: u16) -> SocketAddr {
    let [low, high, ..] = std::process::id().to_le_bytes();
    SocketAddr::from((Ipv4Addr::new(127, 77, high, low), port))
}

const KNOWN_PORTS: [u16; 6] = [6379, 5432, 3306, 11211, 80, 443];

/// What a good conversation of each protocol begins with, so that the rest is taken for one.
const BEGINNINGS: [&[u8]; 10] = [
    b"",
    b"*2\r\n$3\r\nGET\r\n",
    b"GET / HTTP/1.1\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x00\xff\x01\x00\x00\xfb\x03\x03",
    b"\x17\x03\x03\x00\xff",
    b"\x00\x00\x00\x08\x04\xd2\x16\x2f",
    b"\x4a\x00\x00\x00\x0a8.0.36\x00",
    b"HTTP/1.1 200 OK\r\n",
    b"get key\r\n",
];

#[test]
fn random_bytes_on_known_ports() -> Result<()> {
    let recording = beside("random", || {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for port in KNOWN_PORTS {
            for beginning in BEGINNINGS {
                let mut sides = [random.pieces(12), random.pieces(12)];
                let side = random.below(2);
                sides[side].insert(0, beginning.to_vec());
                let [ask, answer] = &sides;
                Ends::open(own(port))?.talk(ask, answer)?;
                // By turns, too.
                let mut ends = Ends::open(own(port))?;
                ends.ask(&[beginning, &random.bytes(100)].concat())?;
                for _ in 0..4 {
                    ends.answer(&random.bytes(300))?;
                    ends.ask(&random.bytes(300))?;
                }
            }
        }
        Ok(())
    })?;
    ensure!(odd(&recording)? > 0, "nothing of it is odd");
    Ok(())
}

#[test]
fn frames_of_hostile_lengths() -> Result<()> {
    const LONGEST: usize = (1 << 24) - 1;
    beside("lengths", || {
        for kind in (0..12).chain([0x55, 0xff]) {
            let hostile = |front: &[u8]| {
                let frame = frame(LONGEST, kind, 0xff, u32::MAX, &vec![0x41; 60_000]);
                vec![front.to_vec(), frame, vec![0; 60_000]]
            };
            Ends::anywhere()?.talk(&hostile(PREFACE), &hostile(b""))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// 16 MB of one header block, which never ends.
#[test]
fn a_flood_of_continuations() -> Result<()> {
    let recording = beside("continuations", || {
        // A literal field that is added to the table, over and over.
        let fields = [0x40, 1, b'a', 1, b'b'].repeat(3_276);
        let request = whole(1, 0, 1, &[0x82, 0x86, 0x84]);
        let mut ask = vec![PREFACE.to_vec(), whole(4, 0, 0, b""), request];
        let flood = whole(9, 0, 1, &fields);
        ask.extend((0..1_024).map(|_| flood.clone()));
        Ends::anywhere()?.talk(&ask, &[whole(4, 0, 0, b"")])
    })?;
    say(&format!("continuations: {} lost", recording.lost()?));
    Ok(())
}

/// 100,000 fields in one block that does end, and requests behind it on the same connection.
#[test]
fn a_hundred_thousand_headers() -> Result<()> {
    let mut connection = 0;
    let recording = beside("headers", || {
        let mut ends = Ends::anywhere()?;
        connection = ends.cookie()?;
        ends.ask(&[PREFACE, &whole(4, 0, 0, b"")].concat())?;
        ends.answer(&whole(4, 0, 0, b""))?;
        let fields = [0x40, 1, b'a', 1, b'b'].repeat(1_000);
        let mut block = whole(1, 1, 1, &[0x82, 0x86, 0x84]);
        for number in 0..100 {
            block.extend(whole(9, if number == 99 { 4 } else { 0 }, 1, &fields));
        }
        for piece in block.chunks(8_000) {
            ends.ask(piece)?;
        }
        ends.answer(&whole(1, 5, 1, &[0x88]))?;
        for stream in [3, 5, 7] {
            ends.turn(&whole(1, 5, stream, &[0x82, 0x86, 0x84]), &whole(1, 5, stream, &[0x88]))?;
        }
        Ok(())
    })?;
    let rows = rows(&recording, connection)?;
    ensure!(recording.lost()? == 0 && rows.len() == 4, "four requests were answered: {rows:?}");
    ensure!(rows[0].request_bytes == 3 + 500_000, "{:?}", rows[0]);
    Ok(())
}

/// A literal field that refers to a name in the static table (RFC 7541, section 6.2.2).
fn literal(front: &[u8], value: &[u8]) -> Vec<u8> {
    [front, &[u8::try_from(value.len()).unwrap_or_default()], value].concat()
}

/// A call of gRPC on a stream, and its answer.
fn call(ends: &mut Ends, stream: u32) -> Result<()> {
    let kind = literal(&[0x0f, 0x10], b"application/grpc");
    let request = [vec![0x83, 0x86], literal(&[0x04], b"/shop.Cart/Add"), kind.clone()].concat();
    let message = whole(0, 1, stream, &[0, 0, 0, 0, 2, 8, 1]);
    ends.ask(&[whole(1, 4, stream, &request), message].concat())?;
    let status = [&[0x00, 11][..], b"grpc-status", &[1, b'0']].concat();
    ends.answer(&whole(1, 4, stream, &[vec![0x88], kind].concat()))?;
    ends.answer(&whole(0, 0, stream, &[0, 0, 0, 0, 1, 7]))?;
    ends.answer(&whole(1, 5, stream, &status))
}

/// Connections that are older than the observation, wherever their sequence numbers stand: what they call from then on
/// is paired, and never by turns.
#[test]
fn a_grpc_client_that_was_there_before() -> Result<()> {
    const CALLS: u32 = 10;
    let mut connections = Vec::new();
    for _ in 0..8 {
        let mut ends = Ends::anywhere()?;
        ends.ask(&[PREFACE, &whole(4, 0, 0, b"")].concat())?;
        ends.answer(&whole(4, 0, 0, b""))?;
        call(&mut ends, 1)?;
        connections.push(ends);
    }
    let cookies = connections.iter().map(Ends::cookie).collect::<Result<Vec<_>>>()?;
    let recording = beside("grpc", || {
        for ends in &mut connections {
            (1..=CALLS).try_for_each(|number| call(ends, 2 * number + 1))?;
        }
        drop(connections);
        Ok(())
    })?;
    for cookie in cookies {
        let rows = rows(&recording, cookie)?;
        // While the first answer passes it is found where frames begin, so that the first call is not certain.
        ensure!(rows.len() == CALLS as usize - 1, "{} of {CALLS} calls: {rows:?}", rows.len());
        // Payload of frames, without their headers: 2 + 16 + 19 + 7 and 1 + 19 + 6 + 15.
        let exact =
            |row: &Observed| row.outcome == "ok" && (row.request_bytes, row.response_bytes) == (44, 41);
        ensure!(rows.iter().all(exact), "not by streams: {rows:?}");
    }
    ensure!(odd(&recording)? >= 8, "the first calls are not counted");
    Ok(())
}

/// What was certain before stays; what comes after is counted, or paired by turns.
#[test]
fn protocols_that_change_in_the_middle() -> Result<()> {
    const GET: &[u8] = b"GET /cart HTTP/1.1\r\nhost: a\r\n\r\n";
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    const SWITCH: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n";
    let mut cookies = Vec::new();
    let recording = beside("switches", || {
        let mut random = Random(7);
        let hello = [b"\x16\x03\x01\x00\x64\x01\x00\x00\x60\x03\x03".to_vec(), vec![7; 94]].concat();
        let preface = [PREFACE, &whole(4, 0, 0, b"")].concat();
        let switches: [(&[u8], &[u8]); 6] = [
            (GET, SWITCH),
            (&hello, b"\x16\x03\x03\x00\x04\x02\x00\x00\x00"),
            (&preface, b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
            (b"*1\r\n$4\r\nPING\r\n", b"+PONG\r\n"),
            (b"\x00\x00\x00\x08\x04\xd2\x16\x2f", b"N"),
            (b"\xff\xff\xff\xff", b"\xff\xff\xff\xff"),
        ];
        for (ask, answer) in switches {
            let mut ends = Ends::anywhere()?;
            cookies.push(ends.cookie()?);
            for _ in 0..3 {
                ends.turn(GET, OK)?;
            }
            ends.turn(ask, answer)?;
            for _ in 0..4 {
                ends.turn(&random.bytes(200), &random.bytes(200))?;
            }
            ends.turn(GET, OK)?;
        }
        // The other way around.
        let mut ends = Ends::anywhere()?;
        ends.ask(&preface)?;
        ends.answer(&whole(4, 0, 0, b""))?;
        ends.turn(&whole(1, 5, 1, &[0x82, 0x86, 0x84]), &whole(1, 5, 1, &[0x88]))?;
        for _ in 0..5 {
            ends.turn(GET, OK)?;
        }
        Ok(())
    })?;
    for cookie in cookies {
        let rows = rows(&recording, cookie)?;
        // The third is over when the next thing is asked, which may be what makes it uncertain.
        ensure!(rows.len() >= 2 && rows.len() <= 9, "{} rows: {rows:?}", rows.len());
        ensure!(rows[..2].iter().all(|row| row.outcome == "ok" && row.request_bytes == GET.len() as u64));
    }
    ensure!(odd(&recording)? > 0, "nothing of it is odd");
    Ok(())
}

/// The packets of a capture in the classic format, cut off behind `longest` bytes as tcpdump's `-s` does it.
fn cut(capture: &[u8], longest: usize) -> Result<Vec<u8>> {
    let (header, mut rest) = capture.split_at_checked(24).context("a capture has a header")?;
    let mut bytes = header.to_vec();
    while let Some((packet, more)) = rest.split_at_checked(16) {
        let length = [packet[8], packet[9], packet[10], packet[11]];
        let length = usize::try_from(u32::from_le_bytes(length))?;
        let (data, more) = more.split_at_checked(length).context("a packet is whole")?;
        let kept = length.min(longest);
        bytes.extend(&packet[..8]);
        bytes.extend(u32::try_from(kept)?.to_le_bytes());
        bytes.extend(&packet[12..]);
        bytes.extend(&data[..kept]);
        rest = more;
    }
    Ok(bytes)
}

/// Captures of little of each packet: never more exchanges than there were, and an end in order.
#[test]
fn captures_of_little_of_each_packet() -> Result<()> {
    if skipped("captures") {
        return Ok(());
    }
    let programs = Programs::beside_tests()?;
    // Ports are bound before the capture begins.
    let turns = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let streams = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let capturing = Capturing::start(&[turns.port(), streams.port()])?;
    let mut ends = Ends::open(turns)?;
    for _ in 0..10 {
        ends.turn(b"GET /cart HTTP/1.1\r\nhost: a\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
    }
    drop(ends);
    let mut ends = Ends::open(streams)?;
    ends.ask(&[PREFACE, &whole(4, 0, 0, b"")].concat())?;
    ends.answer(&whole(4, 0, 0, b""))?;
    (0..10).try_for_each(|number| call(&mut ends, 2 * number + 1))?;
    drop(ends);
    let capture = capturing.finish()?;

    let packets = fs::read(capture.path())?;
    let exchanges = |longest: usize| -> Result<u64> {
        let path = capture.directory().join(format!("cut-{longest}.pcap"));
        fs::write(&path, cut(&packets, longest)?)?;
        let report = analyze(&programs, &path, &[])?;
        report["source"]["exchanges"].as_u64().context("a report counts exchanges")
    };
    ensure!(exchanges(1 << 18)? == 20, "{} exchanges in the whole capture", exchanges(1 << 18)?);
    for longest in [0, 1, 13, 14, 33, 34, 40, 53, 54, 60, 65, 66, 67, 70, 74, 75, 77, 78, 80, 90, 100, 128] {
        let seen = exchanges(longest)?;
        // Too short to be recognised, HTTP/2 is paired by turns: its settings are one.
        ensure!(seen <= 21, "{seen} exchanges where {longest} bytes of a packet were kept");
    }
    // Ethernet, IP and TCP with its timestamps take 66 bytes: turns are paired by those alone.
    ensure!(exchanges(66)? >= 10, "turns are known without payload");
    Ok(())
}
