//! What is remembered of one connection, in the kernel as the value of the socket storage map.

use crate::{AtHand, Heads, Kept, Parties, Protocol, Timestamp, TlsStage, Walker};

/// The kernel's `struct bpf_spin_lock`. The verifier finds it by this very name.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct bpf_spin_lock {
    /// Opaque.
    pub val: u32,
}

/// Guards what both directions change; see [`Connection::lock`].
pub type SpinLock = bpf_spin_lock;

/// Which side of the connection the observed socket is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u8)]
pub enum Role {
    /// Nothing is known yet; nothing is paired.
    #[default]
    Unknown = 0,
    /// It opened the connection: requests leave, responses arrive.
    Client = 1,
    /// It accepted the connection: requests arrive, responses leave.
    Server = 2,
    /// It is not observed.
    Ignored = 3,
}

impl Role {
    /// The name in reports and recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Client => "client",
            Self::Server => "server",
            Self::Ignored => "ignored",
        }
    }
}

/// Where the conversation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u8)]
pub enum Phase {
    /// Nothing is asked.
    #[default]
    Idle = 0,
    /// Request bytes were seen, no response byte yet.
    Requesting = 1,
    /// Response bytes were seen.
    Responding = 2,
    /// Observed from the middle on: nothing is certain before a response is followed by a request.
    Unsynchronised = 3,
    /// As above, and a response was seen.
    Synchronising = 4,
    /// The payload carries several conversations at once or none: its turns are counted, not paired.
    Opaque = 5,
}

/// What is known of the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u8)]
pub enum Peer {
    /// Nothing yet.
    #[default]
    Unknown = 0,
    /// [`Connection::parties`] are written.
    Known = 1,
    /// They are, and it is a name server.
    NameServer = 2,
}

/// One connection.
///
/// Egress and ingress programs of one socket run at the same time on two processors, and ingress even with
/// itself: what both change, they change only under `lock`. The parties are written once, before the first payload;
/// `read` and `read_number` only by the reading process; heads and how much of them is kept by whoever has just begun a
/// request or a response; each walker by whoever has claimed it, and with the arriving one what lies in the place of the
/// request's head once frames are followed.
///
/// A line of memory that two processors write travels between them, which takes longer than all that is computed here.
/// So the order of the fields follows who writes them: the kernel places the first one 8 bytes into a line of 64.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Connection {
    // The first line: also all that the reading process needs.
    /// Guards what both directions change.
    pub lock: SpinLock,
    /// The protocol, as recognised so far.
    pub protocol: Protocol,
    /// Where the conversation stands.
    pub phase: Phase,
    /// Bits of [`Connection`]'s `*_KNOWN` and further flags.
    pub flags: u8,
    /// How far TLS has come.
    pub tls: TlsStage,
    /// The number of the current exchange, from 1.
    pub number: u32,
    /// Which exchange `read` belongs to.
    pub read_number: u32,
    /// When the reading process first looked at the response of exchange `read_number`.
    pub read: Timestamp,
    /// When the requesting side said that it is done, during the current exchange.
    pub requester_done: Timestamp,
    /// Sequence number behind the last byte sent.
    pub sent_next: u32,
    /// Sequence number behind the last byte received in order.
    pub received_next: u32,
    /// Sequence number behind the last byte received at all.
    pub received_end: u32,
    /// Sequence number of the current request's first byte.
    pub request_sequence: u32,
    /// Segments seen again during the current exchange.
    pub retransmits: u32,
    /// The protocol's status of the current response, 0 before it is known.
    pub status: u16,
    /// How much of `heads` is valid.
    pub kept: Kept,

    // The second line.
    /// First request byte.
    pub start: Timestamp,
    /// Last request byte.
    pub sent: Timestamp,
    /// First response byte that could be read.
    pub first: Timestamp,
    /// Last response byte.
    pub last: Timestamp,
    /// Payload of the current request.
    pub request_bytes: u64,
    /// Payload of the current response.
    pub response_bytes: u64,
    /// The segment that is taken in.
    pub at_hand: AtHand,

    // The third one is what the response begins with.
    /// What the current request and its response begin with.
    pub heads: Heads,

    // Hardly ever written: every processor may keep it.
    /// Which side this socket is.
    pub role: Role,
    /// What is known of the other end.
    pub peer: Peer,
    /// What is doubtful about what the side that asks has said: bits of [`Connection`]'s, see `doubts`.
    pub asking: u8,
    /// The same of the side that answers.
    pub answering: u8,
    /// Sequence number of the FIN that came before data that it follows.
    pub fin_sequence: u32,
    /// Who talks to whom.
    pub parties: Parties,
    /// Where the frames stand that leave.
    pub leaving: Walker,
    /// Where the frames stand that arrive.
    pub arriving: Walker,
}

