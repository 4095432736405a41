//! What a forwarder's rule knows of a packet.

/// Which way a packet travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client's namespace to the server's.
    ToServer,
    /// Back.
    ToClient,
}

/// One TCP segment on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Which way it travels.
    pub direction: Direction,
    /// Its sequence number.
    pub sequence: u32,
    /// Its payload's length.
    pub length: u32,
    /// The TCP flags byte.
    pub flags: u8,
    /// Its number among the segments with payload in this direction, from 1; 0 where it has none.
    pub data: u32,
    /// Whether a segment with this sequence number and payload has passed before.
    pub again: bool,
}

impl Packet {
    const FIN: u8 = 0x01;
    const SYN: u8 = 0x02;
    const RST: u8 = 0x04;

    /// Reads the headers of an IPv4 packet that carries TCP.
    pub(super) fn parse(bytes: &[u8], direction: Direction) -> Option<Self> {
        let header = usize::from(*bytes.first()? & 0x0f) * 4;
        let total = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
        if bytes[0] >> 4 != 4 || *bytes.get(9)? != 6 {
            return None;
        }
        let tcp = bytes.get(header..total)?;
        let offset = usize::from(tcp.get(12)? >> 4) * 4;
        Some(Self {
            direction,
            sequence: u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
            length: u32::try_from(tcp.len().checked_sub(offset)?).ok()?,
            flags: *tcp.get(13)?,
            data: 0,
            again: false,
        })
    }

    /// Whether it carries no payload, SYN, FIN or RST.
    pub const fn is_pure_ack(&self) -> bool {
        self.length == 0 && self.flags & (Self::FIN | Self::SYN | Self::RST) == 0
    }

    /// Whether it opens the connection.
    pub const fn is_syn(&self) -> bool {
        self.flags & Self::SYN != 0
    }

    /// Whether it ends its direction.
    pub const fn is_fin(&self) -> bool {
        self.flags & Self::FIN != 0
    }

    /// Whether it ends the connection at once.
    pub const fn is_rst(&self) -> bool {
        self.flags & Self::RST != 0
    }
}
