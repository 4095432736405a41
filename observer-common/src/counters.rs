//! Everything that is not a certain pair, and everything that was lost, is counted.

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident = $index:literal, $text:literal;)+) => {
        /// Why payload did not become an exchange, or what was lost. The index of a per-CPU counter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum Reason {
            $($(#[doc = $doc])+ $name = $index,)+
        }

        impl Reason {
            /// All of them, in the order of their index.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The reason at an index of the counters.
            pub const fn at(index: usize) -> Option<Self> {
                if index < Self::ALL.len() { Some(Self::ALL[index]) } else { None }
            }

            /// The name in reports and metrics.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// One sentence for people.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii_start(),)+ }
            }
        }
    };
}

reasons! {
    /// An exchange was emitted.
    Emitted = 0, "emitted";
    /// The ring buffer was full: the exchange was certain and is lost.
    RingFull = 1, "ring-full";
    /// The kernel had no memory for a connection's state: its exchanges are lost.
    StorageFailed = 2, "storage-failed";
    /// The response is older than its request by the clocks of two processors.
    NegativeDuration = 3, "negative-duration";
    /// Data came from the responding side while nothing was asked.
    Push = 4, "push";
    /// Requests and responses overlap, so that no pair is certain.
    Overlapping = 5, "overlapping";
    /// The exchange began before the connection was observed.
    StartedBefore = 6, "started-before";
    /// A turn of a TLS connection that tells no request from a handshake.
    Tls = 7, "tls";
    /// A turn of an HTTP/2 connection whose frames could not be followed.
    Http2 = 8, "http2";
    /// A turn of a connection that switched protocols.
    Upgraded = 9, "upgraded";
    /// The packet's headers could not be read (extension headers, fragments).
    Unreadable = 10, "unreadable";
    /// A message that starts a connection (login, encryption) and asks nothing of the service.
    Handshake = 11, "handshake";
    /// A message that has no answer by its protocol.
    Unanswered = 12, "unanswered";
    /// An exchange of more than one message in a direction, which has no single latency.
    Streaming = 13, "streaming";
}

/// How many counters there are.
pub const COUNTERS: usize = 14;

/// One processor's counters, indexed by [`Reason`].
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "host", derive(zerocopy::FromBytes, zerocopy::Immutable, zerocopy::KnownLayout))]
#[repr(C)]
pub struct Counters {
    /// The counts.
    pub counts: [u64; COUNTERS],
}
