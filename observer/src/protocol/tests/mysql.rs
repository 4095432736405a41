//! MySQL and MariaDB.

use super::{Found, LeftOut, Wire, exchange};

/// A packet with its length and number.
pub(super) fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    [&length[..3], &[sequence], body].concat()
}

pub(super) fn query(text: &str) -> Vec<u8> {
    packet(0, &[b"\x03", text.as_bytes()].concat())
}

fn prepare(text: &str) -> Vec<u8> {
    packet(0, &[b"\x16", text.as_bytes()].concat())
}

fn execute(id: u32) -> Vec<u8> {
    packet(0, &[&b"\x17"[..], &id.to_le_bytes(), b"\0\x01\0\0\0"].concat())
}

fn close(id: u32) -> Vec<u8> {
    packet(0, &[&b"\x19"[..], &id.to_le_bytes()].concat())
}

fn ok() -> Vec<u8> {
    packet(1, b"\0\0\0\x02\0\0\0")
}

fn rows() -> Vec<u8> {
    [packet(1, b"\x01"), packet(2, &[b'x'; 40])].concat()
}

fn error(number: u16) -> Vec<u8> {
    packet(1, &[&b"\xff"[..], &number.to_le_bytes(), b"#42S02Table 'shop.x' doesn't exist"].concat())
}

fn prepared(id: u32) -> Vec<u8> {
    packet(1, &[&b"\0"[..], &id.to_le_bytes(), b"\x01\0\x01\0\0\0\0"].concat())
}

fn login(capabilities: u32) -> Vec<u8> {
    let fixed = [&capabilities.to_le_bytes()[..], b"\0\0\0\x01\x2d", &[0; 23]].concat();
    packet(1, &[&fixed[..], b"joe\0\x14aaaaaaaaaaaaaaaaaaaashop\0caching_sha2_password\0"].concat())
}

fn turn(request: impl AsRef<[u8]>, response: impl AsRef<[u8]>) -> Found {
    Wire::new().turn(request, response)
}

#[test]
fn queries_have_verb_and_table() {
    assert_eq!(turn(query("SELECT * FROM `orders` WHERE id = 7"), rows()), exchange("mysql SELECT orders"));
    assert_eq!(turn(query("SELECT * FROM x"), error(1146)), exchange("mysql SELECT x = 1146!"));
    assert_eq!(turn(query("UPDATE x SET a = 'b'"), ok()), exchange("mysql UPDATE x"));
    assert_eq!(turn(query("COMMIT"), ""), exchange("mysql COMMIT"));
    // No attributes, in one set.
    assert_eq!(turn(query("\0\u{1}SELECT * FROM x"), rows()), exchange("mysql SELECT x"));
    let long = format!("SELECT a FROM x WHERE b IN ({})", "1, ".repeat(99));
    assert_eq!(turn(query(&long), rows()), exchange("mysql SELECT x…"));
    let mut wire = Wire::new();
    wire.turn(query("COMMIT"), ok());
    assert_eq!(wire.turn(query("\u{1}\u{1}\0\u{1}\u{8}\0SELECT 1"), rows()), exchange("mysql"));
    assert_eq!(wire.turn(packet(0, b"\x0e"), ok()), exchange("mysql PING"));
    assert_eq!(wire.turn(packet(0, b"\x02shop"), ok()), exchange("mysql USE"));
}

#[test]
fn numbers_of_statements_are_remembered() {
    let mut wire = Wire::new();
    assert_eq!(wire.turn(execute(1), ok()), exchange("mysql"), "not known: not guessed");
    assert_eq!(wire.turn(prepare("INSERT INTO t VALUES (?)"), prepared(1)), exchange("mysql PREPARE"));
    assert_eq!(wire.turn(prepare("DELETE FROM t"), error(1064)), exchange("mysql PREPARE = 1064!"));
    assert_eq!(wire.turn(execute(1), ok()), exchange("mysql INSERT t"));
    assert_eq!(wire.turn(execute(2), ok()), exchange("mysql"));
    assert_eq!(
        wire.turn([close(1), prepare("DELETE FROM u")].concat(), prepared(2)),
        exchange("mysql PREPARE")
    );
    assert_eq!(wire.turn([close(7), execute(2)].concat(), error(1205)), exchange("mysql DELETE u = 1205!"));
    assert_eq!(wire.turn(execute(1), ok()), exchange("mysql"));
    let data = packet(0, &[&b"\x18\x02\0\0\0\0\0"[..], &[b'x'; 20]].concat());
    assert_eq!(wire.turn([data, execute(2)].concat(), ok()), exchange("mysql DELETE u"));
    assert_eq!(wire.turn(close(2), ""), Found::LeftOut(LeftOut::Unanswered));
    assert_eq!(wire.turn(execute(2), ok()), exchange("mysql"));
    wire.turn(prepare("INSERT INTO t VALUES (?)"), prepared(1));
    assert_eq!(wire.turn(packet(0, b"\x1f"), ok()), exchange("mysql RESET CONNECTION"));
    assert_eq!(wire.turn(execute(1), ok()), exchange("mysql"));
}

