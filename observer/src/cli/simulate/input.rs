//! Service times from a recording or a report.

use std::{collections::HashMap, io::BufReader, path::Path};

use anyhow::anyhow;
use observer_common::{Nanoseconds, Outcome};
use serde::Deserialize;

use super::{
    super::{
        console::Console,
        input::{Input, InputFormat, Reader},
    },
    Failure,
};
use crate::{
    capture::table::{self, TableOptions},
    exchange::Names,
    ledger::ServiceKey,
    report::model::Histogram,
    simulation::{Empirical, EmpiricalError, ServiceTime, Shape},
};

/// The part of a report that matters here.
#[derive(Debug, Deserialize)]
struct ReportFile {
    services: Vec<ServiceFile>,
}

/// A service in it. The busiest comes first.
#[derive(Debug, Deserialize)]
struct ServiceFile {
    name: String,
    latency_histogram: Histogram,
}

/// The latencies in a file, a pipe or standard input, as a service time.
pub(super) fn service_time(path: &Path, console: &mut Console) -> Result<ServiceTime, Failure> {
    let input = Input::open(path, InputFormat::Auto)?;
    let is_json = input.opened.head().trim_ascii_start().starts_with(b"{");
    let measured = if is_json { from_report(input, console) } else { from_recording(input, console) }?;
    console.note(
        "service times are the latencies of the input: waiting that is contained in them is not taken out, and comes on \
         top of what is simulated",
    );
    let shape = Shape::Empirical(measured);
    ServiceTime::only(shape).map_err(|error| unusable(path, &anyhow!(error)))
}

fn from_report(Input { name, opened, .. }: Input, console: &mut Console) -> Result<Empirical, Failure> {
    let file = opened.into_file().map_err(|error| unusable(&name, &anyhow!(error)))?;
    let report: ReportFile = serde_json::from_reader(BufReader::new(file)).map_err(|error| {
        unusable(
            &name,
            &anyhow!("{error}; take a report that 'observer report --json' or 'analyze --json' wrote"),
        )
    })?;
    let services = report.services.len();
    let busiest = report.services.into_iter().next();
    let service = busiest.ok_or_else(|| unusable(&name, &anyhow!(EmpiricalError::Empty)))?;
    note_choice(&name, services, &service.name, console);
    let bounds: Vec<_> = service.latency_histogram.bounds_s.iter().map(|bound| nanoseconds(*bound)).collect();
    let counts = &service.latency_histogram.counts;
    Empirical::from_histogram(&bounds, counts).map_err(|error| unusable(&name, &anyhow!(error)))
}

fn from_recording(input: Input, console: &mut Console) -> Result<Empirical, Failure> {
    let Input { name: file, opened, reader } = input;
    if matches!(reader, Reader::Pcap) {
        return Err(unusable(
            &file,
            &anyhow!("it is a packet capture; make a report of it: 'observer analyze --json'"),
        ));
    }
    let mut names = Names::default();
    let mut services: HashMap<ServiceKey, Vec<Nanoseconds>> = HashMap::new();
    table::read_from(&file, opened, &TableOptions::default(), &mut names, &mut |exchange, _| {
        // What was not answered took longer than is known, and a failure may be fast and worth nothing.
        if exchange.outcome == Outcome::Ok && !exchange.failed {
            services.entry(ServiceKey::of(exchange)).or_default().push(exchange.latency);
        }
    })?;
    let count = services.len();
    // Names break ties, since a map has no order.
    let busiest =
        services.into_iter().max_by_key(|(key, times)| (times.len(), names.text(key.name).to_owned()));
    let (key, times) = busiest.ok_or_else(|| unusable(&file, &anyhow!(EmpiricalError::Empty)))?;
    note_choice(&file, count, names.text(key.name), console);
    Empirical::from_times(times).map_err(|error| unusable(&file, &anyhow!(error)))
}

fn note_choice(path: &Path, services: usize, name: &str, console: &mut Console) {
    if services > 1 {
        let path = path.display();
        console.note(&format!("'{path}' holds {services} services; the busiest is taken: {name}"));
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
fn nanoseconds(seconds: f64) -> Nanoseconds {
    Nanoseconds((seconds * 1e9).round() as u64)
}

fn unusable(path: &Path, error: &anyhow::Error) -> Failure {
    Failure::Usage(anyhow!("--input '{}' cannot be used: {error}", path.display()))
}
