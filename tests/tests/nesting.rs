//! The observer's times lie between the client's and the server's own, for every one of 200,000 requests.

use anyhow::Result;
use observer_tests::{
    nesting::{self, Plan, check_logs, traffic},
    process::Programs,
    say::say,
    skip::all,
};

#[test]
fn the_logging_client_and_server_nest_by_themselves() -> Result<()> {
    let plan = if all() { Plan::full() } else { Plan::short() };
    let summary = check_logs(&traffic(&Programs::beside_tests()?, &plan)?)?;
    assert_eq!(summary.exchanges, plan.requests());
    say(&format!("client and server without observer: {summary}"));
    Ok(())
}

#[test]
fn every_exchange_of_a_client_nests() -> Result<()> {
    nests("client")
}

#[test]
fn every_exchange_of_a_server_nests() -> Result<()> {
    nests("server")
}

fn nests(role: &str) -> Result<()> {
    let plan = Plan::full();
    let summary = nesting::run(&Programs::beside_tests()?, &plan, role)?;
    assert_eq!(summary.exchanges, plan.requests());
    assert_eq!(summary.connections, u64::from(plan.connections()));
    say(&format!("nesting, {role} role: {summary}"));
    Ok(())
}