#[test]
fn several_commands_are_a_batch() {
    let mut wire = Wire::new();
    let both = [prepare("INSERT INTO t VALUES (?)"), execute(u32::MAX)].concat();
    assert_eq!(wire.turn(both, [prepared(1), ok()].concat()), exchange("mysql batch"));
    assert_eq!(wire.turn(execute(1), ok()), exchange("mysql INSERT t"));
    assert_eq!(wire.turn(execute(1).repeat(2), [ok(), ok()].concat()), exchange("mysql batch EXECUTE"));
    assert_eq!(wire.turn(execute(1).repeat(50), [ok(), ok()].concat()), exchange("mysql batch EXECUTE…"));
    assert_eq!(wire.turn(query("SELECT 1; SELECT 2"), rows()), exchange("mysql batch SELECT"));
    assert_eq!(
        wire.turn(execute(1).repeat(2), [error(1205), ok()].concat()),
        exchange("mysql batch EXECUTE = 1205")
    );
}

#[test]
fn what_is_no_exchange_is_left_out() {
    let mut wire = Wire::new();
    let handshake = Found::LeftOut(LeftOut::Handshake);
    assert_eq!(
        wire.turn(login(0x000f_a68d), packet(2, b"\xfecaching_sha2_password\0aaaaaaaaaaaaaaaaaaaa\0")),
        handshake
    );
    assert_eq!(wire.turn(packet(3, &[7; 32]), packet(4, b"\x01\x03")), handshake);
    assert_eq!(wire.turn(query("SELECT * FROM x"), rows()), exchange("mysql SELECT x"));
    let streaming = Found::LeftOut(LeftOut::Streaming);
    assert_eq!(wire.turn(query("LOAD DATA LOCAL INFILE 'a' INTO TABLE x"), packet(1, b"\xfba")), streaming);
    assert_eq!(
        wire.turn([packet(2, b"1,2\n"), packet(3, b"")].concat(), packet(4, b"\0\0\0\x02\0\0\0")),
        streaming
    );
    assert_eq!(wire.turn(query("SELECT * FROM x"), rows()), exchange("mysql SELECT x"));
    assert_eq!(wire.turn(packet(0, b"\x11joe\0"), ok()), handshake);
    assert_eq!(wire.turn("the middle of something", ok()), Found::LeftOut(LeftOut::Overlapping));
    assert_eq!(wire.turn(packet(0, b"\x01"), ""), Found::LeftOut(LeftOut::Unanswered));
    assert_eq!(wire.turn(packet(0, b"\x12\x04\0\0\0\0\0\x01\0\0\0binlog.000001"), rows()), streaming);
}

#[test]
fn what_cannot_be_read_has_no_class() {
    let mut wire = Wire::new();
    wire.turn(login(0x000f_a6ad), ok());
    assert_eq!(wire.turn(b"\x08\0\0\0\0\0\0\x04\0\0\0\x03SEL", rows()), exchange("mysql"));
    let mut wire = Wire::new();
    let request = packet(1, &[&0x000f_ae8d_u32.to_le_bytes()[..], b"\0\0\0\x01\x2d", &[0; 23]].concat());
    assert_eq!(
        wire.turn([&request[..], b"\x16\x03\x01"].concat(), b"\x16\x03\x03"),
        Found::LeftOut(LeftOut::Handshake)
    );
    assert_eq!(wire.turn(b"\x17\x03\x03\0\x20", b"\x17\x03\x03\0\x20"), exchange("tls 4B→4B"));
}

#[test]
fn other_bytes_are_not_taken_for_commands() {
    for request in
        [&b"\x05\0\0\0\x03hello"[..], b"\x01\0\0\0\x0e", b"\x09\0\0\0\x03SELECT 1 and more", &[0; 20]]
    {
        assert_eq!(turn(request, ok()).protocol(), None, "{request:?}");
    }
    assert_eq!(turn(query("SELECT 1"), packet(0, b"\0")).protocol(), None, "not the number of an answer");
    let mut wire = Wire::new();
    wire.port = 3306;
    assert_eq!(wire.turn(b"\x01\0\0\0\x0e", ok()), exchange("mysql PING"));
}
