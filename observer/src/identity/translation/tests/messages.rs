//! Events as Linux 6.18 sent them.

use netlink_packet_core::NetlinkPayload;
use netlink_packet_netfilter::NetfilterMessage;
use observer_common::Endpoint;
use proptest::prelude::*;

use super::super::{Change, Translation, decode};
use crate::identity::netlink::messages;

const NEW_V4: &str = "\
    c4000000000100060000000000000000020000003400018014000180080001000ae7010208000200c63364011c0002800500010006000000\
    06000200e01c000006000300005000003400028014000180080001000ae70202080002000ae701021c000280050001000600000006000200\
    1f90000006000300e01c000008000c0093f984ec08000300000001a80800070000000078300004802c000180050001000100000005000200\
    0a000000050003000000000006000400030000000600050000000000";
const DESTROYED_V4: &str = "\
    9c000000020100000000000000000000020000003400018014000180080001000ae7010208000200c63364011c0002800500010006000000\
    06000200e01c000006000300005000003400028014000180080001000ae70202080002000ae701021c000280050001000600000006000200\
    1f90000006000300e01c000008000c0093f984ec08000300000003ae100004800c0001800500010008000000";
const NEW_V6: &str = "\
    f40000000001000600000000000000000a0000004c0001802c0001801400030020010db80231000000000000000000021400040020010db8\
    0001000000000000000000011c000280050001000600000006000200b204000006000300005000004c0002802c0001801400030020010db8\
    0232000000000000000000021400040020010db80231000000000000000000021c0002800500010006000000060002001f90000006000300\
    b204000008000c005379d19108000300000001a80800070000000078300004802c00018005000100010000000500020\
    00a000000050003000000000006000400030000000600050000000000";
const NEW_UDP: &str = "\
    94000000000100060000000000000000020000003400018014000180080001000ae7010208000200c63364011c0002800500010011000000\
    06000200a50d000006000300003500003400028014000180080001000ae70202080002000ae701021c000280050001001100000006000200\
    0035000006000300a50d000008000c00a38a521708000300000001a8080007000000001e";

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> = hexadecimal.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn changes(datagram: &[u8]) -> Vec<Change> {
    let payloads =
        messages::<NetfilterMessage>(datagram).map_while(Result::ok).map(|message| message.payload);
    let inner = payloads.filter_map(|payload| match payload {
        NetlinkPayload::InnerMessage(message) => Some(message),
        _ => None,
    });
    inner.filter_map(|message| decode::change(&message)).collect()
}

fn translation(client: &str, dialled: &str, backend: &str) -> Translation {
    let [client, dialled, backend] =
        [client, dialled, backend].map(|text| Endpoint::from_socket_addr(text.parse().unwrap()));
    Translation { client, dialled, backend }
}

#[test]
fn events_tell_translations() {
    let v4 = translation("10.231.1.2:57372", "198.51.100.1:80", "10.231.2.2:8080");
    let v6 = translation("[2001:db8:231::2]:45572", "[2001:db8:1::1]:80", "[2001:db8:232::2]:8080");
    assert_eq!(changes(&bytes(NEW_V4)), [Change::New(v4)]);
    assert_eq!(changes(&bytes(DESTROYED_V4)), [Change::Gone(v4)]);
    assert_eq!(changes(&bytes(NEW_V6)), [Change::New(v6)]);
    let several = [NEW_V4, NEW_UDP, NEW_V6].map(bytes).concat();
    assert_eq!(changes(&several), [Change::New(v4), Change::New(v6)], "UDP is left out");
}

#[test]
fn a_connection_that_nobody_translates_is_none() {
    let mut plain = bytes(NEW_V4);
    // The reply's source becomes what the client dialled.
    let reply = plain.windows(4).position(|address| address == [10, 231, 2, 2]).unwrap();
    plain[reply..reply + 4].copy_from_slice(&[198, 51, 100, 1]);
    let port = plain.windows(2).position(|port| port == 8080_u16.to_be_bytes()).unwrap();
    plain[port..port + 2].copy_from_slice(&80_u16.to_be_bytes());
    assert_eq!(changes(&plain), []);
}

proptest! {
    #[test]
    fn damaged_messages_do_no_harm(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        length in any::<prop::sample::Index>(),
    ) {
        let mut damaged = bytes(NEW_V4);
        for (at, value) in damage {
            let at = at.index(damaged.len());
            damaged[at] = value;
        }
        damaged.truncate(length.index(damaged.len()) + 1);
        prop_assert!(changes(&damaged).len() <= 1);
    }
}
