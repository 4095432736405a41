//! The project's own tasks: `cargo xtask <verb>`, one verb a file.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "tasks talk to the person who started them")]

mod apt;
mod bench;
mod build_ebpf;
mod check_ebpf;
mod command;
mod object;
mod test;
mod vm;
mod workspace;

use clap::{Parser, Subcommand};
use workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Build the eBPF object and its manifest
    BuildEbpf(build_ebpf::Arguments),
    /// Check the committed eBPF object: inputs, structure, rebuild, verifier
    CheckEbpf(check_ebpf::Arguments),
    /// Set up and run the tests
    Test(test::Arguments),
    /// Boot a stock kernel and run the probes in it
    Vm(vm::Arguments),
    /// Measure what observing costs
    Bench(bench::Arguments),
}

fn main() -> anyhow::Result<()> {
    let verb = Cli::parse().verb;
    let workspace = Workspace::find()?;
    match verb {
        Verb::BuildEbpf(arguments) => build_ebpf::run(&workspace, &arguments),
        Verb::CheckEbpf(arguments) => check_ebpf::run(&workspace, &arguments),
        Verb::Test(arguments) => test::run(&workspace, &arguments),
        Verb::Vm(arguments) => vm::run(&workspace, &arguments),
        Verb::Bench(arguments) => bench::run(&workspace, &arguments),
    }
}
