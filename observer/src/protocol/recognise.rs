//! Which protocol a turn is of, where its bytes leave no doubt.

use observer_common::Protocol;

use super::{Turn, http1, kind::Kind, memcached, mysql, postgresql, redis};

/// The protocol that a turn is of; nothing where it might be another.
pub(super) fn kind(turn: &Turn<'_>) -> Option<Kind> {
    if turn.request.is_empty() {
        return None;
    }
    // Change of cipher, alert, handshake, data (RFC 8446, section 5.1), both ways.
    let is_record = |bytes: &[u8]| matches!(bytes, [0x14..=0x17, 0x03, 0..=4, ..]);
    if turn.protocol == Protocol::Tls
        || (is_record(turn.request)
            && (is_record(turn.response) || !turn.answered)
            && turn.request.len() >= 5)
    {
        return Some(Kind::Tls);
    }
    if http1::recognise(turn) {
        return Some(Kind::Http1);
    }
    if redis::recognise(turn) {
        return Some(Kind::Redis);
    }
    if memcached::recognise(turn) {
        return Some(Kind::Memcached);
    }
    if postgresql::recognise(turn) {
        return Some(Kind::PostgreSql);
    }
    mysql::recognise(turn).then_some(Kind::MySql)
}
