use std::fs;

use observer_common::{Outcome, Timestamp};
use pcap_file::{DataLink, TsResolution};
use tempfile::tempdir;

use super::*;

mod script;

use script::{EPOCH, FIN, From, RST, Script};

const REQUEST: &[u8] = b"GET /index.html HTTP/1.1\r\nHost: a\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

fn length(payload: &[u8]) -> u32 {
    u32::try_from(payload.len()).unwrap()
}

fn ipv4() -> Script {
    Script::new("192.0.2.9:40000", "192.0.2.1:80")
}

/// Request at 10 µs, response in two segments at 30 and 40 µs, both sides done at 60 µs.
fn one_exchange(mut script: Script) -> Script {
    let (request, response) = (1 + length(REQUEST), 1 + length(RESPONSE));
    script.handshake(0);
    script.segment(10, From::Client, 0, 1, 1, REQUEST);
    script.segment(30, From::Server, 0, 1, request, &RESPONSE[..20]);
    script.segment(40, From::Server, 0, 21, request, &RESPONSE[20..]);
    script.segment(50, From::Client, FIN, request, response, b"");
    script.segment(60, From::Server, FIN, response, request + 1, b"");
    script
}

/// An exchange with its service, instance, client, protocol and status.
type Seen = (Exchange, [Option<String>; 5]);

fn read_as(role: Role, content: &[u8]) -> Result<(PcapRead, Vec<Seen>), PcapError> {
    let directory = tempdir().unwrap();
    let path = directory.path().join("x.pcap");
    fs::write(&path, content).unwrap();
    let mut seen = Vec::new();
    let read = read(&path, &PcapOptions { role }, &mut Names::default(), &mut |exchange, names| {
        let Exchange { service, instance, client, protocol, status, .. } = *exchange;
        let texts = [Some(service), Some(instance), client, protocol, status];
        seen.push((*exchange, texts.map(|id| id.map(|id| names.text(id).to_owned()))));
    })?;
    Ok((read, seen))
}

fn ethernet(script: &Script) -> Vec<u8> {
    script.pcap(DataLink::ETHERNET, TsResolution::NanoSecond, 65_535)
}

/// The exchanges of a script, and what is unpaired.
fn exchanges(role: Role, script: &Script) -> (Vec<Exchange>, Vec<(String, u64)>) {
    let (read, seen) = read_as(role, &ethernet(script)).unwrap();
    (seen.into_iter().map(|(exchange, _)| exchange).collect(), read.provenance.unpaired.into_iter().collect())
}

fn microseconds(count: u64) -> Nanoseconds {
    Nanoseconds(count * 1_000)
}

#[test]
fn an_exchange_is_read_whole() {
    let (read, seen) = read_as(Role::Client, &ethernet(&one_exchange(ipv4()))).unwrap();
    assert_eq!(seen.len(), 1);
    let (exchange, texts) = &seen[0];
    assert_eq!(
        texts.each_ref().map(|text| text.as_deref().unwrap()),
        [":80", "192.0.2.1:80", "192.0.2.9", "http1", "503"]
    );
    assert_eq!(exchange.start, Timestamp(EPOCH + 10_000));
    assert_eq!(exchange.latency, microseconds(20));
    assert_eq!(exchange.complete, Some(microseconds(30)));
    assert_eq!(exchange.sent, Some(microseconds(0)));
    assert_eq!(exchange.request_bytes, Some(REQUEST.len() as u64));
    assert_eq!(exchange.response_bytes, Some(RESPONSE.len() as u64));
    assert_eq!((exchange.retransmits, exchange.connection), (Some(0), Some(1)));
    assert_eq!((exchange.outcome, exchange.role, exchange.failed), (Outcome::Ok, Role::Client, true));
    let window = Window { start: Timestamp(EPOCH), duration: microseconds(60), wall_offset_ns: Some(0) };
    assert_eq!(read.provenance, Provenance { window: Some(window), ..Provenance::of(SourceKind::Pcap) });
    assert_eq!(read.notes, Vec::<String>::new());
}

