use observer_common::Outcome;

use super::{Row, lacks, read_with, refused};
use crate::capture::access_log::{AccessLogFormat::Haproxy, recognise};

fn row(line: &str) -> Row {
    super::row(Haproxy, line)
}

fn line(timers: &str, status: &str, ending: &str) -> String {
    format!(
        "192.0.2.7:33317 [28/Jul/2025:10:14:14.655] front~ items/b1 {timers} {status} 2750 - - {ending} 1/1/1/1/0 0/0 \
         {{example.org}} {{}} \"GET /items/17?a=b HTTP/1.1\""
    )
}

#[test]
fn what_the_server_took() {
    let row = row(&line("10/5/30/69/129", "200", "----"));
    assert_eq!((row.service.as_str(), row.instance.as_str()), ("items", "items/b1"));
    assert_eq!((row.class.as_deref(), row.status.as_deref()), (Some("GET /items/{n}"), Some("200")));
    // 45 ms passed before the server got the request.
    assert_eq!(row.start_ms(), 1_753_697_654_700);
    assert_eq!((row.latency_ms(), row.complete_ms()), (69, Some(84)));
    assert_eq!((row.outcome(), row.exchange.failed), (Outcome::Ok, false));
    assert_eq!(row.exchange.response_bytes, Some(2_750));
}

#[test]
fn syslog_may_stand_in_front() {
    let plain = line("10/0/30/69/109", "200", "----");
    for before in [
        "<134>Jul 28 10:14:14 haproxy[14389]: ",
        "Jul 28 10:14:14 lb haproxy[14389]: ",
        "2025-07-28T10:14:14+02:00 lb haproxy[14389]: ",
        "<134>1 2025-07-28T10:14:14+02:00 lb haproxy 14389 - - ",
    ] {
        assert_eq!(row(&format!("{before}{plain}")), row(&plain), "{before}");
    }
    // What 'option httpslog' adds.
    let secure = format!("{plain} 0/0000000000000000/0/0/0 example.org/TLSv1.3/TLS_AES_256_GCM_SHA384");
    assert_eq!(row(&secure), row(&plain));
}

#[test]
fn how_a_session_ended_tells_the_outcome() {
    for (timers, status, ending, outcome, latency, complete) in [
        ("0/0/1/-1/5001", "504", "sH--", Outcome::Timeout, 5_000, None),
        ("0/0/1/-1/11", "502", "SH--", Outcome::Reset, 10, None),
        ("0/0/1/-1/11", "502", "PH--", Outcome::Reset, 10, None),
        ("0/0/-1/-1/3000", "503", "SC--", Outcome::Reset, 3_000, None),
        ("0/0/-1/-1/3000", "503", "sC--", Outcome::Timeout, 3_000, None),
        ("0/0/1/-1/11", "-1", "CH--", Outcome::Cancelled, 10, None),
        ("0/0/1/-1/11", "408", "cH--", Outcome::Cancelled, 10, None),
        // The first byte came, the last did not.
        ("0/0/1/7/11", "200", "CD--", Outcome::Ok, 7, None),
        ("0/0/1/7/11", "200", "SD--", Outcome::Ok, 7, None),
        // Written when the response began.
        ("0/0/1/7/+8", "200", "----", Outcome::Ok, 7, None),
        ("0/0/1/7/8", "503", "--NI", Outcome::Ok, 7, Some(7)),
    ] {
        let row = row(&line(timers, status, ending));
        assert_eq!(
            (row.outcome(), row.latency_ms(), row.complete_ms()),
            (outcome, latency, complete),
            "{ending}"
        );
        assert_eq!(row.status.is_some(), outcome == Outcome::Ok);
        assert_eq!(row.exchange.failed, outcome == Outcome::Ok && status == "503");
    }
}

