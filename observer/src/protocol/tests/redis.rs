//! Redis.

use super::{Found, LeftOut, Wire, exchange};

/// A command as clients send it.
pub(super) fn command(words: &[&str]) -> String {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text += &format!("${}\r\n{word}\r\n", word.len());
    }
    text
}

fn turn(request: &str, response: &str) -> Found {
    Wire::new().turn(request, response)
}

#[test]
fn commands_have_their_name() {
    let value = "x".repeat(5_000);
    let key = "k".repeat(150);
    for (words, response, expected) in [
        (&["GET", "user:1"][..], "$3\r\nabc\r\n", "redis GET"),
        (&["get", "user:1"], "$-1\r\n", "redis GET"),
        (&["GET", "user:1"], "_\r\n", "redis GET"),
        (&["PING"], "+PONG\r\n", "redis PING"),
        (&["SET", "k", &value], "+OK\r\n", "redis SET"),
        (&["SET", "k", &value, "EX", "60"], "+OK\r\n", "redis SET"),
        (&["HSET", &key, "field", &value], "+OK\r\n", "redis HSET…"),
        (&["FT.SEARCH", "i", "*"], "*1\r\n:0\r\n", "redis FT.SEARCH"),
        (&["HELLO", "3"], "%7\r\n$6\r\nserver\r\n", "redis HELLO"),
        (&["AUTH", "secret"], "+OK\r\n", "redis AUTH"),
        (&["joe's secret", "x"], "-ERR unknown command 'joe's secret'\r\n", "redis = ERR!"),
        (&["GET", "k"], "+QUEUED\r\n", "redis QUEUED"),
        (&["GET", "k"], "", "redis GET"),
    ] {
        assert_eq!(turn(&command(words), response), exchange(expected), "{words:?}");
    }
}

#[test]
fn errors_have_their_word() {
    for (response, expected) in [
        ("-ERR unknown command\r\n", "redis GET = ERR!"),
        ("-WRONGTYPE Operation against a key\r\n", "redis GET = WRONGTYPE!"),
        ("-MOVED 3999 127.0.0.1:6381\r\n", "redis GET = MOVED!"),
        ("-LOADING Redis is loading the dataset in memory\r\n", "redis GET = LOADING!"),
        ("!21\r\nSYNTAX invalid syntax\r\n", "redis GET = SYNTAX!"),
        ("-something that a script says\r\n", "redis GET = error!"),
        (":-1\r\n", "redis GET"),
    ] {
        assert_eq!(turn(&command(&["GET", "k"]), response), exchange(expected), "{response}");
    }
}

#[test]
fn what_is_sent_together_is_a_batch() {
    let get = command(&["GET", "k"]);
    let set = command(&["SET", "k", "v"]);
    let (multi, exec) = (command(&["MULTI"]), command(&["EXEC"]));
    for (request, response, expected) in [
        (get.repeat(2), "$1\r\nv\r\n$1\r\nv\r\n", "redis batch GET"),
        (get.repeat(100), "$1\r\nv\r\n$1\r\nv\r\n", "redis batch GET…"),
        ([&*get, &*set].concat(), "$1\r\nv\r\n+OK\r\n", "redis batch"),
        ([&*get, &*set.repeat(100)].concat(), "$1\r\nv\r\n+OK\r\n", "redis batch"),
        ([&*multi, &*set, &*exec].concat(), "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n", "redis batch MULTI"),
        ([&*multi, &*set.repeat(100), &*exec].concat(), "+OK\r\n+QUEUED\r\n", "redis batch MULTI"),
        (get.repeat(2), "-WRONGTYPE no\r\n$1\r\nv\r\n", "redis batch GET = WRONGTYPE"),
        (get.repeat(2), "-NOAUTH no\r\n", "redis batch GET = NOAUTH!"),
        (
            [&*command(&["SET", "k", &"v".repeat(400)]), &*get].concat(),
            "+OK\r\n$1\r\nv\r\n",
            "redis batch SET…",
        ),
    ] {
        assert_eq!(turn(&request, response), exchange(expected), "{request}");
    }
}

