use observer_common::Outcome;

use super::{Row, lacks, read_with, refused};
use crate::capture::access_log::AccessLogFormat::Nginx;

fn row(line: &str) -> Row {
    super::row(Nginx, line)
}

fn rows(lines: &str) -> Vec<Row> {
    super::rows(Nginx, lines)
}

/// The log format that the documentation shows, with some values.
fn json(changes: &[(&str, &str)]) -> String {
    let mut values = vec![
        ("msec", "1753690454.655"),
        ("request_method", "GET"),
        ("request_uri", "/items/17?token=secret"),
        ("status", "200"),
        ("request_time", "0.131"),
        ("proxy_host", "items"),
        ("upstream_addr", "192.0.2.1:80"),
        ("upstream_status", "200"),
        ("upstream_connect_time", "0.001"),
        ("upstream_header_time", "0.021"),
        ("upstream_response_time", "0.030"),
        ("upstream_bytes_sent", "140"),
        ("upstream_bytes_received", "5120"),
    ];
    for (name, value) in changes {
        values.iter_mut().find(|(known, _)| known == name).unwrap().1 = value;
    }
    let pairs: Vec<_> = values.iter().map(|(name, value)| format!("\"{name}\":\"{value}\"")).collect();
    format!("{{{}}}", pairs.join(","))
}

#[test]
fn a_try_of_a_server() {
    let row = row(&json(&[]));
    assert_eq!((row.service.as_str(), row.instance.as_str()), ("items", "192.0.2.1:80"));
    assert_eq!((row.class.as_deref(), row.status.as_deref()), (Some("GET /items/{n}"), Some("200")));
    // It ends at 454.655 and connecting began 30 ms before that.
    assert_eq!(row.start_ms(), 1_753_690_454_626);
    assert_eq!((row.latency_ms(), row.complete_ms()), (20, Some(29)));
    assert_eq!((row.exchange.request_bytes, row.exchange.response_bytes), (Some(140), Some(5_120)));
    assert_eq!((row.outcome(), row.exchange.failed), (Outcome::Ok, false));
}

#[test]
fn values_come_as_numbers_too() {
    let text = json(&[]).replace("\"0.021\"", "0.021").replace("\"1753690454.655\"", "1753690454.655");
    assert_eq!(row(&text), row(&json(&[])));
}

#[test]
fn each_try_is_an_exchange() {
    let lines = json(&[
        ("upstream_addr", "192.0.2.1:80, 192.0.2.2:80 : unix:/run/c"),
        ("upstream_status", "502, 503 : 200"),
        ("upstream_connect_time", "-, 0.002 : 0.000"),
        ("upstream_header_time", "-, 0.005 : 0.010"),
        ("upstream_response_time", "0.100, 0.005 : 0.020"),
        ("upstream_bytes_sent", "0, 140 : 140"),
        ("upstream_bytes_received", "0, 200 : 5120"),
    ]);
    let rows = rows(&lines);
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row.instance.as_str(), row.outcome(), row.status.as_deref(), row.exchange.failed))
        .collect();
    assert_eq!(
        told,
        [
            ("192.0.2.1:80", Outcome::Reset, None, false),
            ("192.0.2.2:80", Outcome::Ok, Some("503"), true),
            ("unix:/run/c", Outcome::Ok, Some("200"), false),
        ]
    );
    let times: Vec<_> =
        rows.iter().map(|row| (row.start_ms() - 1_753_690_454_000, row.latency_ms())).collect();
    assert_eq!(times, [(530, 100), (632, 3), (635, 10)]);
    assert_eq!(rows[0].complete_ms(), None);
}

#[test]
fn no_answer_has_a_reason() {
    for (status, of_client, outcome) in
        [("504", "504", Outcome::Timeout), ("502", "502", Outcome::Reset), ("-", "499", Outcome::Cancelled)]
    {
        let changes = [("upstream_status", status), ("status", of_client), ("upstream_header_time", "-")];
        let row = row(&json(&changes));
        assert_eq!((row.outcome(), row.latency_ms(), row.complete_ms()), (outcome, 29, None), "{status}");
        assert_eq!((row.status, row.exchange.failed), (None, false));
    }
    // The client left in the middle of the response.
    let row = row(&json(&[("status", "499")]));
    assert_eq!((row.outcome(), row.latency_ms(), row.complete_ms()), (Outcome::Ok, 20, None));
}

