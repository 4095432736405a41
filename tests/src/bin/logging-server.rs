//! The logging server as a process of its own.

use clap::Parser as _;
use observer_tests::logging_server::{Arguments, run};

fn main() -> anyhow::Result<()> {
    run(&Arguments::parse())
}
