//! One backend of the demo: a process that answers HTTP/1.1, and stops answering now and then if it is told to.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::fd::AsFd,
    sync::{PoisonError, RwLock},
    thread,
};

use super::{
    STACK,
    behaviour::{Pauses, Service},
    http, lifeline,
};

/// What a replica is told by the process that starts it.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct ReplicaOptions {
    /// Decides service times and pauses.
    #[arg(long)]
    pub(super) seed: u64,
    /// Stops answering now and then.
    #[arg(long)]
    pub(super) pausing: bool,
}

impl ReplicaOptions {
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![format!("--seed={}", self.seed).into()];
        if self.pausing {
            arguments.push("--pausing".into());
        }
        arguments
    }
}

/// Every answer passes this gate; while it is shut, the whole process stands still.
type Gate = RwLock<()>;

/// Serves the listening socket that is this process's standard input, until its parent ends it.
pub fn run_replica(options: &ReplicaOptions) -> io::Result<()> {
    lifeline::hold()?;
    let listener = TcpListener::from(io::stdin().as_fd().try_clone_to_owned()?);
    let gate = Gate::default();
    thread::scope(|scope| {
        if options.pausing {
            let pauses = Pauses::new(options.seed);
            worker("pauses").spawn_scoped(scope, || pause(pauses, &gate))?;
        }
        for seed in options.seed.. {
            let (stream, _) = listener.accept()?;
            let service = Service::new(seed).map_err(io::Error::other)?;
            let gate = &gate;
            // A client that goes away, or speaks another protocol, concerns nobody else.
            worker("replica").spawn_scoped(scope, move || serve(stream, service, gate).ok())?;
        }
        Ok(())
    })
}

fn worker(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.into()).stack_size(STACK)
}

fn pause(pauses: Pauses, gate: &Gate) {
    for pause in pauses {
        thread::sleep(pause.after);
        let _shut = gate.write().unwrap_or_else(PoisonError::into_inner);
        thread::sleep(pause.length);
    }
}

fn serve(mut stream: TcpStream, mut service: Service, gate: &Gate) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut received = Vec::new();
    let mut answer = Vec::new();
    let mut chunk = [0; 4_096];
    loop {
        while let Some(length) = http::request(&received).map_err(io::Error::other)? {
            received.drain(..length);
            thread::sleep(service.duration());
            answer.clear();
            http::write_response(&mut answer, service.body_length())?;
            drop(gate.read().unwrap_or_else(PoisonError::into_inner));
            stream.write_all(&answer)?;
        }
        match stream.read(&mut chunk)? {
            0 => return Ok(()),
            length => received.extend_from_slice(&chunk[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_answers_every_request_on_a_kept_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let gate = Gate::default();
        thread::scope(|scope| {
            scope.spawn(|| serve(stream, Service::new(1).unwrap(), &gate).unwrap());
            // The second request comes in two pieces, the third behind it at once.
            let mut requests = Vec::new();
            for path in ["/a", "/b", "/c"] {
                http::write_request(&mut requests, "test", path).unwrap();
            }
            let (first, second) = requests.split_at(requests.len() / 2);
            client.write_all(first).unwrap();
            client.write_all(second).unwrap();
            client.shutdown(std::net::Shutdown::Write).unwrap();
            let mut received = Vec::new();
            client.read_to_end(&mut received).unwrap();
            for _ in 0..3 {
                let response = http::response(&received).unwrap().unwrap();
                assert_eq!(response.status, 200);
                received.drain(..response.length);
            }
            assert!(received.is_empty());
        });
    }

    #[test]
    fn nothing_is_answered_while_the_gate_is_shut() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let gate = Gate::default();
        thread::scope(|scope| {
            let shut = gate.write().unwrap();
            let serving = scope.spawn(|| serve(stream, Service::new(1).unwrap(), &gate).unwrap());
            http::write_request(&mut client, "test", "/").unwrap();
            client.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
            let error = client.read(&mut [0; 1]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
            drop(shut);
            client.set_read_timeout(None).unwrap();
            assert_eq!(client.read(&mut [0; 1]).unwrap(), 1);
            client.shutdown(std::net::Shutdown::Both).unwrap();
            serving.join().unwrap();
        });
    }
}
