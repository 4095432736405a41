use observer_common::Outcome;

use super::{Row, lacks, read_with, refused};
use crate::capture::access_log::{AccessLogFormat::Envoy, recognise};

fn row(line: &str) -> Row {
    super::row(Envoy, line)
}

fn text(code: &str, flags: &str, duration: &str, service_time: &str, host: &str) -> String {
    format!(
        "[2025-07-28T10:14:14.655Z] \"POST /items/17?a=b HTTP/2\" {code} {flags} 154 1024 {duration} {service_time} \
         \"192.0.2.7\" \"curl/8 a=b\" \"cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2\" \"items\" \"{host}\""
    )
}

#[test]
fn the_default_format() {
    let row = row(&text("204", "-", "226", "100", "tcp://192.0.2.1:80"));
    assert_eq!((row.service.as_str(), row.instance.as_str()), ("default", "192.0.2.1:80"));
    assert_eq!((row.class.as_deref(), row.status.as_deref()), (Some("POST /items/{n}"), Some("204")));
    assert_eq!((row.start_ms(), row.latency_ms(), row.complete_ms()), (1_753_697_654_655, 100, Some(226)));
    assert_eq!((row.exchange.request_bytes, row.exchange.response_bytes), (Some(154), Some(1_024)));
}

#[test]
fn istio_adds_details_and_the_cluster() {
    let row = row(
        "[2025-07-28T10:14:14.655Z] \"GET /items/17 HTTP/1.1\" 200 - via_upstream - \"-\" 0 178 5 4 \"-\" \"curl/8\" \
         \"cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2\" \"items:9080\" \"192.0.2.1:9080\" \
         outbound|9080||items.default.svc.cluster.local 192.0.2.3:1 192.0.2.4:2 192.0.2.5:3 - default",
    );
    assert_eq!(row.service, "outbound|9080||items.default.svc.cluster.local");
    assert_eq!((row.instance.as_str(), row.latency_ms(), row.complete_ms()), ("192.0.2.1:9080", 4, Some(5)));
}

#[test]
fn json_has_the_same_names() {
    let json = r#"{"start_time":"2025-07-28T10:14:14.655Z","method":"POST","path":"/items/17","protocol":"HTTP/2",
        "response_code":204,"response_flags":"-","bytes_received":154,"bytes_sent":1024,"duration":226,
        "upstream_service_time":"100","x_forwarded_for":null,"upstream_host":"192.0.2.1:80","upstream_cluster":"c"}"#;
    let json = row(&json.replace('\n', ""));
    let mut expected = row(&text("204", "-", "226", "100", "192.0.2.1:80"));
    assert_eq!(json.service, "c");
    expected.service = "c".into();
    let same =
        |row: &Row| (row.service.clone(), row.class.clone(), row.exchange.start, row.exchange.complete);
    assert_eq!(same(&json), same(&expected));
    assert_eq!(json.exchange.latency, expected.exchange.latency);
}

#[test]
fn flags_tell_the_outcome() {
    for (code, flags, service_time, outcome, complete) in [
        ("504", "UT", "-", Outcome::Timeout, None),
        ("0", "DC", "-", Outcome::Cancelled, None),
        ("503", "UF", "-", Outcome::Reset, None),
        ("503", "UC", "-", Outcome::Reset, None),
        ("503", "URX,UF", "-", Outcome::Reset, None),
        ("503", "URX", "7", Outcome::Ok, Some(226)),
        ("200", "DC", "7", Outcome::Ok, None),
        ("200", "DI", "7", Outcome::Ok, Some(226)),
        // The header that tells the service time may be suppressed.
        ("200", "-", "-", Outcome::Ok, Some(226)),
    ] {
        let row = row(&text(code, flags, "226", service_time, "192.0.2.1:80"));
        let latency = if service_time == "7" { 7 } else { 226 };
        assert_eq!(
            (row.outcome(), row.latency_ms(), row.complete_ms()),
            (outcome, latency, complete),
            "{flags}"
        );
        assert_eq!(row.exchange.failed, outcome == Outcome::Ok && code == "503");
        assert_eq!(row.status.is_some(), outcome == Outcome::Ok);
    }
}

#[test]
fn what_was_sent_to_nobody_is_left_out() {
    let log = [
        text("503", "UH", "0", "-", "-"),
        text("503", "UO", "0", "-", "192.0.2.1:80"),
        text("404", "NR", "0", "-", "-"),
    ];
    let (read, rows) = read_with(Envoy, log.join("\n") + "\n", false).unwrap();
    assert_eq!(rows.len(), 0);
    assert_eq!(read.notes, ["3 requests were sent to no backend and are left out"]);
    assert_eq!(read.provenance.window, None);
}

#[test]
fn what_the_log_lacks_is_said() {
    let told = text("204", "-", "226", "100", "192.0.2.1:80") + "\n";
    assert_eq!(lacks(Envoy, &told), ["access log", "single tries"]);
    let silent = text("204", "-", "226", "-", "192.0.2.1:80") + "\n";
    assert_eq!(lacks(Envoy, &silent), ["access log", "first-byte latency", "single tries"]);
}

#[test]
fn a_time_that_cannot_be_is_named_in_the_first_line_too() {
    let log = text("204", "-", "226", "100", "192.0.2.1:80").replace("655Z", "655+99:00") + "\n";
    assert_eq!(recognise(log.as_bytes()), Some(Envoy));
    assert!(
        refused(Envoy, &log).contains("line 1: found '2025-07-28T10:14:14.655+99:00', expected a start_time")
    );
}

#[test]
fn bad_lines_are_named() {
    let good = text("204", "-", "226", "100", "192.0.2.1:80");
    for (bad, message) in [
        (&good.replace("2025-07-28T", "28/Jul/"), "expected a start_time such as"),
        (&good.replace(" 226 ", " - "), "expected a duration"),
        (&good.replace(" 100 ", " 0.1 "), "found '0.1', expected a duration in whole milliseconds"),
        (&good.replace(" 226 ", " 99 "), "found '100', expected an upstream service time that is not longer"),
        (&good[..90].to_owned(), "expected"),
        (&"{\"start_time\":\"2025-07-28T10:14:14.655Z\"}".to_owned(), "expected a duration"),
        (&good.replace("192.0.2.1:80", &"x".repeat(300)), "expected a name of 1 to 255 characters"),
    ] {
        let log = format!("{good}\n{bad}\n{good}\n");
        let error = refused(Envoy, &log);
        assert!(error.starts_with("'x.log', line 2: found '") && error.contains(message), "{error}");
        let (read, rows) = read_with(Envoy, &log, true).unwrap();
        assert_eq!((rows.len(), read.skipped_rows), (2, 1), "{bad}");
    }
}
