//! What the lab's processes tell the one that started them: a line of JSON each, on standard output.

use std::{
    io::{self, Write},
    sync::mpsc,
    thread::{self, JoinHandle},
};

use serde::{Deserialize, Serialize};

use super::{
    hedging::Counts,
    records::{CopyRecord, Execution, FaultSpan, RequestRecord},
};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Told {
    /// A fault was on.
    Fault(FaultSpan),
    /// A replica has dealt with a copy of a request.
    Execution(Execution),
    /// The client has dealt with a copy of a request.
    Copy(CopyRecord),
    /// The client has dealt with a request.
    Request(RequestRecord),
    /// What the hedging client has counted.
    Counts(Counts),
}

/// Where a process tells what it does. Telling never waits.
#[derive(Clone, Debug)]
pub(super) struct Teller(mpsc::Sender<Told>);

impl Teller {
    /// Begins to write to standard output. The thread ends after the last teller.
    pub(super) fn start() -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, receiver) = mpsc::channel::<Told>();
        let writer = thread::Builder::new().name("teller".into()).spawn(move || {
            // Where nobody listens any more, the lifeline ends this process.
            for told in receiver {
                if write_line(&told).is_err() {
                    return;
                }
            }
        })?;
        Ok((Self(sender), writer))
    }

    /// Says one thing.
    pub(super) fn tell(&self, told: Told) {
        // Whoever does not listen any more does not miss it.
        self.0.send(told).ok();
    }

    /// A teller whose words can be read back.
    #[cfg(test)]
    pub(super) fn for_test() -> (Self, mpsc::Receiver<Told>) {
        let (sender, receiver) = mpsc::channel();
        (Self(sender), receiver)
    }
}

fn write_line(told: &Told) -> io::Result<()> {
    let mut line = serde_json::to_vec(told)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}
