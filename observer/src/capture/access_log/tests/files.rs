//! What is true of every format.

use observer_common::{Nanoseconds, Timestamp};

use super::{read_with, refused};
use crate::{
    capture::access_log::{AccessLogFormat::*, recognise},
    provenance::{SourceKind, Window},
};

const ENVOY: &str = "[2025-07-28T10:14:14.655Z] \"GET /items/17 HTTP/2\" 200 - 154 1024 226 100 \"-\" \"-\" \"-\" \
                     \"items\" \"192.0.2.1:80\"";
const NGINX: &str = "192.0.2.7 - - [28/Jul/2025:10:14:14 +0200] \"GET / HTTP/1.1\" 200 612 \"-\" \"-\" ua=192.0.2.1:80 \
                     urt=0.030 uht=0.030 uct=0.000";

#[test]
fn lines_come_in_dialects() {
    let plain = format!("{ENVOY}\n{ENVOY}\n");
    let expected = read_with(Envoy, &plain, false).unwrap();
    assert_eq!(expected.1.len(), 2);
    for dialect in [
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\n\n"),
        plain.trim_end().to_owned(),
    ] {
        assert_eq!(recognise(dialect.as_bytes()), Some(Envoy), "{dialect}");
        assert_eq!(read_with(Envoy, &dialect, false).unwrap(), expected, "{dialect}");
    }
}

#[test]
fn the_window_spans_all_exchanges_on_the_wall_clock() {
    let later = ENVOY.replace(":14.655Z", ":15.000Z");
    let (read, _) = read_with(Envoy, format!("{later}\n{ENVOY}\n"), false).unwrap();
    assert_eq!(read.provenance.kind, SourceKind::AccessLog);
    let window = Window {
        start: Timestamp(1_753_697_654_655_000_000),
        duration: Nanoseconds(571_000_000),
        wall_offset_ns: Some(0),
    };
    assert_eq!(read.provenance.window, Some(window));
    let lack = &read.provenance.degraded[0];
    for word in ["read lag", "round-trip", "retransmissions", "caller", "network", "millisecond"] {
        assert!(lack.consequence.contains(word), "{lack:?}");
    }
}

#[test]
fn a_cut_last_line_is_left_out() {
    // A number may have been longer: only a quote or a brace proves that a line is whole.
    for (format, line) in [(Envoy, ENVOY), (Nginx, NGINX)] {
        for end in 1..line.len() {
            let (read, rows) = read_with(format, format!("{line}\n{}", &line[..end]), true).unwrap();
            let proven = line[..end].ends_with(['"', '}']);
            assert_eq!((rows.len(), read.skipped_rows), (1, u64::from(proven)), "{}", &line[..end]);
            assert_eq!(read.notes.len(), usize::from(!proven));
        }
    }
    assert_eq!(read_with(Nginx, format!("{NGINX}\n{NGINX}"), false).unwrap().1.len(), 1);
}

#[test]
fn what_cannot_be_read_is_refused_in_one_sentence() {
    for format in [Nginx, Haproxy, Envoy, Jtl] {
        assert!(refused(format, "").starts_with("'x.log' is empty"));
        let long = "x".repeat(2 << 20);
        let error = refused(format, &long);
        assert!(error.starts_with("'x.log', line 1: it is longer than 1024 KiB"), "{error}");
        let error = refused(format, "nothing of the kind\n");
        assert!(error.starts_with("'x.log'") && error.lines().count() == 1, "{error}");
    }
    let long = format!("{ENVOY}\n{}", "x".repeat(2 << 20));
    assert!(refused(Envoy, &long).starts_with("'x.log', line 2: it is longer"));
    let long = format!("timeStamp,elapsed\n1,2\n\"{}", "x\n".repeat(1 << 20));
    assert!(refused(Jtl, &long).starts_with("'x.log', line 3: it is longer"));
}

#[test]
fn other_lines_may_come_first() {
    let log = format!("starting up\n2025-07-28T10:14:14.655Z info ready\n{ENVOY}\n");
    assert_eq!(recognise(log.as_bytes()), Some(Envoy));
    let (read, rows) = read_with(Envoy, &log, true).unwrap();
    assert_eq!((rows.len(), read.skipped_rows), (1, 2));
    for none in ["", "start_ns,instance,latency_ns\n1,a,2\n", "{\"a\":1}\n", "{\n", "\u{0}\u{0}"] {
        assert_eq!(recognise(none.as_bytes()), None, "{none}");
    }
}

#[test]
fn classes_are_bounded() {
    let lines: String = (0..1_000)
        .map(|number| {
            let word: String =
                format!("{number:04}").bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
            ENVOY.replace("/items/17", &format!("/{word}")) + "\n"
        })
        .collect();
    let rows = read_with(Envoy, lines, false).unwrap().1;
    let mut classes: Vec<_> = rows.into_iter().filter_map(|row| row.class).collect();
    classes.sort_unstable();
    classes.dedup();
    assert!(classes.len() <= 201 && classes.contains(&"other".to_owned()), "{}", classes.len());
}
