//! An interrupt ends an observation early, with complete output.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{json_report, unprivileged_observer};

fn assert_complete_after(signal: Signal) {
    let (_folder, mut command) = unprivileged_observer();
    command.args(["demo", "--duration", "10m", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // By this note the demo is about to run.
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    notes.find(|note| note.as_ref().unwrap().contains("the demo client's own timestamps")).unwrap().unwrap();
    kill_process(Pid::from_child(&child), signal).unwrap();
    let report = json_report(&child.wait_with_output().unwrap());
    assert_eq!(report["source"]["kind"], "demo-client");
}

#[test]
fn an_interrupt_ends_it_with_a_complete_report() {
    assert_complete_after(Signal::INT);
}

#[test]
fn a_termination_ends_it_with_a_complete_report() {
    assert_complete_after(Signal::TERM);
}