/// How far into a line of memory the kernel places a socket's storage (`struct bpf_local_storage_data`).
const STORAGE_OFFSET: usize = 8;
/// Bytes in a line of memory.
const LINE: usize = 64;
const _: () = {
    assert!((STORAGE_OFFSET + core::mem::offset_of!(Connection, start)) == LINE);
    assert!((STORAGE_OFFSET + core::mem::offset_of!(Connection, heads)) == 2 * LINE);
    assert!((STORAGE_OFFSET + core::mem::offset_of!(Connection, role)) == 5 * LINE);
};

/// Kernel memory of a socket has its price: no more than this, streams of HTTP/2 included.
const _: () = assert!(size_of::<Connection>() <= 512);

impl Connection {
    /// `sent_next` is valid.
    pub(crate) const SENT_KNOWN: u8 = 1;
    /// `received_next` is valid.
    pub(crate) const RECEIVED_KNOWN: u8 = 1 << 1;
    /// Data arrived ahead of a gap.
    pub(crate) const GAP: u8 = 1 << 2;
    /// The current exchange is not a certain pair.
    pub(crate) const OVERLAPPING: u8 = 1 << 3;
    /// Data came unasked since the last request; counted once.
    pub(crate) const PUSHED: u8 = 1 << 4;
    /// A FIN arrived ahead of data; `fin_sequence` is valid.
    pub(crate) const FIN_WAITS: u8 = 1 << 5;
    /// More than one request was under way at once: no pair of this connection is certain any more.
    pub(crate) const PIPELINED: u8 = 1 << 6;
    /// The last payload of an opaque connection came from the requesting side.
    pub(crate) const ASKED: u8 = 1 << 7;

    /// A connection seen from its handshake on.
    #[inline(always)]
    pub fn open(&mut self, role: Role) {
        self.role = role;
        self.phase = Phase::Idle;
    }

    /// A connection seen from the middle on.
    #[inline(always)]
    pub fn open_in_the_middle(&mut self, role: Role) {
        self.role = role;
        self.phase = Phase::Unsynchronised;
        // The exchange that was under way.
        self.number = 1;
    }

    /// What the handshake fixed: the sequence numbers of the next byte in either direction. Data that came with
    /// the handshake has told them already.
    #[inline(always)]
    pub fn established(&mut self, sent_next: u32, received_next: u32) {
        if self.flags & Self::SENT_KNOWN == 0 {
            self.sent_next = sent_next;
        }
        if self.flags & Self::RECEIVED_KNOWN == 0 {
            self.received_next = received_next;
            self.received_end = received_next;
        }
        self.flags |= Self::SENT_KNOWN | Self::RECEIVED_KNOWN;
    }

    /// The socket starts a new connection: nothing of the conversation before counts.
    #[inline(always)]
    pub fn forget(&mut self) {
        self.flags = 0;
        self.protocol = Protocol::Unknown;
        self.peer = Peer::Unknown;
        self.tls = TlsStage::None;
        self.asking = 0;
        self.answering = 0;
    }

    /// Whether the current exchange, if there is one, is a certain pair so far.
    pub const fn is_certain(&self) -> bool {
        self.is_observed() && self.flags & Self::OVERLAPPING == 0 && self.answering & Self::HIDDEN_ANSWER == 0
    }

    /// Whether the conversation is paired at all.
    #[inline(always)]
    pub const fn is_observed(&self) -> bool {
        matches!(self.role, Role::Client | Role::Server)
    }
}
