//! Network addresses as both sides of the kernel border store them.

/// An IPv6 address, or an IPv4 one in its mapped form (`::ffff:a.b.c.d`), in network byte order.
///
/// Mapped addresses are the same as plain IPv4 ones everywhere in the product, so one form is enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Address {
    /// The four 32-bit words, each in network byte order as it lies in memory.
    pub words: [u32; 4],
}

impl Address {
    /// The mapped form of an IPv4 address whose word is in network byte order.
    #[inline(always)]
    pub const fn from_v4(word: u32) -> Self {
        Self { words: [0, 0, 0xffff_u32.to_be(), word] }
    }

    /// The standard library's type; mapped addresses become IPv4.
    pub fn to_ip(&self) -> core::net::IpAddr {
        let mut octets = [0; 16];
        let mut at = 0;
        for word in self.words {
            for octet in word.to_ne_bytes() {
                octets[at] = octet;
                at += 1;
            }
        }
        core::net::Ipv6Addr::from(octets).to_canonical()
    }

    /// From the standard library's type.
    pub const fn from_ip(ip: core::net::IpAddr) -> Self {
        let octets = match ip {
            core::net::IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
            core::net::IpAddr::V6(v6) => v6.octets(),
        };
        let mut words = [0; 4];
        let mut at = 0;
        while at < 4 {
            words[at] = u32::from_ne_bytes([
                octets[at * 4],
                octets[at * 4 + 1],
                octets[at * 4 + 2],
                octets[at * 4 + 3],
            ]);
            at += 1;
        }
        Self { words }
    }
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Endpoint {
    /// The address.
    pub address: Address,
    /// The port, in host byte order (32 bits wide so that the layout has no hole).
    pub port: u32,
}

impl Endpoint {
    /// The standard library's type, which prints as `192.0.2.1:80` or `[2001:db8::1]:80`.
    pub fn to_socket_addr(&self) -> core::net::SocketAddr {
        let [.., high, low] = self.port.to_be_bytes();
        core::net::SocketAddr::new(self.address.to_ip(), u16::from_be_bytes([high, low]))
    }

    /// From the standard library's type.
    pub const fn from_socket_addr(socket: core::net::SocketAddr) -> Self {
        Self { address: Address::from_ip(socket.ip()), port: socket.port() as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_print_as_people_write_them() {
        for text in ["192.0.2.1:80", "[2001:db8::1]:80", "127.0.0.1:65535"] {
            let socket = text.parse().unwrap();
            assert_eq!(Endpoint::from_socket_addr(socket).to_socket_addr().to_string(), text);
        }
        let mapped = "[::ffff:192.0.2.1]:80".parse().unwrap();
        assert_eq!(Endpoint::from_socket_addr(mapped).to_socket_addr().to_string(), "192.0.2.1:80");
        assert_eq!(Address::from_v4(u32::from_ne_bytes([192, 0, 2, 1])).to_ip().to_string(), "192.0.2.1");
    }
}
