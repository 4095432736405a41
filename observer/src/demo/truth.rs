//! What really happened: what was done, when, and what replicas and client each saw of it.

use std::io::{self, BufWriter, Write};

use observer_common::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    hedging::Counts,
    message::Told,
    number::TimestampNumber,
    records::{CopyRecord, Execution, FaultSpan, RequestRecord},
    scenario::Scenario,
    summary::Summary,
};
use crate::recording::{PendingFile, RecordingError};

/// The version of the file's format.
const VERSION: u32 = 1;

/// By what a cause was made to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// A replica's process is stopped and continued by signals.
    StoppedProcess,
    /// A replica's control group (version 1) has a quota of processor time.
    ProcessorQuotaV1,
    /// The same in version 2.
    ProcessorQuotaV2,
    /// A replica serves longer, since this host lets nobody set a quota.
    LongerService,
    /// The lock of the store behind all replicas is held.
    LockedStore,
    /// Requests arrive faster than all slots can serve them.
    ArrivalsAboveCapacity,
    /// The client does not read what has arrived.
    UnreadAnswers,
    /// A forwarder between client and replicas delays segments, and holds some as if they were lost.
    LossyForwarder,
    /// A class of requests is served longer.
    ExpensiveRequests,
    /// Nothing is done.
    None,
}

/// What really happened in one run. All times are of the host's monotonic clock, which the probes read too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The version of this format.
    pub version: u32,
    /// What was run.
    pub scenario: Scenario,
    /// By what the cause was made to happen.
    pub mechanism: Mechanism,
    /// When the schedule began.
    #[serde(rename = "start_ns", with = "TimestampNumber")]
    pub start: Timestamp,
    /// The client's process.
    pub client_pid: u32,
    /// Every time for which a fault was on.
    pub faults: Vec<FaultSpan>,
    /// Every request, as the client's caller saw it.
    pub requests: Vec<RequestRecord>,
    /// Every copy that a replica dealt with.
    pub executions: Vec<Execution>,
    /// What the hedging client has counted, where there was one.
    pub counts: Option<Counts>,
    /// Every copy, as the client saw it.
    pub copies: Vec<CopyRecord>,
}

impl Truth {
    /// What is known before anything happens.
    pub(super) fn new(scenario: &Scenario, mechanism: Mechanism, start: Timestamp, client_pid: u32) -> Self {
        Self {
            version: VERSION,
            scenario: scenario.clone(),
            mechanism,
            start,
            client_pid,
            faults: Vec::new(),
            requests: Vec::new(),
            executions: Vec::new(),
            counts: None,
            copies: Vec::new(),
        }
    }

    /// Takes in what a process has told.
    pub(super) fn take(&mut self, told: Vec<Told>) {
        for told in told {
            match told {
                Told::Fault(fault) => self.faults.push(fault),
                Told::Execution(execution) => self.executions.push(execution),
                Told::Copy(copy) => self.copies.push(copy),
                Told::Request(request) => self.requests.push(request),
                Told::Counts(counts) => self.counts = Some(counts),
            }
        }
    }

    /// Puts everything into the order in which it began.
    pub(super) fn sort(&mut self) {
        self.faults.sort_by_key(|fault| fault.begin);
        self.requests.sort_by_key(|request| request.request);
        self.executions.sort_by_key(|execution| execution.arrived);
        self.copies.sort_by_key(|copy| copy.start);
    }

    /// The figures by which a run is compared with a simulation.
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }

    /// Writes it as JSON, and lets the file appear.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn write(&self, mut file: PendingFile) -> Result<(), RecordingError> {
        let write = |file: &mut PendingFile| -> io::Result<()> {
            let mut file = BufWriter::new(file);
            serde_json::to_writer(&mut file, self)?;
            file.write_all(b"\n")?;
            file.flush()
        };
        write(&mut file).map_err(|source| file.error(source))?;
        file.persist()
    }
}
