//! Any bytes, and messages cut anywhere: nothing panics, nothing grows, and what was not seen is not claimed.

use observer_common::Protocol;
use proptest::{collection::vec, prelude::*, sample::select};

use super::{Found, Messages, Turn, Wire, mysql, postgresql, redis::command};
use crate::protocol::{connections, text};

fn protocols() -> impl Strategy<Value = Protocol> {
    select(vec![
        Protocol::Unknown,
        Protocol::Http1,
        Protocol::Tls,
        Protocol::Http2,
        Protocol::Upgraded,
        Protocol::Other,
    ])
}

/// What messages begin with, so that arbitrary bytes come further than the first check.
fn beginnings() -> impl Strategy<Value = &'static [u8]> {
    select(vec![
        &b""[..],
        b"GET /",
        b"GET /a HTTP/1.1\r\n",
        b"HTTP/1.1 ",
        b"*2\r\n$3\r\nGET\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"-",
        b"!",
        b"get k\r\n",
        b"set k 0 0 ",
        b"END\r\n",
        b"Q\0\0\0\x40SELECT ",
        b"P\0\0\0\x20s\0SELECT ",
        b"B\0\0\0\x10\0s\0",
        b"2\0\0\0\x04",
        b"E\0\0\0\x40SERROR\0C",
        b"\x20\0\0\0\x03SELECT ",
        b"\x0a\0\0\0\x17\x01\0\0\0",
        b"\x07\0\0\x01",
        b"\0\0\0\x29\0\x03\0\0",
        b"\x16\x03\x01",
    ])
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let tail = prop_oneof![
        vec(any::<u8>(), 0..most),
        vec(select(b" \r\n\0$*/'\"();.,0123abcFROM\xff".to_vec()), 0..most)
    ];
    (beginnings(), tail)
        .prop_map(move |(beginning, tail)| [beginning, &tail].concat().into_iter().take(most).collect())
}

/// Requests as clients send them, with what answers them.
fn valid() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let word = "[a-z]{1,12}";
    let value = "[a-zA-Z0-9 ]{0,200}";
    let sql = prop_oneof![
        (word, value).prop_map(|(table, value)| format!("SELECT a FROM {table}_t WHERE b = '{value}'")),
        (word, value).prop_map(|(table, value)| format!("INSERT INTO s.{table}_t (a) VALUES ('{value}')")),
        (word, value).prop_map(|(table, value)| format!("UPDATE {table}_t SET a = '{value}'; COMMIT")),
        value.prop_map(|value| format!("SELECT f('{value}')")),
    ];
    let http = (select(vec!["GET", "POST", "PURGE"]), "(/[a-z0-9]{1,40}){1,6}(\\?a=[0-9]{1,9})?", value)
        .prop_map(|(method, target, value)| {
            let request = format!("{method} {target} HTTP/1.1\r\nHost: {value}\r\n\r\n");
            (request.into_bytes(), b"HTTP/1.1 200 OK\r\n\r\n".to_vec())
        });
    let redis = vec((select(vec!["GET", "SET", "HGETALL"]), vec(value, 1..5)), 1..4).prop_map(|commands| {
        let request: String = commands
            .iter()
            .map(|(name, values)| {
                let words: Vec<&str> = [*name].into_iter().chain(values.iter().map(String::as_str)).collect();
                command(&words)
            })
            .collect();
        (request.into_bytes(), b"$-1\r\n".to_vec())
    });
    let memcached = vec((word, value), 1..4).prop_map(|pairs| {
        let mut request = String::new();
        for (key, value) in &pairs {
            request += &format!("set {key} 0 0 {}\r\n{value}\r\nget {key}\r\n", value.len());
        }
        (request.into_bytes(), b"STORED\r\n".to_vec())
    });
    let simple = vec(sql.clone(), 1..3).prop_map(|texts| {
        let request = texts.iter().flat_map(|text| postgresql::query(text)).collect();
        (request, b"C\0\0\0\x0dSELECT 1\0".to_vec())
    });
    let extended = (vec((sql.clone(), value), 1..3), word).prop_map(|(statements, name)| {
        let mut request = Vec::new();
        for (text, value) in &statements {
            request.extend(postgresql::parse(&name, text));
            request.extend(postgresql::bind(&name, value));
            request.extend([postgresql::describe(), postgresql::execute()].concat());
        }
        request.extend(postgresql::sync());
        (request, b"1\0\0\0\x042\0\0\0\x04".to_vec())
    });
    let mysql = sql.prop_map(|text| (mysql::query(&text), b"\x07\0\0\x01\0\0\0\x02\0\0\0".to_vec()));
    prop_oneof![http, redis, memcached, simple, extended, mysql]
}

/// Whether `cut`, the class of a request of which less was kept, does not say what `whole` denies. An unknown
/// protocol says nothing but sizes.
fn agrees(whole: &Found, cut: &Found) -> bool {
    let unread = cut.protocol().is_none() && cut.class().is_some_and(|class| class.contains('→'));
    let silent = cut.class().is_none_or(|class| class.ends_with('…'));
    unread || silent || (cut.class(), cut.protocol()) == (whole.class(), whole.protocol())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_are_read_and_bounded(
        turns in vec((protocols(), bytes(128), 0..300_u64, bytes(64), 0..300_u64, any::<bool>()), 1..20),
    ) {
        let mut messages = Messages::new();
        for (index, (protocol, request, more, response, more_response, answered)) in turns.iter().enumerate() {
            let turn = Turn {
                connection: index as u64 % 2,
                port: 6379,
                protocol: *protocol,
                request,
                request_bytes: request.len() as u64 + more,
                response,
                response_bytes: response.len() as u64 + more_response,
                answered: *answered,
            };
            if let Found::Exchange { class, status, .. } = Found::of(messages.describe(&turn)) {
                for text in [class, status].into_iter().flatten() {
                    prop_assert!(text.len() <= text::LIMIT, "{}", text);
                    prop_assert!(!text.is_empty());
                    prop_assert!(!text.contains(char::is_control), "{:?}", text);
                }
            }
        }
        prop_assert!(messages.connections() <= 2);
    }

    #[test]
    fn what_was_cut_is_not_claimed((request, response) in valid(), kept in 0..400_usize) {
        let whole = Wire::new().turn_kept(&request, &response, usize::MAX);
        prop_assert!(whole.protocol().is_some(), "{:?}", whole);
        let cut = Wire::new().turn_kept(&request, &response, kept);
        prop_assert!(agrees(&whole, &cut), "{:?}: {:?}", whole, cut);
    }

    #[test]
    fn what_was_cut_is_not_claimed_of_a_known_connection((request, response) in valid(), kept in 0..400_usize) {
        let mut wire = Wire::new();
        let whole = wire.turn_kept(&request, &response, usize::MAX);
        let cut = wire.turn_kept(&request, &response, kept);
        prop_assert!(agrees(&whole, &cut) || cut.class().is_none(), "{:?}: {:?}", whole, cut);
    }
}

#[test]
fn many_connections_are_bounded() {
    let mut messages = Messages::new();
    for connection in 0..50_000 {
        let request = command(&["GET", "k"]);
        let turn = Turn {
            connection,
            port: 9,
            protocol: Protocol::Unknown,
            request: request.as_bytes(),
            request_bytes: request.len() as u64,
            response: b"$-1\r\n",
            response_bytes: 5,
            answered: true,
        };
        messages.describe(&turn);
        assert!(messages.connections() <= connections::LIMIT);
    }
}
