//! What this machine's kernel says to the object.

use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::{
    object::expected,
    workspace::{Workspace, in_ci},
};

/// The part of `observer doctor --json` that counts here.
#[derive(Deserialize)]
struct Doctor {
    probes: Vec<Program>,
    self_test: bool,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    loaded: bool,
    attached: bool,
    instructions: Option<u64>,
    verified_instructions: Option<u64>,
    error: Option<String>,
}

/// Loads and attaches every program by `observer doctor` and checks what it costs the verifier.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    workspace.build_programs()?;
    if !rustix::process::geteuid().is_root() {
        if in_ci() {
            bail!("loading the programs needs root: run this as root");
        }
        println!("verifier: skipped: loading the programs needs root");
        return Ok(());
    }
    // Where the host cannot be observed it ends with an error: the report then says why.
    let output = Command::new(workspace.program("observer"))
        .args(["doctor", "--json"])
        .output()
        .context("cannot start `observer doctor`")?;
    let doctor: Doctor = serde_json::from_slice(&output.stdout).with_context(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("`observer doctor --json` is not understood: {}", said.trim())
    })?;
    let failures = judge(&doctor);
    if !failures.is_empty() {
        bail!("this kernel does not take the object:\n  {}", failures.join("\n  "));
    }
    Ok(())
}

/// Prints every program's cost and returns what is wrong.
fn judge(doctor: &Doctor) -> Vec<String> {
    let count = |count: Option<u64>| count.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    let mut failures: Vec<_> = doctor.problem.clone().into_iter().collect();
    if doctor.problem.is_none() && !doctor.self_test {
        failures.push("the probes did not see the self-test's request".to_owned());
    }
    println!("{:<12} {:>12} {:>12} {:>12}", "program", "instructions", "verified", "bound");
    for wanted in &expected::PROGRAMS {
        let name = wanted.name;
        let Some(found) = doctor.probes.iter().find(|found| found.name == name) else {
            failures.push(format!("{name} was not tried"));
            continue;
        };
        println!(
            "{name:<12} {:>12} {:>12} {:>12}",
            count(found.instructions),
            count(found.verified_instructions),
            wanted.verified_instructions
        );
        let reason = found.error.as_deref().unwrap_or("no reason is given");
        if !found.loaded {
            failures.push(format!("{name} was not loaded: {reason}"));
        } else if !found.attached {
            failures.push(format!("{name} was not attached: {reason}"));
        } else if let Some(verified) = found.verified_instructions
            && verified > wanted.verified_instructions
        {
            let bound = wanted.verified_instructions;
            failures.push(format!("{name} takes {verified} verified instructions, more than {bound}"));
        }
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doctor(verified: u64) -> Doctor {
        let program = |name: &str| Program {
            name: name.to_owned(),
            loaded: true,
            attached: true,
            instructions: Some(100),
            verified_instructions: Some(verified),
            error: None,
        };
        let probes = expected::PROGRAMS.iter().map(|wanted| program(wanted.name)).collect();
        Doctor { probes, self_test: true, problem: None }
    }

    #[test]
    fn a_program_over_its_bound_fails() {
        assert_eq!(judge(&doctor(1_000)), [""; 0]);
        let failures = judge(&doctor(1_000_000));
        assert_eq!(failures.len(), expected::PROGRAMS.len());
        assert!(failures[0].contains("1000000 verified instructions"), "{failures:?}");
    }

    #[test]
    fn a_refused_program_fails_with_its_reason() {
        let mut refused = doctor(1_000);
        refused.probes[0].loaded = false;
        refused.probes[0].error = Some("Operation not permitted".to_owned());
        refused.probes.pop();
        let failures = judge(&refused);
        assert_eq!(failures, ["connect4 was not loaded: Operation not permitted", "waiting was not tried"]);
    }
}
