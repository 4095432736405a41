use observer_common::Outcome;

use super::{Row, lacks, read_with, refused, rows};
use crate::capture::access_log::{AccessLogFormat::Jtl, recognise};

const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
                      bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

fn sample(code: &str, success: &str, url: &str, latency: &str, connect: &str) -> String {
    format!(
        "1753690454655,52,List items,{code},OK,Thread Group 1-1,text,{success},,2348,117,1,1,{url},{latency},0,{connect}"
    )
}

fn row(sample: &str) -> Row {
    let mut rows = rows(Jtl, &format!("{HEADER}\n{sample}"));
    assert_eq!(rows.len(), 1, "{sample}");
    rows.remove(0)
}

#[test]
fn a_sample_is_an_exchange() {
    let row = row(&sample("200", "true", "http://192.0.2.1:8080/items/17?a=b", "48", "12"));
    assert_eq!((row.service.as_str(), row.instance.as_str()), ("default", "192.0.2.1:8080"));
    assert_eq!((row.class.as_deref(), row.status.as_deref()), (Some("List items"), Some("200")));
    // Connecting is not the server's time.
    assert_eq!((row.start_ms(), row.latency_ms(), row.complete_ms()), (1_753_690_454_667, 36, Some(40)));
    assert_eq!((row.exchange.request_bytes, row.exchange.response_bytes), (Some(117), Some(2_348)));
    assert!(!row.exchange.failed);
}

#[test]
fn instances_are_hosts_and_ports() {
    for (url, instance) in [
        ("http://example.org/", "example.org:80"),
        ("https://user:secret@example.org/?a=b", "example.org:443"),
        ("https://[2001:db8::1]:8443/x", "[2001:db8::1]:8443"),
        ("null", "unknown"),
        ("", "unknown"),
    ] {
        assert_eq!(row(&sample("200", "true", url, "48", "0")).instance, instance, "{url}");
    }
}

#[test]
fn success_and_exceptions_tell_the_outcome() {
    let url = "http://192.0.2.1/";
    let failed = row(&sample("200", "false", url, "48", "0"));
    assert_eq!((failed.outcome(), failed.exchange.failed), (Outcome::Ok, true));
    for (exception, outcome) in [
        ("java.net.SocketTimeoutException", Outcome::Timeout),
        ("org.apache.http.conn.HttpHostConnectException", Outcome::Reset),
        ("java.io.InterruptedIOException", Outcome::Cancelled),
    ] {
        let row = row(&sample(&format!("Non HTTP response code: {exception}"), "false", url, "0", "52"));
        assert_eq!((row.outcome(), row.latency_ms(), row.complete_ms()), (outcome, 52, None), "{exception}");
        assert_eq!((row.status, row.exchange.failed), (None, false));
    }
}

#[test]
fn latency_that_was_not_measured_is_said() {
    let told = format!("{HEADER}\n{}\n", sample("200", "true", "http://192.0.2.1/", "48", "0"));
    assert_eq!(lacks(Jtl, &told), ["access log"]);
    let silent = format!("{HEADER}\n{}\n", sample("200", "true", "http://192.0.2.1/", "0", "0"));
    assert_eq!(lacks(Jtl, &silent), ["access log", "first-byte latency"]);
    let short = "timeStamp,elapsed\n1753690454655,52\n";
    assert_eq!(lacks(Jtl, short), ["access log", "first-byte latency", "connecting"]);
}

#[test]
fn transactions_are_not_counted_twice() {
    let sample = sample("200", "true", "http://192.0.2.1/", "48", "0");
    let sum =
        sample.replace(",OK,", ",\"Number of samples in transaction : 1, number of failing samples : 0\",");
    let (read, rows) = read_with(Jtl, format!("{HEADER}\n{sample}\n{sum}\n"), false).unwrap();
    assert_eq!((rows.len(), read.notes.len()), (1, 1));
}

#[test]
fn other_dialects() {
    let plain = format!("{HEADER}\n{}\n", sample("200", "true", "http://192.0.2.1/", "48", "0"));
    let expected = read_with(Jtl, &plain, false).unwrap().1;
    for dialect in [
        plain.replace(',', ";"),
        plain.replace(',', "\t"),
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        plain.replace("List items", "\"List items\""),
    ] {
        assert_eq!(recognise(dialect.as_bytes()), Some(Jtl), "{dialect}");
        assert_eq!(read_with(Jtl, &dialect, false).unwrap().1, expected, "{dialect}");
    }
    let xml = "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n";
    assert_eq!(recognise(xml.as_bytes()), Some(Jtl));
    assert!(refused(Jtl, xml).contains("jmeter.save.saveservice.output_format=csv"));
}

#[test]
fn bad_rows_are_named() {
    let good = sample("200", "true", "http://192.0.2.1/", "48", "0");
    for (bad, message) in [
        (
            good.replace("1753690454655", "2025/07/28 10:14:14"),
            "line 3: found '2025/07/28 10:14:14', expected a timeStamp",
        ),
        (good.replace(",52,", ",-52,"), "line 3: found '-52', expected elapsed milliseconds"),
        (
            good.replace(",48,0,0", ",48,0,49"),
            "line 3: found '49', expected a Connect that is not longer than Latency",
        ),
        ("1,2,3".into(), "line 3: found '3 fields', expected as many as the header has"),
    ] {
        let log = format!("{HEADER}\n{good}\n{bad}\n{good}\n");
        let error = refused(Jtl, &log);
        assert!(error.starts_with("'x.log', ") && error.contains(message), "{error}");
        let (read, rows) = read_with(Jtl, &log, true).unwrap();
        assert_eq!((rows.len(), read.skipped_rows), (2, 1), "{bad}");
    }
}

#[test]
fn a_column_that_is_there_twice_is_named() {
    let error = refused(Jtl, "timeStamp,elapsed,label,elapsed\n1753690454655,52,a,9\n");
    assert_eq!(error, "'x.log' has column 'elapsed' twice: keep one of them");
}

#[test]
fn a_quote_that_is_not_closed_is_named() {
    let header = "timeStamp,elapsed,label\n";
    let good = "1753690454655,52,\"a\"\n";
    for open in ["1753690454655,52,\"b\n", "1753690454655,52,\"b\n1753690454655,52,c\n"] {
        let log = format!("{header}{good}{open}");
        let error = refused(Jtl, &log);
        assert!(
            error.starts_with("'x.log', line 3: found 'b") && error.contains("a quote that is closed"),
            "{error}"
        );
        assert!(!error.contains("end of file"), "{error}");
        let (read, rows) = read_with(Jtl, &log, true).unwrap();
        assert_eq!((rows.len(), read.skipped_rows), (1, 1), "{open}");
    }
    let closed = format!("{header}{good}1753690454655,52,\"b\n\"\n");
    assert_eq!(read_with(Jtl, closed, false).unwrap().1.len(), 2);
    let (read, rows) = read_with(Jtl, format!("{header}{good}1753690454655,52,\"b"), false).unwrap();
    assert_eq!((rows.len(), read.notes.len()), (1, 1));
}

#[test]
fn a_cut_last_row_is_left_out() {
    let good = sample("200", "true", "http://192.0.2.1/", "48", "12");
    // Both could be the beginning of another number.
    for end in [good.as_str(), &good[..good.len() - 1], &good[..40]] {
        let (read, rows) = read_with(Jtl, format!("{HEADER}\n{good}\n{end}"), false).unwrap();
        assert_eq!((rows.len(), read.skipped_rows), (1, 0), "{end}");
        assert_eq!(read.notes, ["the last line is cut off and left out"]);
    }
}