#[test]
fn every_link_type_and_format_tells_the_same() {
    for (script, kept) in [
        (one_exchange(ipv4()), 65_535),
        (one_exchange(Script::new("[2001:db8::9]:40000", "[2001:db8::1]:80")), 65_535),
        // Headers and the first bytes of the payload alone.
        (one_exchange(ipv4()), 20 + 20 + 20 + 12),
    ] {
        let (_, expected) = read_as(Role::Client, &ethernet(&script)).unwrap();
        assert_eq!(expected.len(), 1);
        for link in [
            DataLink::ETHERNET,
            DataLink::LINUX_SLL,
            DataLink::LINUX_SLL2,
            DataLink::RAW,
            DataLink::NULL,
            DataLink::LOOP,
        ] {
            for content in [
                script.pcap(link, TsResolution::MicroSecond, kept),
                script.pcap(link, TsResolution::NanoSecond, kept),
                script.pcapng(link, 6),
                script.pcapng(link, 9),
            ] {
                assert_eq!(read_as(Role::Client, &content).unwrap().1, expected, "{link:?}");
            }
        }
    }
}

#[test]
fn the_server_sees_the_same_times_here() {
    let (seen, unpaired) = exchanges(Role::Server, &one_exchange(ipv4()));
    assert_eq!((seen.len(), unpaired.len()), (1, 0));
    assert_eq!((seen[0].latency, seen[0].role), (microseconds(20), Role::Server));
}

#[test]
fn what_still_waits_at_the_end_is_pending() {
    let mut script = ipv4();
    script.handshake(0);
    script.segment(10, From::Client, 0, 1, 1, REQUEST);
    let mut other = Script::new("192.0.2.9:40001", "192.0.2.1:80");
    other.handshake(100);
    script.append(other);
    let (seen, unpaired) = exchanges(Role::Client, &script);
    assert_eq!((seen.len(), unpaired.len()), (1, 0));
    assert_eq!((seen[0].outcome, seen[0].latency), (Outcome::Pending, microseconds(92)));
    assert_eq!(seen[0].complete, None);
}

#[test]
fn what_is_complete_at_the_end_is_told() {
    let mut script = ipv4();
    script.handshake(0);
    script.segment(10, From::Client, 0, 1, 1, REQUEST);
    script.segment(30, From::Server, 0, 1, 1 + length(REQUEST), RESPONSE);
    let (seen, _) = exchanges(Role::Client, &script);
    assert_eq!((seen.len(), seen[0].outcome, seen[0].latency), (1, Outcome::Ok, microseconds(20)));
}

#[test]
fn a_new_handshake_on_the_same_ports_is_a_new_connection() {
    let mut script = one_exchange(ipv4());
    let mut again = ipv4();
    again.segment(70, From::Client, RST, 900, 1, b""); // a straggler
    again.syn(1_000, b"");
    script.append(again);
    let mut second = one_exchange(ipv4());
    second.segment(80, From::Server, RST, 500, 1, b"");
    // The same sequence numbers a second time are the first SYN again, not a new connection.
    script.append(second);
    let (seen, _) = exchanges(Role::Client, &script);
    assert_eq!(seen.len(), 1);

    let mut script = one_exchange(Script::new("192.0.2.9:40000", "192.0.2.1:80"));
    script.append(one_exchange(Script::new("192.0.2.9:40001", "192.0.2.1:80")));
    let (seen, _) = exchanges(Role::Client, &script);
    let connections: Vec<_> = seen.iter().map(|exchange| exchange.connection).collect();
    assert_eq!(connections, [Some(1), Some(2)]);
}

#[test]
fn a_reset_ends_the_wait() {
    let mut script = ipv4();
    script.handshake(0);
    script.segment(10, From::Client, 0, 1, 1, REQUEST);
    script.segment(25, From::Server, RST, 1, 1 + length(REQUEST), b"");
    script.segment(35, From::Server, 0, 1, 1, RESPONSE); // a straggler
    let (seen, unpaired) = exchanges(Role::Client, &script);
    assert_eq!((seen.len(), unpaired.len()), (1, 0));
    assert_eq!((seen[0].outcome, seen[0].latency), (Outcome::Reset, microseconds(15)));
}

#[test]
fn from_the_middle_on_the_lower_port_answers() {
    let (request, response) = (1 + length(REQUEST), 1 + length(RESPONSE));
    let mut script = ipv4();
    script.segment(0, From::Server, 0, 1, 1, RESPONSE);
    script.segment(10, From::Client, 0, 1, response, REQUEST);
    script.segment(30, From::Server, FIN, response, request, RESPONSE);
    let (seen, unpaired) = exchanges(Role::Client, &script);
    assert_eq!((seen.len(), seen[0].latency), (1, microseconds(20)));
    assert_eq!(unpaired, [("started-before".to_owned(), 1)]);
}

