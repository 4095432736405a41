use std::{fs, path::PathBuf};

use observer_common::{Nanoseconds, Outcome, Role, Timestamp};
use tempfile::{TempDir, tempdir};

use super::*;
use crate::provenance::SourceKind;

/// A directory with one file, which is removed with it.
struct Given {
    path: PathBuf,
    _directory: TempDir,
}

fn given(file: &str, content: impl AsRef<[u8]>) -> Given {
    let directory = tempdir().unwrap();
    let path = directory.path().join(file);
    fs::write(&path, content).unwrap();
    Given { path, _directory: directory }
}

/// An exchange's service, instance and start.
type Row = (String, String, Exchange);

fn read_with(given: &Given, skip_bad_rows: bool) -> Result<(TableRead, Vec<Row>), TableError> {
    let mut rows = Vec::new();
    let read =
        read(&given.path, &TableOptions { skip_bad_rows }, &mut Names::default(), &mut |exchange, names| {
            let text = |id| names.text(id).to_owned();
            rows.push((text(exchange.service), text(exchange.instance), *exchange));
        })?;
    Ok((read, rows))
}

fn rows_of(given: &Given) -> Vec<Row> {
    read_with(given, false).unwrap().1
}

/// The error's sentence, without the directory.
fn refused(given: &Given) -> String {
    let error = read_with(given, false).unwrap_err().to_string();
    let directory = format!("{}/", given.path.parent().unwrap().display());
    error.replace(&directory, "")
}

#[test]
fn what_a_row_does_not_say_has_a_default() {
    let rows = rows_of(&given("x.csv", "latency_ns,start_ns,instance\n5,7,192.0.2.1:80\n"));
    let (service, instance, exchange) = &rows[0];
    assert_eq!((service.as_str(), instance.as_str()), ("default", "192.0.2.1:80"));
    assert_eq!((exchange.start, exchange.latency), (Timestamp(7), Nanoseconds(5)));
    assert_eq!((exchange.outcome, exchange.role, exchange.failed), (Outcome::Ok, Role::Client, false));
    assert_eq!((exchange.complete, exchange.class, exchange.attempt), (None, None, None));
}

#[test]
fn csv_comes_in_many_dialects() {
    let plain = "start_ns,instance,latency_ns\n7,a,5\n8,b,6\n";
    let expected = rows_of(&given("x.csv", plain));
    assert_eq!(expected.len(), 2);
    for dialect in [
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        plain.replace("7,a,5", "\"7\",\"a\",\"5\""),
        plain.replace("start_ns,instance,", "start_ns, instance, "),
        plain.trim_end().to_owned(),
        plain.replace("7,a", "\n7,a"),
        format!("# made by hand\n# key: value\n{plain}"),
        format!("\u{feff}# made by hand\r\n{plain}"),
    ] {
        assert_eq!(rows_of(&given("x.log", &dialect)), expected, "{dialect:?}");
    }
}

#[test]
fn a_foreign_table_has_no_provenance() {
    let (read, _) = read_with(&given("x.csv", "start_ns,instance,latency_ns\n7,a,5\n"), false).unwrap();
    assert_eq!(read.provenance, Provenance::of(SourceKind::Table));
}

#[test]
fn an_unknown_column_is_ignored_with_a_note() {
    let (read, rows) =
        read_with(&given("x.csv", "start_ns,shard,instance,latency_ns\n7,3,a,5\n"), false).unwrap();
    assert_eq!((read.notes.len(), rows.len()), (1, 1));
    assert!(read.notes[0].contains("column 'shard' is unknown and ignored"), "{:?}", read.notes);
}

