//! PostgreSQL.

use super::{Found, LeftOut, Wire, exchange};

/// A message with its type and length.
pub(super) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[kind], &length.to_be_bytes()[..], body].concat()
}

pub(super) fn query(text: &str) -> Vec<u8> {
    message(b'Q', format!("{text}\0").as_bytes())
}

pub(super) fn parse(name: &str, text: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{text}\0\0\0").as_bytes())
}

pub(super) fn bind(name: &str, value: &str) -> Vec<u8> {
    let length = u32::try_from(value.len()).unwrap().to_be_bytes();
    let head = format!("\0{name}\0\0\0\0\u{1}");
    message(b'B', &[head.as_bytes(), &length, value.as_bytes(), b"\0\0"].concat())
}

pub(super) fn describe() -> Vec<u8> {
    message(b'D', b"P\0")
}

pub(super) fn execute() -> Vec<u8> {
    message(b'E', b"\0\0\0\0\0")
}

pub(super) fn sync() -> Vec<u8> {
    message(b'S', b"")
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn complete(tag: &str) -> Vec<u8> {
    [message(b'C', format!("{tag}\0").as_bytes()), ready()].concat()
}

fn error(state: &str) -> Vec<u8> {
    let fields = format!("SERROR\0VERROR\0C{state}\0Mrelation \"x\" does not exist\0\0");
    [message(b'E', fields.as_bytes()), ready()].concat()
}

/// What answers a group of messages that prepares a statement.
fn parsed() -> Vec<u8> {
    [message(b'1', b""), message(b'2', b""), message(b'n', b""), complete("SELECT 1")].concat()
}

fn bound() -> Vec<u8> {
    [message(b'2', b""), message(b'n', b""), complete("SELECT 1")].concat()
}

fn turn(request: impl AsRef<[u8]>, response: impl AsRef<[u8]>) -> Found {
    Wire::new().turn(request, response)
}

#[test]
fn simple_queries_have_verb_and_table() {
    let text = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711;";
    let rows = [message(b'T', &[0; 30]), message(b'D', &[0; 20]), complete("SELECT 1")].concat();
    assert_eq!(turn(query(text), &rows), exchange("postgresql SELECT pgbench_accounts"));
    assert_eq!(turn(query(text), ""), exchange("postgresql SELECT pgbench_accounts"));
    assert_eq!(turn(query("BEGIN;"), complete("BEGIN")), exchange("postgresql BEGIN"));
    assert_eq!(turn(query("SELECT * FROM x"), error("42P01")), exchange("postgresql SELECT x = 42P01!"));
    let notice = message(b'N', b"SNOTICE\0C00000\0\0");
    assert_eq!(
        turn(query("SELECT * FROM x"), [notice, error("42P01")].concat()),
        exchange("postgresql SELECT x = 42P01!")
    );
    let long = format!("SELECT a FROM x WHERE b IN ({})", "1, ".repeat(99));
    assert_eq!(turn(query(&long), &rows), exchange("postgresql SELECT x…"));
    let beyond = message(b'N', format!("S{}\0", "n".repeat(70)).as_bytes());
    assert_eq!(
        turn(query("SELECT * FROM x"), [beyond, error("42P01")].concat()),
        exchange("postgresql SELECT x")
    );
    let early = message(b'E', format!("S{}\0C42P01\0\0", "n".repeat(70)).as_bytes());
    assert_eq!(turn(query("SELECT * FROM x"), early), exchange("postgresql SELECT x = error!"));
}

#[test]
fn extended_queries_are_one_exchange() {
    let text = "SELECT a FROM t WHERE i = $1";
    let group = [parse("", text), bind("", "7"), describe(), execute(), sync()].concat();
    assert_eq!(turn(&group, parsed()), exchange("postgresql SELECT t"));
    // Bind goes on beyond what is kept.
    let group = [parse("", text), bind("", &"7".repeat(500)), describe(), execute(), sync()].concat();
    assert_eq!(turn(&group, parsed()), exchange("postgresql SELECT t"));
    // So does Parse.
    let long = format!("{text} AND j IN ({})", "1, ".repeat(99));
    let group = [parse("", &long), bind("", "7"), describe(), execute(), sync()].concat();
    assert_eq!(turn(&group, parsed()), exchange("postgresql SELECT t"));
    let group = [parse("", &long), bind("", &"7".repeat(500)), describe(), execute(), sync()].concat();
    assert_eq!(turn(&group, parsed()), exchange("postgresql SELECT t…"));
    let failed = [parse("", text), bind("", "7"), describe(), execute(), sync()].concat();
    assert_eq!(turn(&failed, error("42703")), exchange("postgresql SELECT t = 42703!"));
}

#[test]
fn names_of_statements_are_remembered() {
    let mut wire = Wire::new();
    let run = [bind("s1", "7"), describe(), execute(), sync()].concat();
    assert_eq!(wire.turn(&run, bound()), exchange("postgresql"), "not known: not guessed");
    let prepare = [parse("s1", "UPDATE t SET a = $1"), sync()].concat();
    let prepared = [message(b'1', b""), ready()].concat();
    assert_eq!(wire.turn(&prepare, &prepared), exchange("postgresql PREPARE"));
    assert_eq!(wire.turn(&run, bound()), exchange("postgresql UPDATE t"));
    let long = [bind("s1", &"7".repeat(500)), describe(), execute(), sync()].concat();
    assert_eq!(wire.turn(&long, bound()), exchange("postgresql UPDATE t"));
    // The name is taken: the first statement stays.
    let again = [parse("s1", "DELETE FROM t"), sync()].concat();
    assert_eq!(wire.turn(&again, error("42P05")), exchange("postgresql PREPARE = 42P05!"));
    assert_eq!(wire.turn(&run, bound()), exchange("postgresql UPDATE t"));
    let close = [message(b'C', b"Ss1\0"), sync()].concat();
    assert_eq!(wire.turn(&close, [message(b'3', b""), ready()].concat()), exchange("postgresql CLOSE"));
    assert_eq!(wire.turn(&run, bound()), exchange("postgresql"));
    wire.turn(&prepare, &prepared);
    assert_eq!(
        wire.turn(query("DEALLOCATE ALL"), complete("DEALLOCATE ALL")),
        exchange("postgresql DEALLOCATE")
    );
    assert_eq!(wire.turn(&run, bound()), exchange("postgresql"));
}

#[test]
fn several_executions_are_a_batch() {
    let one = [bind("s1", "7"), execute()].concat();
    let mut wire = Wire::new();
    wire.turn(
        [parse("s1", "INSERT INTO t VALUES ($1)"), sync()].concat(),
        [message(b'1', b""), ready()].concat(),
    );
    assert_eq!(wire.turn([&one[..], &one, &sync()].concat(), bound()), exchange("postgresql batch INSERT"));
    assert_eq!(
        wire.turn([&one.repeat(50)[..], &sync()].concat(), bound()),
        exchange("postgresql batch INSERT…")
    );
    let begin = [parse("", "BEGIN"), bind("", ""), execute()].concat();
    assert_eq!(wire.turn([&begin[..], &one, &sync()].concat(), parsed()), exchange("postgresql batch"));
    let synced = [&one[..], &sync()].concat();
    assert_eq!(wire.turn(synced.repeat(2), bound()), exchange("postgresql batch INSERT"));
    assert_eq!(
        wire.turn(query("SELECT 1 FROM a").repeat(2), complete("SELECT 1")),
        exchange("postgresql batch SELECT")
    );
    assert_eq!(
        wire.turn([query("SELECT 1 FROM a"), query("COMMIT")].concat(), complete("SELECT 1")),
        exchange("postgresql batch")
    );
    let partly = [message(b'2', b""), complete("INSERT 0 1"), error("23505")].concat();
    assert_eq!(wire.turn(synced.repeat(2), partly), exchange("postgresql batch INSERT = 23505"));
    assert_eq!(wire.turn(synced.repeat(2), error("23505")), exchange("postgresql batch INSERT = 23505!"));
    assert_eq!(wire.turn(query("BEGIN; SELECT 1 FROM a"), complete("BEGIN")), exchange("postgresql batch"));
    assert_eq!(
        wire.turn(synced.repeat(2), bound()),
        exchange("postgresql batch"),
        "any of them may have discarded all"
    );
}

#[test]
fn what_is_no_exchange_is_left_out() {
    let mut wire = Wire::new();
    let startup = b"\0\0\0\x29\0\x03\0\0user\0joe\0database\0shop\0options\0-x\0\0";
    let handshake = Found::LeftOut(LeftOut::Handshake);
    assert_eq!(wire.turn(startup, message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0")), handshake);
    assert_eq!(wire.turn(message(b'p', b"SCRAM-SHA-256\0"), message(b'R', b"\0\0\0\x0b")), handshake);
    assert_eq!(wire.turn(query("SELECT * FROM x"), complete("SELECT 0")), exchange("postgresql SELECT x"));
    let streaming = Found::LeftOut(LeftOut::Streaming);
    assert_eq!(wire.turn(query("COPY x FROM STDIN"), message(b'G', b"\0\0\0")), streaming);
    assert_eq!(
        wire.turn([message(b'd', b"1\n"), message(b'c', b"")].concat(), complete("COPY 1")),
        streaming
    );
    assert_eq!(wire.turn(query("COPY x TO STDOUT"), message(b'H', b"\0\0\0")), streaming);
    assert_eq!(wire.turn(query("COPY x TO STDOUT"), error("42P01")), exchange("postgresql COPY x = 42P01!"));
    assert_eq!(
        wire.turn(query("COMMIT"), [message(b'A', &[0; 9]), complete("COMMIT")].concat()),
        Found::LeftOut(LeftOut::Push)
    );
    assert_eq!(
        wire.turn("the middle of something", complete("COPY 1")),
        Found::LeftOut(LeftOut::Overlapping)
    );
    assert_eq!(wire.turn(message(b'X', b""), ""), Found::LeftOut(LeftOut::Unanswered));
    assert_eq!(
        turn(b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x01\0\0\0\x02", ""),
        Found::LeftOut(LeftOut::Unanswered)
    );
}

#[test]
fn an_encrypted_session_is_one_of_tls() {
    let mut wire = Wire::new();
    let handshake = Found::LeftOut(LeftOut::Handshake);
    assert_eq!(wire.turn(b"\0\0\0\x08\x04\xd2\x16\x2f", "S"), handshake);
    assert_eq!(wire.turn(b"\x16\x03\x01\x02\0\x01", b"\x16\x03\x03\0\x7a\x02"), handshake);
    assert_eq!(
        wire.turn([&b"\x17\x03\x03"[..], &[0; 97]].concat(), b"\x17\x03\x03\0\x7a\x02"),
        exchange("tls 64B→4B")
    );
}

#[test]
fn other_bytes_are_not_taken_for_queries() {
    for request in [
        query("hello world"),
        [query("SELECT 1"), vec![0; 3]].concat()[..9].to_vec(),
        b"Quit\r\n".to_vec(),
        b"P\0\0\0\x10\0hello world\0".to_vec(),
    ] {
        assert_eq!(turn(&request, complete("SELECT 1")).protocol(), None, "{request:?}");
    }
    assert_eq!(turn(query("SELECT 1"), "hello").protocol(), None);
}
