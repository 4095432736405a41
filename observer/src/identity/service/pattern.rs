//! How a rule describes addresses and names.

use std::net::{IpAddr, SocketAddr};

use globset::GlobMatcher;
use ipnet::IpNet;
use observer_common::Endpoint;
use serde::Deserialize;

/// Addresses: a network (`10.1.0.0/16`), one address (`10.1.0.7`), or one with a port (`10.1.0.7:80`,
/// `[2001:db8::7]:80`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct AddressPattern {
    network: IpNet,
    port: Option<u16>,
}

/// A pattern of names, in which `*` stands for any text, dots included, and `?` for one character. Case is ignored.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Glob(GlobMatcher);

/// A pattern that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// It is no address.
    #[error(
        "'{0}' is no address: write a network such as '10.1.0.0/16', an address such as '10.1.0.7' or '2001:db8::7', \
         or one with a port such as '10.1.0.7:80' or '[2001:db8::7]:80'"
    )]
    Address(String),
    /// It is no glob.
    #[error("'{pattern}' is no pattern: {reason}; write a name such as 'db-*.example.com'")]
    Glob {
        /// What was written.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl AddressPattern {
    /// Whether the pattern describes this address and port.
    pub fn contains(&self, endpoint: Endpoint) -> bool {
        let socket = endpoint.to_socket_addr();
        self.network.contains(&socket.ip()) && self.port.is_none_or(|port| port == socket.port())
    }
}

impl TryFrom<String> for AddressPattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        // Addresses are compared in their plain form, so `::ffff:10.1.0.7` means the IPv4 one.
        let single = |ip: IpAddr, port| Self { network: IpNet::from(ip.to_canonical()), port };
        if let Ok(network) = text.parse::<IpNet>() {
            Ok(Self { network, port: None })
        } else if let Ok(socket) = text.parse::<SocketAddr>() {
            Ok(single(socket.ip(), Some(socket.port())))
        } else if let Ok(ip) = text.parse::<IpAddr>() {
            Ok(single(ip, None))
        } else {
            Err(PatternError::Address(text))
        }
    }
}

impl Glob {
    /// Whether the pattern matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl TryFrom<String> for Glob {
    type Error = PatternError;

    fn try_from(pattern: String) -> Result<Self, PatternError> {
        match globset::GlobBuilder::new(&pattern).case_insensitive(true).build() {
            Ok(glob) => Ok(Self(glob.compile_matcher())),
            Err(error) => Err(PatternError::Glob { reason: error.kind().to_string(), pattern }),
        }
    }
}
