//! The running lab, from its start to its end.

use std::{net::SocketAddr, path::Path, thread, time::Duration};

use super::{
    cast::{Cast, Rehearsal},
    error::LabError,
    hedging::Hedger,
    process::Process,
    scenario::Scenario,
    truth::Truth,
};

/// How long the client may take to end after it was told: longer than it waits for its last answer.
const LAST_ANSWERS: Duration = Duration::from_secs(15);
/// How long any other process may take: longer than the longest pause of a machine that is busy.
const ENDING: Duration = Duration::from_secs(10);
/// How often the client is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// The running lab. All its processes end when it is dropped, or when this process ends.
#[derive(Debug)]
pub struct Lab {
    // In the order in which they are to end: what is stopped must go on before it can.
    client: Process,
    faults: Option<Process>,
    others: Vec<Process>,
    instances: Vec<SocketAddr>,
    truth: Truth,
}

/// A lab whose privileged part is there, waiting. Nothing is asked yet, and nothing is slow.
#[derive(Debug)]
pub struct PreparedLab(Rehearsal);

impl PreparedLab {
    /// Starts everything else. Requests begin a second later.
    ///
    /// # Errors
    ///
    /// Where this host has no place for it.
    pub fn start(self) -> Result<Lab, LabError> {
        let Cast { client, faults, others, instances, truth } = self.0.perform()?;
        Ok(Lab { client, faults, others, instances, truth })
    }
}

impl Lab {
    /// Prepares a lab, each of whose processes will be `program`: `observer`. A quota of processor time takes a
    /// privilege that an observer gives up as soon as it observes, so this comes before. It starts no thread.
    ///
    /// # Errors
    ///
    /// Where the scenario makes no sense, or a process does not start.
    pub fn prepare(program: &Path, scenario: &Scenario) -> Result<PreparedLab, LabError> {
        if let Some(policy) = scenario.policy() {
            // The client will make its own; here is who can be told that it makes no sense.
            Hedger::new(policy, 0)?;
        }
        Ok(PreparedLab(Rehearsal::new(program, scenario)?))
    }

    /// Where the client sends its requests.
    pub fn instances(&self) -> &[SocketAddr] {
        &self.instances
    }

    /// Tells the client to send no more. It ends once it has the last answers: [`Self::finished`] says when.
    pub fn stop(&mut self) {
        self.client.terminate();
    }

    /// Whether the client has all its answers.
    ///
    /// # Errors
    ///
    /// Where any process has ended that should not have.
    pub fn finished(&mut self) -> Result<bool, LabError> {
        for process in self.faults.iter_mut().chain(&mut self.others) {
            if let Some(status) = process.ended()? {
                return Err(process.failed(status));
            }
        }
        match self.client.ended()? {
            None => Ok(false),
            Some(status) if self.client.is_good(status) => Ok(true),
            Some(status) => Err(self.client.failed(status)),
        }
    }

    /// Ends the client if it still runs, then everything else, and hands over what happened.
    ///
    /// # Errors
    ///
    /// Where a process does not end, or did not end well.
    pub fn finish(self) -> Result<Truth, LabError> {
        let Self { mut client, faults, others, mut truth, .. } = self;
        // They end in this order also where the client does not end well.
        let rest = faults.into_iter().chain(others);
        client.terminate();
        truth.take(client.finish(LAST_ANSWERS)?);
        for mut process in rest {
            process.terminate();
            truth.take(process.finish(ENDING)?);
        }
        truth.sort();
        Ok(truth)
    }
}

/// Runs a scenario to its end, and hands over what happened. `program` is `observer`, which plays all parts.
///
/// # Errors
///
/// As [`Lab::prepare`], [`PreparedLab::start`], [`Lab::finished`] and [`Lab::finish`].
pub fn run(program: &Path, scenario: &Scenario) -> Result<Truth, LabError> {
    let mut lab = Lab::prepare(program, scenario)?.start()?;
    while !lab.finished()? {
        thread::sleep(LOOK);
    }
    lab.finish()
}