#[test]
fn lines_are_commands_where_the_answer_says_so() {
    assert_eq!(turn("PING\r\n", "+PONG\r\n"), exchange("redis PING"));
    assert_eq!(turn("get key\r\n", "$3\r\nabc\r\n"), exchange("redis GET"));
    assert_eq!(turn("GET /a\r\n", "$-1\r\n"), exchange("redis GET"));
    assert_eq!(turn("set k v\r\n", "+OK\r\n"), exchange("redis SET"));
    // Servers of mail and of messages answer so too.
    for (request, response) in [
        ("USER joe\r\n", "+OK\r\n"),
        ("RETR 1\r\n", "+OK 120 octets\r\n"),
        ("SUB a 1\r\n", "+OK\r\n"),
        ("PING\r\n", "PONG\r\n"),
        ("STAT\r\n", "-ERR no\r\n"),
        ("HELO a\r\n", "250 a\r\n"),
        ("set k v\r\n", ""),
    ] {
        assert_eq!(turn(request, response).protocol(), None, "{request}");
    }
    let mut wire = Wire::new();
    wire.port = 6379;
    assert_eq!(wire.turn("client id\r\n", "-ERR no\r\n"), exchange("redis CLIENT = ERR!"));
}

#[test]
fn subscriptions_are_pushes_until_the_last_ends() {
    let mut wire = Wire::new();
    let push = Found::LeftOut(LeftOut::Push);
    assert_eq!(wire.turn(command(&["SUBSCRIBE", "a"]), "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"), push);
    assert_eq!(wire.turn(command(&["PING"]), "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n"), push);
    assert_eq!(wire.turn(command(&["UNSUBSCRIBE"]), "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n"), push);
    assert_eq!(wire.turn(command(&["GET", "k"]), "$-1\r\n"), exchange("redis GET"));
    assert_eq!(wire.turn(command(&["GET", "k"]), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"), push);
    assert_eq!(wire.turn(command(&["MONITOR"]), "+OK\r\n"), push);
    assert_eq!(wire.turn(command(&["RESET"]), "+RESET\r\n"), push);
    assert_eq!(wire.turn(command(&["GET", "k"]), "$-1\r\n"), exchange("redis GET"));
    assert_eq!(
        wire.turn(command(&["PSYNC", "?", "-1"]), "+FULLRESYNC a 0\r\n"),
        Found::LeftOut(LeftOut::Streaming)
    );
    assert_eq!(
        wire.turn(command(&["REPLCONF", "ACK", "1"]), "*1\r\n$4\r\nPING\r\n"),
        Found::LeftOut(LeftOut::Streaming)
    );
}

#[test]
fn the_middle_of_a_value_is_no_request() {
    let mut wire = Wire::new();
    assert_eq!(wire.turn(command(&["GET", "k"]), "$-1\r\n"), exchange("redis GET"));
    assert_eq!(wire.turn("hello world\r\n", "+OK\r\n"), Found::LeftOut(LeftOut::Overlapping));
    assert_eq!(wire.turn(command(&["GET", "k"]), "$-1\r\n"), exchange("redis GET"));
}

/// What is not answered is one turn with what is.
#[test]
fn silenced_commands_are_left_out() {
    let left_out = Found::LeftOut(LeftOut::Unanswered);
    let (set, get) = (command(&["SET", "a", "1"]), command(&["GET", "a"]));
    for silence in ["OFF", "SKIP", "skip"] {
        let mut wire = Wire::new();
        let silence = command(&["CLIENT", "REPLY", silence]);
        let merged = [silence.as_str(), &set, &get].concat();
        assert_eq!(wire.turn(merged, "$1\r\n1\r\n"), left_out);
        assert_eq!(wire.turn(&get, "$1\r\n1\r\n"), exchange("redis GET"));
        // The answer is to the command before it.
        assert_eq!(wire.turn([get.as_str(), &silence].concat(), "$1\r\n1\r\n"), left_out);
        assert_eq!(wire.turn([set.as_str(), &get].concat(), "$1\r\n1\r\n"), left_out);
        assert_eq!(wire.turn(&get, "$1\r\n1\r\n"), exchange("redis GET"));
        assert_eq!(wire.turn(&silence, ""), left_out);
    }
    let mut wire = Wire::new();
    assert_eq!(wire.turn("SET a 1\r\n", "+OK\r\n"), exchange("redis SET"));
    assert_eq!(wire.turn("CLIENT REPLY SKIP\r\nSET a 1\r\nGET a\r\n", "$1\r\n1\r\n"), left_out);
    assert_eq!(wire.turn(command(&["CLIENT", "REPLY", "ON"]), "+OK\r\n"), exchange("redis CLIENT"),);
}