#[test]
fn what_is_no_request_to_a_server_is_left_out() {
    let good = line("0/0/1/7/8", "200", "----");
    let not_tried = [
        line("0/-1/-1/-1/0", "503", "SC--").replace("items/b1", "items/<NOSRV>"),
        line("-1/-1/-1/-1/9", "408", "cR--"),
        line("0/5000/-1/-1/5000", "503", "sQ--").replace("0/5000/", "0/-1/"),
        line("0/0/0/0/0", "200", "LR--").replace("items/b1", "front/<STATS>"),
    ];
    let other = [
        "[NOTICE]   (14389) : New worker (14391) forked".to_owned(),
        "Jul 28 10:14:14 lb haproxy[14389]: Server items/b2 is DOWN, reason: Layer4 timeout".to_owned(),
        "Server items/b2 is UP".to_owned(),
        "192.0.2.7:33317 [28/Jul/2025:10:14:14.655] front/1: SSL handshake failure".to_owned(),
        "192.0.2.7:33317 [28/Jul/2025:10:14:14.655] fnt bck/b1 0/0/5007 212 -- 0/0/0/0/3 0/0".to_owned(),
    ];
    let log = format!("{}\n{good}\n{}\n", other.join("\n"), not_tried.join("\n"));
    let (read, rows) = read_with(Haproxy, &log, false).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        read.notes,
        [
            "4 requests were sent to no backend and are left out",
            "5 lines are no requests that are measured, and are left out"
        ]
    );
    assert_eq!(lacks(Haproxy, &log), ["access log", "time zone"]);
    assert!(refused(Haproxy, other.join("\n") + "\n").contains("holds no request: none of its 5 lines"));
}

#[test]
fn a_line_that_syslog_cut_keeps_what_it_has() {
    let whole = line("0/0/1/7/8", "200", "----");
    let cut = &whole[..whole.len() - " HTTP/1.1\"".len() - 6];
    assert_eq!(row(cut).class.as_deref(), Some("GET /items/…"));
    assert_eq!(
        row(&line("0/0/1/7/8", "400", "----").replace("GET /items/17?a=b HTTP/1.1", "<BADREQ>")).class,
        None
    );
}

#[test]
fn a_date_that_cannot_be_is_named_in_the_first_line_too() {
    let log = format!("Jul 28 10:14:14 lb haproxy[14389]: {}\n", line("0/0/1/7/8", "200", "----"));
    let log = log.replace("28/Jul", "30/Feb");
    assert_eq!(recognise(log.as_bytes()), Some(Haproxy));
    assert!(
        refused(Haproxy, &log)
            .contains("line 1: found '30/Feb/2025:10:14:14.655', expected a date that exists")
    );
}

#[test]
fn bad_lines_are_named() {
    let good = line("0/0/1/7/8", "200", "----");
    for (bad, message) in [
        ("GET / 200", "expected a line of 'option httplog' with its time"),
        (&good.replace("0/0/1/7/8", "0/0/1/-7/8"), "found '0/0/1/-7/8', expected the timers TR/Tw/Tc/Tr/Ta"),
        (&good.replace("0/0/1/7/8", "7"), "found '7', expected the timers"),
        (
            &good.replace("0/0/1/7/8", "0/0/1/7/7"),
            "found '0/0/1/7/7', expected timers TR/Tw/Tc/Tr/Ta of which Ta",
        ),
        (&good.replace("28/Jul", "30/Feb"), "found '30/Feb/2025:10:14:14.655', expected a date that exists"),
        (&good.replace("items/b1", "items"), "found 'items', expected backend/server"),
        (&good[..70], "expected"),
    ] {
        let log = format!("{good}\n{bad}\n{good}\n");
        let error = refused(Haproxy, &log);
        assert!(error.starts_with("'x.log', line 2: found '") && error.contains(message), "{error}");
        let (read, rows) = read_with(Haproxy, &log, true).unwrap();
        assert_eq!((rows.len(), read.skipped_rows), (2, 1), "{bad}");
    }
}
