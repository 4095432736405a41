//! `observer doctor`: what this host allows.

use clap::Args;

use super::{
    Context,
    arguments::{DeveloperArguments, OutputArguments, StrictArguments},
    failure::{Failure, Status},
    output::Output,
};
use crate::capture::kernel::{Doctor, ProbeStatus, examine};

/// Say what can be observed on this host, by trying it: kernel, privileges, cgroup v2, and every probe
///
/// Needs no privileges, and says which are missing. Exits with code 3 where nothing can be observed.
#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    strict: StrictArguments,
    #[command(flatten)]
    developer: DeveloperArguments,
}

pub(super) fn run(arguments: &DoctorArguments, context: &mut Context) -> Result<Status, Failure> {
    let output = Output::open(arguments.output.output.as_deref())?;
    let doctor = examine(arguments.developer.bpf_object.as_deref());
    output.write_either(|_| text(&doctor), &doctor, arguments.output.format(), context.color)?;
    context.console.clear_progress();
    if !doctor.usable() {
        return Ok(Status::Unobservable);
    }
    let degraded = arguments.strict.strict && !doctor.degraded.is_empty();
    Ok(if degraded { Status::Degraded } else { Status::Done })
}

fn text(doctor: &Doctor) -> String {
    let mut lines = vec![
        format!("kernel        {}", doctor.kernel),
        format!("types (BTF)   {}", yes(doctor.btf)),
        format!("lockdown      {}", doctor.lockdown.as_deref().unwrap_or("none")),
        format!("capabilities  {}", capabilities(doctor)),
        format!("cgroup v2     {}", cgroup(doctor)),
    ];
    for probe in &doctor.probes {
        lines.push(format!("probe         {}", probe_line(probe)));
    }
    lines.push(format!("self-test     {}", if doctor.self_test { "passed" } else { "not passed" }));
    for lack in &doctor.degraded {
        lines.push(format!("DEGRADED: {} ({}): {}.", lack.what, lack.reason, lack.consequence));
    }
    lines.push(match &doctor.problem {
        Some(problem) => format!("This host cannot be observed: {problem}."),
        None if doctor.degraded.is_empty() => "This host can be observed.".into(),
        None => "This host can be observed, with the limits above.".into(),
    });
    lines.push(String::new());
    lines.join("\n")
}

fn capabilities(doctor: &Doctor) -> String {
    let each = doctor.capabilities.iter().map(|capability| {
        let state = if capability.effective { "yes" } else { "missing" };
        format!("{} {state}", capability.name)
    });
    each.collect::<Vec<_>>().join(", ")
}

fn cgroup(doctor: &Doctor) -> String {
    match doctor.cgroup.as_deref() {
        None => "not available".into(),
        Some(place) => {
            let view = if doctor.whole_host { "the whole host" } else { "only this container" };
            format!("{place}, shows {view}")
        }
    }
}

fn probe_line(probe: &ProbeStatus) -> String {
    let mut line = format!("{:<12} {:<28} ", probe.name, probe.hook);
    line += match (probe.attached, probe.loaded) {
        (true, _) => "attached",
        (false, true) => "loaded, not attached",
        (false, false) => "not loaded",
    };
    if let Some(instructions) = probe.instructions {
        line += &format!(", {instructions} instructions");
    }
    if let Some(verified) = probe.verified_instructions {
        line += &format!(", {verified} verified");
    }
    if let Some(error) = &probe.error {
        line += &format!(": {error}");
    }
    line
}

const fn yes(answer: bool) -> &'static str {
    if answer { "yes" } else { "no" }
}