#[test]
fn what_was_not_tried_is_left_out() {
    for (address, times) in [("-", "-"), ("", ""), ("items", "0.000")] {
        let lists =
            ["upstream_status", "upstream_connect_time", "upstream_header_time"].map(|name| (name, "-"));
        let line =
            json(&[&[("upstream_addr", address), ("upstream_response_time", times)], &lists[..]].concat());
        let (read, rows) = read_with(Nginx, format!("{line}\n"), false).unwrap();
        assert_eq!((rows.len(), read.notes.len()), (0, 1), "{address}");
        assert!(read.notes[0].starts_with("1 requests were sent to no backend"), "{:?}", read.notes);
    }
}

const COMBINED: &str = r#"192.0.2.7 - - [28/Jul/2025:10:14:14 +0200] "GET /items/17?a=b HTTP/1.1" 200 612 "-" "curl/8 x=\x22y\x22""#;

#[test]
fn combined_with_pairs() {
    let long = row(&format!(
        r#"{COMBINED} msec=1753690454.655 request_time=0.131 upstream_addr="192.0.2.1:80" upstream_status="200" upstream_connect_time="0.001" upstream_header_time="0.021" upstream_response_time="0.030""#
    ));
    assert_eq!((long.start_ms(), long.latency_ms()), (1_753_690_454_626, 20));
    assert_eq!((long.service.as_str(), long.class.as_deref()), ("default", Some("GET /items/{n}")));
    assert_eq!(long.exchange.response_bytes, Some(612));
    // Short names, without quotes, behind what else is logged.
    let short = row(&format!(
        r#"{COMBINED} "-" msec=1753690454.655 rt=0.131 ua=192.0.2.1:80 us=200 uct=0.001 uht=0.021 urt=0.030 cs=-"#
    ));
    assert_eq!(short, long);
    let tries = rows(&format!(
        "{COMBINED} msec=1753690454.655 upstream=192.0.2.1:80, 192.0.2.2:80 us=502, 200 uct=-, 0.001 uht=-, 0.021 \
         urt=0.001, 0.030 rt=0.031"
    ));
    assert_eq!((tries.len(), tries[0].outcome(), tries[1].latency_ms()), (2, Outcome::Reset, 20));
}

#[test]
fn what_the_format_lacks_is_said() {
    let whole = format!("{}\n", json(&[]));
    assert_eq!(lacks(Nginx, &whole), ["access log", "resolution"]);
    let poor = format!("{COMBINED} ua=\"192.0.2.1:80\" urt=\"0.030\"\n");
    assert_eq!(
        lacks(Nginx, &poor),
        ["access log", "start of requests", "first-byte latency", "connecting", "resolution"]
    );
    let poor = row(poor.trim_end());
    assert_eq!((poor.start_ms(), poor.latency_ms()), (1_753_690_453_970, 30));
    let failed = COMBINED.replace(" 200 ", " 504 ");
    assert_eq!(row(&format!("{failed} ua=\"192.0.2.1:80\" urt=\"60.000\"")).outcome(), Outcome::Timeout);
}

#[test]
fn bad_lines_are_named() {
    let good = json(&[]);
    for (bad, message) in [
        (COMBINED.to_owned(), "expected upstream_addr and upstream_response_time among its variables"),
        (
            json(&[("msec", "yesterday")]),
            "found 'yesterday', expected a time in msec, time_iso8601 or time_local",
        ),
        (json(&[("upstream_header_time", "21ms")]), "found '21ms', expected seconds with milliseconds"),
        (json(&[("upstream_status", "200, 200")]), "expected as many values as upstream_addr has"),
        (json(&[("upstream_addr", "Mozilla/5.0 (X11)")]), "expected an address in upstream_addr"),
        (json(&[("msec", "0.010")]), "expected a time that began after 1970"),
        (
            json(&[("upstream_header_time", "0.040")]),
            "expected a first byte of the response that is not later",
        ),
        (good[..100].to_owned(), "expected an object of JSON on one line"),
        ("ua=\"192.0.2.1:80\" urt=\"0.1".into(), "expected a quote or bracket that ends"),
    ] {
        let log = format!("{good}\n{bad}\n{good}\n");
        let error = refused(Nginx, &log);
        assert!(error.starts_with("'x.log', line 2: found '") && error.contains(message), "{error}");
        let (read, rows) = read_with(Nginx, &log, true).unwrap();
        assert_eq!((rows.len(), read.skipped_rows), (2, 1), "{bad}");
    }
}