#[test]
fn a_bad_row_is_named_by_line_and_column() {
    let head = "# observer.log_version: 1\nstart_ns,instance,latency_ns,outcome,pid\n1,a,5,ok,\n";
    let skip = " or leave such rows out with --skip-bad-rows";
    for (row, message) in [
        (
            "2,a,12ms,ok,",
            "'x.csv', line 4, column latency_ns: found '12ms', expected a whole number from 0 to \
             18446744073709551615; correct it,",
        ),
        ("-2,a,5,ok,", "'x.csv', line 4, column start_ns: found '-2', expected a whole number from 0 to"),
        ("2,,5,ok,", "'x.csv', line 4, column instance: the value is missing, expected a text; correct it,"),
        (
            "2,a,5,fine,",
            "'x.csv', line 4, column outcome: found 'fine', expected one of ok, pending, cancelled, reset, timeout;",
        ),
        ("2,a,5,ok,4294967296", "'x.csv', line 4, column pid: found '4294967296', expected a whole number"),
        ("2,a,5", "'x.csv', line 4: it has 3 fields where the header has 5; correct it,"),
        ("2,a,5,ok,1,1", "'x.csv', line 4: it has 6 fields where the header has 5; correct it,"),
    ] {
        let bad = given("x.csv", format!("{head}{row}\n3,a,5,ok,1\n"));
        let error = refused(&bad);
        assert!(error.starts_with(message) && error.ends_with(skip), "{error}");
        let (read, rows) = read_with(&bad, true).unwrap();
        assert_eq!((read.rows, read.skipped_rows, rows.len()), (2, 1, 2), "{row}");
    }
}

#[test]
fn a_last_byte_before_the_first_is_named() {
    let head = "start_ns,instance,latency_ns,complete_ns\n1,a,5,5\n";
    let bad = given("x.csv", format!("{head}2,a,5,4\n3,a,5,\n"));
    let error = refused(&bad);
    assert!(
        error
            .starts_with("'x.csv', line 3, column complete_ns: found '4', expected no less than latency_ns;"),
        "{error}"
    );
    let (read, rows) = read_with(&bad, true).unwrap();
    assert_eq!((read.rows, read.skipped_rows, rows.len()), (2, 1, 2));
}

#[test]
fn text_that_is_not_utf8_is_named() {
    let error = refused(&given("x.csv", b"start_ns,instance,latency_ns\n7,caf\xe9,5\n"));
    assert!(
        error.starts_with("'x.csv', line 2, column instance: found 'caf\u{fffd}', expected a text in UTF-8;")
    );
}

