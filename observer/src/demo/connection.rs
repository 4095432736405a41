//! One kept-alive connection of the client, and the times of what happens on it.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use observer_common::{Nanoseconds, Outcome, Timestamp};
use rustix::net::sockopt::socket_cookie;

use super::{
    http,
    log::{Answer, Entry},
};
use crate::clock::monotonic;

/// How long the client waits for an answer: many times the longest pause.
const PATIENCE: Duration = Duration::from_secs(2);

/// A connection to one replica.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    instance: SocketAddr,
    cookie: u64,
    received: Vec<u8>,
}

impl Connection {
    pub(super) fn open(instance: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&instance, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let cookie = socket_cookie(&stream)?;
        Ok(Self { stream, instance, cookie, received: Vec::new() })
    }

    /// Asks for `path` and waits for the answer. Without one, the connection is of no further use.
    pub(super) fn ask(&mut self, path: &str) -> io::Result<Entry> {
        let mut request = Vec::new();
        http::write_request(&mut request, self.instance, path)?;
        let start = monotonic();
        let (outcome, latency, answer) = match self.answer(start, &request) {
            Ok((latency, answer)) => (Outcome::Ok, latency, Some(answer)),
            Err(error) => (unanswered(&error), since(start), None),
        };
        Ok(Entry {
            start,
            instance: self.instance,
            connection: self.cookie,
            latency,
            request_bytes: request.len(),
            outcome,
            answer,
        })
    }

    fn answer(&mut self, start: Timestamp, request: &[u8]) -> io::Result<(Nanoseconds, Answer)> {
        self.received.clear();
        self.stream.write_all(request)?;
        self.read()?;
        let latency = since(start);
        loop {
            if let Some(response) = http::response(&self.received).map_err(io::Error::other)? {
                let complete = since(start);
                return Ok((latency, Answer { complete, status: response.status, bytes: response.length }));
            }
            self.read()?;
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let mut chunk = [0; 4_096];
        match self.stream.read(&mut chunk)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            length => {
                self.received.extend_from_slice(&chunk[..length]);
                Ok(())
            }
        }
    }
}

/// The clock never goes backwards, so there always is a duration.
fn since(start: Timestamp) -> Nanoseconds {
    monotonic().since(start).unwrap_or_default()
}

/// Who ended an exchange without an answer: the client lost patience, or the replica hung up.
fn unanswered(error: &io::Error) -> Outcome {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Other => Outcome::Cancelled,
        _ => Outcome::Reset,
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    fn with_server(serve: impl FnOnce(TcpStream) + Send) -> Entry {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut connection = Connection::open(listener.local_addr().unwrap()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut request = Vec::new();
                while http::request(&request).unwrap().is_none() {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    request.push(byte[0]);
                }
                serve(stream);
            });
            connection.ask("/").unwrap()
        })
    }

    #[test]
    fn an_answer_in_pieces_has_a_first_and_a_last_byte() {
        let entry = with_server(|mut stream| {
            let mut response = Vec::new();
            http::write_response(&mut response, 10).unwrap();
            let (first, rest) = response.split_at(1);
            stream.write_all(first).unwrap();
            thread::sleep(Duration::from_millis(20));
            stream.write_all(rest).unwrap();
        });
        let answer = entry.answer.unwrap();
        assert_eq!((entry.outcome, answer.status), (Outcome::Ok, 200));
        assert!(answer.complete > entry.latency);
    }

    #[test]
    fn a_replica_that_hangs_up_is_a_reset() {
        let entry = with_server(drop);
        assert_eq!((entry.outcome, entry.answer), (Outcome::Reset, None));
    }

    #[test]
    fn an_answer_that_ends_too_early_is_none() {
        let entry = with_server(|mut stream| stream.write_all(b"HTTP/1.1 200 OK\r\nConte").unwrap());
        assert_eq!((entry.outcome, entry.answer), (Outcome::Reset, None));
    }
}
