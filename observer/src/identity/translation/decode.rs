//! From conntrack's netlink messages to translations.

use std::net::{IpAddr, SocketAddr};

use netlink_packet_netfilter::{
    NetfilterMessage, NetfilterMessageInner,
    conntrack::{ConntrackAttribute, ConntrackMessage, IPTuple, ProtoTuple, Protocol, Tuple},
};
use observer_common::Endpoint;

use super::{Change, Translation};

/// The change that a message tells of; nothing where it is no TCP, or where nobody changed the destination.
pub(super) fn change(message: &NetfilterMessage) -> Option<Change> {
    let NetfilterMessageInner::Conntrack(message) = &message.inner else { return None };
    match message {
        ConntrackMessage::New(attributes) => translation(attributes).map(Change::New),
        ConntrackMessage::Delete(attributes) => translation(attributes).map(Change::Gone),
        _ => None,
    }
}

fn translation(attributes: &[ConntrackAttribute]) -> Option<Translation> {
    let mut original = None;
    let mut reply = None;
    for attribute in attributes {
        match attribute {
            ConntrackAttribute::CtaTupleOrig(tuple) => original = flow(tuple),
            ConntrackAttribute::CtaTupleReply(tuple) => reply = flow(tuple),
            _ => {}
        }
    }
    let (client, dialled) = original?;
    let (backend, _) = reply?;
    (backend != dialled).then_some(Translation { client, dialled, backend })
}

/// Source and destination of one direction of a TCP connection.
fn flow(tuples: &[Tuple]) -> Option<(Endpoint, Endpoint)> {
    let mut tcp = false;
    let (mut source, mut destination): (Option<IpAddr>, Option<IpAddr>) = (None, None);
    let (mut source_port, mut destination_port) = (None, None);
    for tuple in tuples {
        match tuple {
            Tuple::Ip(parts) => {
                for part in parts {
                    match part {
                        IPTuple::SourceAddress(address) => source = Some(*address),
                        IPTuple::DestinationAddress(address) => destination = Some(*address),
                        _ => {}
                    }
                }
            }
            Tuple::Proto(parts) => {
                for part in parts {
                    match part {
                        ProtoTuple::Protocol(protocol) => tcp = *protocol == Protocol::Tcp,
                        ProtoTuple::SourcePort(port) => source_port = Some(*port),
                        ProtoTuple::DestinationPort(port) => destination_port = Some(*port),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let source = Endpoint::from_socket_addr(SocketAddr::new(source?, source_port?));
    let destination = Endpoint::from_socket_addr(SocketAddr::new(destination?, destination_port?));
    tcp.then_some((source, destination))
}
