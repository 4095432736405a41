//! A name server on loopback: a service is called what its client asked for.

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use observer_tests::{
    network::Namespace, observation::Observation, process::Programs, recording::by_connection, skip::skipped,
};

use crate::backends::{Asked, Backends, ask};

const SERVER: &str = "127.0.0.53:53";
const PORT: u16 = 8080;
const REQUESTS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(10);

/// A name, its addresses, and how it is asked for.
struct Name {
    text: &'static str,
    addresses: &'static [&'static str],
    over_tcp: bool,
}

const NAMES: [Name; 3] = [
    Name { text: "shop.example", addresses: &["127.0.0.2", "127.0.0.3"], over_tcp: false },
    Name { text: "cart.example", addresses: &["127.0.0.4"], over_tcp: true },
    Name { text: "sixth.example", addresses: &["::1"], over_tcp: false },
];

#[test]
fn services_are_called_by_their_names() -> Result<()> {
    if skipped("namespaces") {
        return Ok(());
    }
    let home = Namespace::new()?;
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &PORT.to_string()])?;
    let (listener, datagrams, stream) = home.run(|| -> Result<_> {
        Ok((TcpListener::bind(("::", PORT))?, UdpSocket::bind(SERVER)?, TcpListener::bind(SERVER)?))
    })??;
    let backends = Backends::serve(listener)?;
    let stop = Arc::new(AtomicBool::new(false));
    let resolver = {
        let stop = Arc::clone(&stop);
        thread::spawn(move || serve(&datagrams, &stream, &stop))
    };
    let asked = home.run(|| -> Result<Vec<(Asked, String)>> {
        let mut asked = Vec::new();
        for (id, name) in (1..).zip(&NAMES) {
            for address in resolve(id, name)? {
                let service = format!("{}:{PORT}", name.text);
                asked.push((ask(SocketAddr::new(address, PORT), REQUESTS)?, service));
            }
        }
        // Nobody has asked for its name.
        asked.push((ask(SocketAddr::new("127.0.0.9".parse()?, PORT), REQUESTS)?, format!(":{PORT}")));
        Ok(asked)
    })?;
    stop.store(true, Ordering::Relaxed);
    resolver.join().map_err(|_| anyhow!("the name server panicked"))??;
    let (asked, served) = (asked?, backends.stop()?);

    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut seen = by_connection(recording.exchanges()?);
    for (asked, service) in &asked {
        let rows = seen.remove(&asked.connection).context("a connection was not recorded")?;
        let served = served.get(&asked.client).context("a connection reached nobody")?;
        ensure!(rows.len() == served.requests && rows.len() == REQUESTS, "{} exchanges", rows.len());
        for row in rows {
            ensure!(
                row.service == *service
                    && row.instance == asked.dialled.to_string()
                    && row.service_address.is_none(),
                "not {service}: {row:#?}"
            );
        }
    }
    ensure!(seen.is_empty(), "connections that nobody made: {seen:#?}");
    Ok(())
}

/// Asks the name server, as a client's library does.
fn resolve(id: u16, name: &Name) -> Result<Vec<IpAddr>> {
    let addresses = name.addresses.iter().map(|address| Ok(address.parse()?)).collect::<Result<Vec<_>>>()?;
    let question = question(id, name.text, addresses.iter().any(IpAddr::is_ipv6))?;
    let mut buffer = [0; 512];
    let length = if name.over_tcp {
        let mut stream = TcpStream::connect(SERVER)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(&[&u16::try_from(question.len())?.to_be_bytes()[..], &question].concat())?;
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        let length = usize::from(u16::from_be_bytes(length));
        stream.read_exact(&mut buffer[..length])?;
        length
    } else {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.connect(SERVER)?;
        socket.send(&question)?;
        socket.recv(&mut buffer)?
    };
    ensure!(buffer[..length] == answer(&question)?, "another answer");
    Ok(addresses)
}

/// A query for the addresses of one family (RFC 1035, section 4.1).
fn question(id: u16, name: &str, sixth: bool) -> Result<Vec<u8>> {
    let mut question = id.to_be_bytes().to_vec();
    question.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.') {
        question.push(u8::try_from(label.len())?);
        question.extend(label.as_bytes());
    }
    question.extend([0, 0, if sixth { 28 } else { 1 }, 0, 1]);
    Ok(question)
}

/// What the server answers.
fn answer(question: &[u8]) -> Result<Vec<u8>> {
    const HEADER: usize = 12;
    let ours = |name: &&Name| {
        let wanted = self::question(0, name.text, name.addresses[0].contains(':'));
        wanted.is_ok_and(|wanted| wanted[HEADER..] == question[HEADER..])
    };
    let name = NAMES.iter().find(ours).context("nobody asks for anything else")?;
    let mut answer = question[..2].to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::try_from(name.addresses.len())?, 0, 0, 0, 0]);
    answer.extend(&question[HEADER..]);
    for address in name.addresses {
        let (kind, data) = match address.parse()? {
            IpAddr::V4(address) => (1, address.octets().to_vec()),
            IpAddr::V6(address) => (28, address.octets().to_vec()),
        };
        // The question's name, one of the two kinds of addresses, for a minute.
        answer.extend([0xc0, 0x0c, 0, kind, 0, 1, 0, 0, 0, 60, 0, u8::try_from(data.len())?]);
        answer.extend(data);
    }
    Ok(answer)
}

/// Answers until it is stopped.
fn serve(datagrams: &UdpSocket, streams: &TcpListener, stop: &AtomicBool) -> Result<()> {
    datagrams.set_nonblocking(true)?;
    streams.set_nonblocking(true)?;
    let mut buffer = [0; 512];
    while !stop.load(Ordering::Relaxed) {
        if let Ok((length, client)) = datagrams.recv_from(&mut buffer) {
            datagrams.send_to(&answer(&buffer[..length])?, client)?;
        } else if let Ok((mut stream, _)) = streams.accept() {
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            let mut length = [0; 2];
            stream.read_exact(&mut length)?;
            let question = &mut buffer[..usize::from(u16::from_be_bytes(length))];
            stream.read_exact(question)?;
            let answer = answer(question)?;
            stream.write_all(&[&u16::try_from(answer.len())?.to_be_bytes()[..], &answer].concat())?;
        } else {
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}
