//! Service times from a recording or a report.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

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
    exchange::{NameId, Names},
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

/// The latencies in a file, as a service time.
pub(super) fn service_time(path: &Path, console: &mut Console) -> Result<ServiceTime, Failure> {
    let measured = if is_json(path)? { from_report(path, console) } else { from_recording(path, console) }?;
    console.note(
        "service times are the latencies of the input: waiting that is contained in them is not taken out, and comes on \
         top of what is simulated",
    );
    let shape = Shape::Empirical(measured);
    ServiceTime::only(shape).map_err(|error| unusable(path, &anyhow!(error)))
}

/// Whether a file begins as a report in JSON does.
fn is_json(path: &Path) -> Result<bool, Failure> {
    let mut file = open(path)?;
    let mut beginning = Vec::new();
    let read = Read::by_ref(&mut file).take(64).read_to_end(&mut beginning);
    read.map_err(|error| unreadable(path, &error))?;
    Ok(beginning.trim_ascii_start().starts_with(b"{"))
}

fn from_report(path: &Path, console: &mut Console) -> Result<Empirical, Failure> {
    let report: ReportFile = serde_json::from_reader(BufReader::new(open(path)?)).map_err(|error| {
        unusable(
            path,
            &anyhow!("{error}; take a report that 'observer report --json' or 'analyze --json' wrote"),
        )
    })?;
    let services = report.services.len();
    let busiest = report.services.into_iter().next();
    let service = busiest.ok_or_else(|| unusable(path, &anyhow!(EmpiricalError::Empty)))?;
    note_choice(path, services, &service.name, console);
    let bounds: Vec<_> = service.latency_histogram.bounds_s.iter().map(|bound| nanoseconds(*bound)).collect();
    let counts = &service.latency_histogram.counts;
    Empirical::from_histogram(&bounds, counts).map_err(|error| unusable(path, &anyhow!(error)))
}

fn from_recording(path: &Path, console: &mut Console) -> Result<Empirical, Failure> {
    let Input { name: file, opened, reader } = Input::open(path, InputFormat::Auto)?;
    if matches!(reader, Reader::Pcap) {
        return Err(unusable(
            path,
            &anyhow!("it is a packet capture; make a report of it: 'observer analyze --json'"),
        ));
    }
    let mut names = Names::default();
    let mut services: HashMap<NameId, Vec<Nanoseconds>> = HashMap::new();
    table::read_from(&file, opened, &TableOptions::default(), &mut names, &mut |exchange, _| {
        // What was not answered took longer than is known, and a failure may be fast and worth nothing.
        if exchange.outcome == Outcome::Ok && !exchange.failed {
            services.entry(exchange.service).or_default().push(exchange.latency);
        }
    })?;
    let count = services.len();
    // Names break ties, since a map has no order.
    let busiest =
        services.into_iter().max_by_key(|(name, times)| (times.len(), names.text(*name).to_owned()));
    let (name, times) = busiest.ok_or_else(|| unusable(path, &anyhow!(EmpiricalError::Empty)))?;
    note_choice(path, count, names.text(name), console);
    Empirical::from_times(times).map_err(|error| unusable(path, &anyhow!(error)))
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

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(anyhow!(
        "cannot read --input '{}': {error}; name a file that exists and may be read",
        path.display()
    ))
}

fn unusable(path: &Path, error: &anyhow::Error) -> Failure {
    Failure::Usage(anyhow!("--input '{}' cannot be used: {error}", path.display()))
}
