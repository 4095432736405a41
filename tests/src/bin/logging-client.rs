//! The logging client as a process of its own.

use clap::Parser as _;
use observer_tests::logging_client::{Arguments, run};

fn main() -> anyhow::Result<()> {
    run(&Arguments::parse())
}
