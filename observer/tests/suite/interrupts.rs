//! An interrupt ends an observation early, with complete output; a second one ends the program.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{assert_exit, json_report, unprivileged_observer};

/// Starts the demo, and waits until it is about to run.
fn running_demo(command: &mut Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    notes.find(|note| note.as_ref().unwrap().contains("the demo client's own timestamps")).unwrap().unwrap();
    child
}

fn send(child: &Child, signals: &[Signal]) {
    for &signal in signals {
        kill_process(Pid::from_child(child), signal).unwrap();
    }
}

fn assert_complete_after(signal: Signal) {
    let (_folder, mut command) = unprivileged_observer();
    let child = running_demo(command.args(["demo", "--duration", "10m", "--json"]));
    send(&child, &[signal]);
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

#[test]
fn the_end_of_its_terminal_ends_it_with_a_complete_report() {
    assert_complete_after(Signal::HUP);
}

#[test]
fn the_end_of_its_terminal_is_nothing_where_it_is_to_be_ignored() {
    let (_folder, observer) = unprivileged_observer();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" demo --duration 10m --json"]).arg(observer.get_program());
    if rustix::process::geteuid().is_root() {
        shell.uid(65_534).gid(65_534);
    }
    let child = running_demo(shell.env_clear().current_dir("/"));
    // Were it noted, the interrupt would be the second one.
    send(&child, &[Signal::HUP, Signal::INT]);
    json_report(&child.wait_with_output().unwrap());
}

#[test]
fn a_second_interrupt_ends_the_program_and_leaves_no_part_of_a_file() {
    let (folder, mut command) = unprivileged_observer();
    let child = running_demo(command.args(["demo", "--duration", "10m", "--output", "report.txt"]));
    let place = folder.path().join("place");
    assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
    // Both are there when it goes on.
    send(&child, &[Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT]);
    assert_exit(&child.wait_with_output().unwrap(), 130);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}