/// Fast Open: the request comes with the SYN, and the server takes it or leaves it.
#[test]
fn early_data_counts_where_it_was_accepted() {
    let request = 1 + length(REQUEST);
    for (accepted, server_start) in [(true, 0), (false, 20)] {
        let mut script = ipv4();
        script.syn(0, REQUEST);
        if accepted {
            script.segment(10, From::Server, script::SYN, 0, request, b"");
        } else {
            script.segment(10, From::Server, script::SYN, 0, 1, b"");
            script.segment(20, From::Client, 0, 1, 1, REQUEST);
        }
        script.segment(50, From::Server, FIN, 1, request, RESPONSE);
        let (seen, unpaired) = exchanges(Role::Client, &script);
        assert_eq!((seen.len(), unpaired.len()), (1, 0));
        // The client's request left with the SYN, whatever became of it.
        assert_eq!((seen[0].latency, seen[0].request_bytes), (microseconds(50), Some(REQUEST.len() as u64)));
        let (seen, unpaired) = exchanges(Role::Server, &script);
        assert_eq!((seen.len(), unpaired.len()), (1, 0));
        assert_eq!(seen[0].latency, microseconds(50 - server_start));
        assert_eq!(seen[0].request_bytes, Some(REQUEST.len() as u64));
    }
}

/// A receiver without room drops what comes, says so, and gets it again.
#[test]
fn a_response_that_was_refused_counts_when_it_comes_again() {
    let (request, response) = (1 + length(REQUEST), 1 + length(RESPONSE));
    for (said, latency, acknowledges) in [("refused", 70, 1), ("accepted", 20, response)] {
        let mut script = ipv4();
        script.handshake(0);
        script.segment(10, From::Client, 0, 1, 1, REQUEST);
        script.segment(30, From::Server, 0, 1, request, RESPONSE);
        script.segment(35, From::Client, 0, request, acknowledges, b"");
        script.segment(80, From::Server, 0, 1, request, RESPONSE);
        let (seen, _) = exchanges(Role::Client, &script);
        assert_eq!(
            (seen.len(), seen[0].latency, seen[0].retransmits),
            (1, microseconds(latency), Some(1)),
            "{said}"
        );
    }
}

#[test]
fn what_is_no_usable_capture_is_refused_in_one_sentence() {
    let script = one_exchange(ipv4());
    let whole = ethernet(&script);
    for (content, message) in [
        (Vec::new(), "is empty"),
        (b"start_ns,instance".to_vec(), "is no packet capture: it begins like neither pcap nor pcapng"),
        (vec![0xd4, 0xc3], "is no packet capture"),
        (whole[..whole.len() - 1].to_vec(), "is cut off after packet 7:"),
        (whole[..30].to_vec(), "is cut off after packet 0:"),
        (script.pcapng(DataLink::ETHERNET, 6)[..150].to_vec(), "is cut off after packet 0:"),
        (
            script.pcap(DataLink::IEEE802_11, TsResolution::MicroSecond, 65_535),
            "was captured on link type 105 (IEEE802_11), which is not supported: capture on Ethernet",
        ),
        (script.pcapng(DataLink::USER0, 6), "was captured on link type 147 (USER0), which is not supported"),
    ] {
        let error = read_as(Role::Client, &content).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let error =
        read(Path::new("missing.pcap"), &PcapOptions::default(), &mut Names::default(), &mut |_, _| {});
    assert!(error.unwrap_err().to_string().starts_with("cannot read 'missing.pcap': No such file"));
}

/// Damaged anywhere, a capture is refused or read; the reader never gives way.
#[test]
fn a_damaged_capture_never_breaks_the_reader() {
    let script = one_exchange(ipv4());
    for whole in [ethernet(&script), script.pcapng(DataLink::LINUX_SLL, 9)] {
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 0x55;
            let _ = read_as(Role::Client, &damaged);
        }
    }
}

#[test]
fn a_capture_without_tcp_is_noted() {
    let (read, seen) = read_as(Role::Client, &ethernet(&ipv4())).unwrap();
    assert!(seen.is_empty() && read.notes[0].contains("contains no TCP"), "{read:?}");
}

/// It may turn out to be an interim one.
#[test]
fn an_answer_that_is_cut_before_its_status_is_counted() {
    let mut script = ipv4();
    script.handshake(0);
    script.segment(10, From::Client, 0, 1, 1, REQUEST);
    script.segment(30, From::Server, 0, 1, 1 + length(REQUEST), &RESPONSE[..9]);
    script.segment(40, From::Server, 0, 10, 1 + length(REQUEST), &RESPONSE[9..]);
    assert_eq!(exchanges(Role::Client, &script), (vec![], vec![("overlapping".to_owned(), 1)]));
}