#[test]
fn what_is_no_exchange_log_is_refused_in_one_sentence() {
    for (file, content, message) in [
        ("x.csv", "", "'x.csv' is empty: an exchange log has at least a header"),
        ("x.csv", "# only: comments\n", "'x.csv' is empty"),
        ("x.parquet", "", "'x.parquet' is empty"),
        (
            "x.csv",
            "time,instance,ms\n1,a,2\n",
            "'x.csv' is no exchange log: it has no column start_ns, latency_ns (its columns: time, instance, ms); \
             rename or add what is missing",
        ),
        ("x.csv", "start_ns,instance,latency_ns,start_ns\n", "'x.csv' has column 'start_ns' twice"),
        (
            "x.csv",
            "# observer.log_version: 9\nstart_ns,instance,latency_ns\n",
            "'x.csv' cannot be used: it was written in version 9",
        ),
        ("x.parquet", "PAR1 and no more", "'x.parquet' cannot be decoded as Parquet ("),
        ("renamed.csv", "PAR1 and no more", "'renamed.csv' cannot be decoded as Parquet ("),
        ("x.parquet", "start_ns,instance,latency_ns\n", "'x.parquet' cannot be decoded as Parquet ("),
    ] {
        let error = refused(&given(file, content));
        assert!(error.starts_with(message), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let missing = given("x.csv", "");
    fs::remove_file(&missing.path).unwrap();
    assert!(refused(&missing).starts_with("cannot read 'x.csv': No such file or directory"));
    fs::create_dir(&missing.path).unwrap();
    assert!(refused(&missing).starts_with("cannot read 'x.csv': it is a directory"));
}

#[test]
fn a_record_without_an_end_is_refused_by_its_first_line() {
    let head = "# a: b\nstart_ns,instance,latency_ns\n7,a,5\n";
    let long = "x".repeat(2 << 20);
    for (text, line) in [
        (format!("{head}8,\"{}", "b\n".repeat(1 << 20)), 4),
        (format!("{head}8,{long},6\n"), 4),
        (format!("# a: b\n{long}"), 2),
        (format!("# {long}\n"), 1),
    ] {
        let error = refused(&given("x.csv", text));
        assert!(error.starts_with(&format!("'x.csv', line {line}: what begins there is longer")), "{error}");
    }
    let allowed = "x".repeat(1 << 20);
    assert_eq!(rows_of(&given("x.csv", format!("{head}8,{allowed},6\n9,a,7\n"))).len(), 3);
}

#[test]
fn long_values_are_quoted_in_part() {
    let long = "9".repeat(100);
    let error = refused(&given("x.csv", format!("start_ns,instance,latency_ns\n{long},a,5\n")));
    assert!(error.contains(&format!("found '{}…',", "9".repeat(60))), "{error}");
    let columns: Vec<String> = (0..100).map(|number| format!("column-{number}")).collect();
    let table = format!("start_ns,instance,latency_ns,{}\n", columns.join(","));
    let (read, _) = read_with(&given("x.csv", table), false).unwrap();
    assert_eq!(read.notes.len(), 21);
    assert!(read.notes[20].ends_with("80 more columns are unknown and ignored"), "{:?}", read.notes);
}

mod parquet_files {
    use std::sync::Arc;

    use ::parquet::arrow::ArrowWriter;
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray,
        NullArray, RecordBatch, StringArray, StringViewArray, TimestampNanosecondArray, UInt16Array,
        UInt32Array, UInt64Array, types::Int8Type,
    };

    use super::*;

    fn table(columns: Vec<(&str, ArrayRef)>) -> Given {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        given("x.parquet", bytes)
    }

    fn with(column: &'static str, array: impl arrow_array::Array + 'static) -> Given {
        let instances: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().collect();
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("start_ns", Arc::new(Int64Array::from(vec![1, 2, 3]))),
            ("instance", Arc::new(instances)),
            ("latency_ns", Arc::new(Int64Array::from(vec![4, 5, 6]))),
        ];
        columns.retain(|(name, _)| *name != column);
        columns.push((column, Arc::new(array)));
        table(columns)
    }

    #[test]
    fn whole_numbers_come_in_many_types() {
        let expected = rows_of(&with("latency_ns", UInt64Array::from(vec![4, 5, 6])));
        assert_eq!(expected[2].2.latency, Nanoseconds(6));
        for given in [
            with("latency_ns", Int64Array::from(vec![4, 5, 6])),
            with("latency_ns", Int32Array::from(vec![4, 5, 6])),
            with("latency_ns", UInt32Array::from(vec![4, 5, 6])),
            with("latency_ns", UInt16Array::from(vec![4, 5, 6])),
            with("latency_ns", Float64Array::from(vec![4.0, 5.0, 6.0])),
        ] {
            assert_eq!(rows_of(&given), expected);
        }
    }

    #[test]
    fn texts_come_in_many_types() {
        let expected = rows_of(&with("instance", StringArray::from(vec!["a", "b", "a"])));
        assert_eq!(expected[1].1, "b");
        for given in [
            with("instance", LargeStringArray::from(vec!["a", "b", "a"])),
            with("instance", StringViewArray::from(vec!["a", "b", "a"])),
            with("instance", ["a", "b", "a"].into_iter().collect::<DictionaryArray<Int8Type>>()),
        ] {
            assert_eq!(rows_of(&given), expected);
        }
    }

    #[test]
    fn gaps_are_nothing_where_they_may_be() {
        let expected = [Some(Nanoseconds(4)), None, Some(Nanoseconds(6))];
        for given in [
            with("complete_ns", Float64Array::from(vec![Some(4.0), None, Some(6.0)])),
            with("complete_ns", UInt64Array::from(vec![Some(4), None, Some(6)])),
        ] {
            let completes: Vec<_> = rows_of(&given).iter().map(|row| row.2.complete).collect();
            assert_eq!(completes, expected);
        }
        assert_eq!(rows_of(&with("class", NullArray::new(3)))[0].2.class, None);
        assert_eq!(
            rows_of(&with("service", StringArray::from(vec![None, Some(""), Some("s")])))[1].0,
            "default"
        );
        assert!(rows_of(&with("failed", BooleanArray::from(vec![Some(true), None, None])))[0].2.failed);
    }

    #[test]
    fn a_bad_row_is_named_by_row_and_column() {
        for (given, message) in [
            (
                with("latency_ns", Int64Array::from(vec![4, -5, 6])),
                "'x.parquet', row 2, column latency_ns: found '-5', expected a whole number from 0 to",
            ),
            (
                with("latency_ns", Float64Array::from(vec![4.0, 5.5, 6.0])),
                "'x.parquet', row 2, column latency_ns: found '5.5', expected a whole number from 0 to",
            ),
            (
                with("latency_ns", Float64Array::from(vec![4.0, f64::NAN, 6.0])),
                "'x.parquet', row 2, column latency_ns: found 'NaN', expected a whole number from 0 to",
            ),
            (
                with("complete_ns", UInt64Array::from(vec![Some(4), Some(4), None])),
                "'x.parquet', row 2, column complete_ns: found '4', expected no less than latency_ns;",
            ),
            (
                with("latency_ns", UInt64Array::from(vec![Some(4), None, Some(6)])),
                "'x.parquet', row 2, column latency_ns: the value is missing, expected a whole number",
            ),
            (
                with("instance", StringArray::from(vec![Some("a"), None, Some("a")])),
                "'x.parquet', row 2, column instance: the value is missing, expected a text;",
            ),
            (
                with("outcome", StringArray::from(vec!["ok", "fine", "ok"])),
                "'x.parquet', row 2, column outcome: found 'fine', expected one of ok,",
            ),
            (
                with("pid", Int64Array::from(vec![1, 1 << 32, 1])),
                "'x.parquet', row 2, column pid: found '4294967296', expected a whole number from 0 to 4294967295;",
            ),
        ] {
            let error = refused(&given);
            assert!(error.starts_with(message), "{error}");
            let (read, rows) = read_with(&given, true).unwrap();
            assert_eq!((read.rows, read.skipped_rows, rows.len()), (2, 1, 2));
        }
    }

    #[test]
    fn a_type_that_cannot_hold_the_values_is_named() {
        for (given, message) in [
            (
                with("start_ns", TimestampNanosecondArray::from(vec![1, 2, 3])),
                "'x.parquet', column start_ns: its type is Timestamp(ns), expected a whole number from 0",
            ),
            (
                with("instance", Int64Array::from(vec![1, 2, 3])),
                "'x.parquet', column instance: its type is Int64, expected a text; cast it",
            ),
        ] {
            let error = refused(&given);
            assert!(error.starts_with(message), "{error}");
        }
    }

    /// Cut off or damaged anywhere, a file is refused or read; the reader never gives way.
    #[test]
    fn a_damaged_file_is_refused() {
        let whole = fs::read(&with("class", StringArray::from(vec!["x", "y", "z"])).path).unwrap();
        for length in 1..whole.len() {
            let error = refused(&given("x.parquet", &whole[..length]));
            assert!(error.starts_with("'x.parquet' cannot be decoded as Parquet ("), "{error}");
        }
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 0x55;
            let _ = read_with(&given("x.parquet", &damaged), false);
        }
    }
}
