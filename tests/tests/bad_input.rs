//! What bad input gets: one sentence that names the thing, the contract's exit code, and nothing half-written.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use observer_tests::process::{Programs, output};
use parquet::arrow::ArrowWriter;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_mins(1);

/// Wrong usage, config or input.
const BAD_INPUT: i32 = 2;
/// This host cannot be observed.
const NOT_OBSERVABLE: i32 = 3;

fn observer(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(Programs::beside_tests()?.observer);
    command.args(arguments);
    Ok(command)
}

/// The command fails with `code`; its message names everything in `names`, and nothing else is printed.
fn fails(command: &mut Command, code: i32, names: &[&str]) -> Result<String> {
    let (printed, errors, status) = output(command, PATIENCE)?;
    ensure!(status.code() == Some(code), "{command:?} ended with {status}, not {code}: {errors}");
    ensure!(printed.is_empty(), "{command:?} printed a partial result: {printed}");
    for name in names {
        ensure!(errors.contains(name), "{command:?} does not name {name}: {errors}");
    }
    let looks_like_a_crash =
        ["panicked", "RUST_BACKTRACE", "Caused by"].iter().any(|word| errors.contains(word));
    ensure!(!looks_like_a_crash, "{command:?} crashed: {errors}");
    Ok(errors)
}

/// As [`fails`], in one sentence.
fn fails_in_one_sentence(command: &mut Command, code: i32, names: &[&str]) -> Result<()> {
    let errors = fails(command, code, names)?;
    ensure!(errors.trim_end().lines().count() == 1, "more than one sentence: {errors}");
    Ok(())
}

fn path(directory: &TempDir, name: &str) -> String {
    directory.path().join(name).to_string_lossy().into_owned()
}

#[test]
fn no_privilege() -> Result<()> {
    // A copy where anybody may run it.
    let directory = TempDir::new()?;
    fs::set_permissions(directory.path(), Permissions::from_mode(0o777))?;
    let program = path(&directory, "observer");
    fs::copy(Programs::beside_tests()?.observer, &program)?;
    let recording = path(&directory, "x.parquet");
    let unprivileged = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", &program]);
        command.args(arguments);
        command
    };
    let record = ["record", "--duration", "1s", "-o", &recording];
    fails_in_one_sentence(&mut unprivileged(&record), NOT_OBSERVABLE, &["CAP_BPF"])?;
    fails_in_one_sentence(&mut unprivileged(&["report", "--duration", "1s"]), NOT_OBSERVABLE, &["CAP_BPF"])?;
    let left: Vec<_> = fs::read_dir(directory.path())?.collect::<Result<_, _>>()?;
    ensure!(left.len() == 1, "something half-written was left: {left:?}");
    // The doctor works all the same, and says what is missing.
    let (printed, errors, _) = output(&mut unprivileged(&["doctor"]), PATIENCE)?;
    ensure!(printed.contains("CAP_BPF"), "the doctor does not say what is missing: {printed}{errors}");
    Ok(())
}

#[test]
fn ports_that_do_not_exist() -> Result<()> {
    for port in ["0", "65536", "http"] {
        fails(&mut observer(&["report", "--duration", "1s", "--port", port])?, BAD_INPUT, &["--port", port])?;
    }
    Ok(())
}

#[test]
fn durations_without_a_unit() -> Result<()> {
    fails(&mut observer(&["report", "--duration", "10"])?, BAD_INPUT, &["--duration", "10"])?;
    Ok(())
}

#[test]
fn files_that_are_not_there() -> Result<()> {
    fails_in_one_sentence(
        &mut observer(&["analyze", "/nowhere/x.parquet"])?,
        BAD_INPUT,
        &["/nowhere/x.parquet"],
    )
}

#[test]
fn a_truncated_parquet() -> Result<()> {
    let directory = TempDir::new()?;
    let whole = path(&directory, "whole.parquet");
    write_parquet(Path::new(&whole))?;
    let (_, errors, status) = output(&mut observer(&["analyze", &whole])?, PATIENCE)?;
    ensure!(status.success(), "the whole file is good: {errors}");
    let bytes = fs::read(&whole)?;
    for length in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        let cut = path(&directory, "cut.parquet");
        fs::write(&cut, &bytes[..length])?;
        fails_in_one_sentence(&mut observer(&["analyze", &cut, "--json"])?, BAD_INPUT, &["cut.parquet"])?;
    }
    Ok(())
}

fn write_parquet(path: &Path) -> Result<()> {
    let numbers =
        |step: u64| Arc::new(UInt64Array::from_iter_values((1..=1000).map(|n| n * step))) as ArrayRef;
    let instances = Arc::new(StringArray::from(vec!["192.0.2.1:80"; 1000])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([
        ("start_ns", numbers(1_000_000)),
        ("instance", instances),
        ("latency_ns", numbers(1_000)),
    ])?;
    let mut writer = ArrowWriter::try_new(fs::File::create(path)?, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

#[test]
fn a_csv_with_a_bad_row() -> Result<()> {
    let directory = TempDir::new()?;
    let bad = path(&directory, "bad.csv");
    fs::write(
        &bad,
        "start_ns,instance,latency_ns\n1,192.0.2.1:80,1000\n2,192.0.2.1:80,soon\n3,192.0.2.1:80,1000\n",
    )?;
    let names = ["bad.csv", "3", "latency_ns"];
    fails_in_one_sentence(&mut observer(&["analyze", &bad])?, BAD_INPUT, &names)?;
    let (printed, errors, status) =
        output(&mut observer(&["analyze", &bad, "--skip-bad-rows", "--json"])?, PATIENCE)?;
    ensure!(status.success(), "bad rows can be left out: {errors}");
    let report: serde_json::Value = serde_json::from_str(&printed)?;
    let exchanges = report["source"]["exchanges"].as_u64().context("a report counts exchanges")?;
    ensure!(exchanges == 2, "{exchanges} exchanges instead of the two good rows");
    Ok(())
}

#[test]
fn a_capture_of_another_link_type() -> Result<()> {
    // The header of a classic pcap file; link type 147 is reserved for private use.
    let directory = TempDir::new()?;
    let capture = path(&directory, "odd.pcap");
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 147] {
        bytes.extend(word.to_le_bytes());
    }
    for word in [1_u32, 0, 4, 4, 0] {
        bytes.extend(word.to_le_bytes());
    }
    fs::write(&capture, bytes)?;
    fails_in_one_sentence(&mut observer(&["analyze", &capture])?, BAD_INPUT, &["odd.pcap", "147"])
}

#[test]
fn an_object_that_does_not_load() -> Result<()> {
    let directory = TempDir::new()?;
    let object = path(&directory, "broken.o");
    fs::write(&object, "no object at all")?;
    let mut command = observer(&["report", "--duration", "1s", "--bpf-object", &object])?;
    fails_in_one_sentence(&mut command, NOT_OBSERVABLE, &["broken.o"])
}

#[test]
fn a_place_where_nothing_can_be_written() -> Result<()> {
    let mut command = observer(&["record", "--duration", "1s", "-o", "/nowhere/x.parquet"])?;
    let (_, errors, status) = output(&mut command, PATIENCE)?;
    ensure!(!status.success() && errors.contains("/nowhere"), "{status}: {errors}");
    Ok(())
}
