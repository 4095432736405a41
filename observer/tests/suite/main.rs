//! What the program promises to people and other programs. None of it needs privileges or a network.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod analyze;
mod assessments;
mod exit_codes;
mod generated;
mod help;
mod interrupts;
mod json;
mod markdown;
mod program;
mod purity;
mod sample;
mod simulate;
mod text;
mod verdicts;
