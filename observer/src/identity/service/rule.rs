//! A service that the configuration describes.

use std::{borrow::Cow, num::NonZeroU16};

use serde::{Deserialize, Deserializer, de::Error as _};

use super::{AddressPattern, Facts, Glob};
use crate::printable::printable;

/// One `[[service]]` of the configuration. A connection belongs to it where each kind of condition that is given
/// has one that matches.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Written")]
pub struct Rule {
    /// The service's name.
    pub name: String,
    /// Addresses of instances, or what clients dial.
    pub addresses: Vec<AddressPattern>,
    /// Ports of instances, or the ones that clients dial.
    pub ports: Vec<u16>,
    /// Patterns of DNS names.
    pub names: Vec<Glob>,
    /// Patterns of the names of client processes.
    pub clients: Vec<Glob>,
    /// Protocols, named as in the exchange log.
    pub protocols: Vec<String>,
    /// Whether the addresses are virtual: several instances answer behind each.
    pub is_virtual: bool,
}

/// A rule as it is written, before it is looked at.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(deserialize_with = "name")]
    name: String,
    #[serde(default)]
    addresses: Vec<AddressPattern>,
    #[serde(default)]
    ports: Vec<NonZeroU16>,
    #[serde(default)]
    names: Vec<Glob>,
    #[serde(default)]
    clients: Vec<Glob>,
    #[serde(default)]
    protocols: Vec<String>,
    #[serde(default, rename = "virtual")]
    is_virtual: bool,
}

/// A rule that cannot be meant.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// Nobody can be told apart by such a name.
    #[error("the service has an empty name; give it one")]
    NoName,
    /// It would spoil what it is printed on.
    #[error("the service's name '{0}' has characters that do not print; leave them out")]
    Unprintable(String),
    /// It would match nothing.
    #[error(
        "the service '{0}' matches nothing; give it at least one of addresses, ports, names, clients and protocols"
    )]
    NoCondition(String),
}

/// A name that can be told and printed.
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name.trim().is_empty() {
        return Err(D::Error::custom(RuleError::NoName));
    }
    match printable(&name) {
        Cow::Borrowed(_) => Ok(name),
        Cow::Owned(shown) => Err(D::Error::custom(RuleError::Unprintable(shown))),
    }
}

impl TryFrom<Written> for Rule {
    type Error = RuleError;

    fn try_from(written: Written) -> Result<Self, RuleError> {
        let Written { name, addresses, ports, names, clients, protocols, is_virtual } = written;
        let nothing = addresses.is_empty()
            && ports.is_empty()
            && names.is_empty()
            && clients.is_empty()
            && protocols.is_empty();
        if nothing {
            return Err(RuleError::NoCondition(name));
        }
        let ports = ports.into_iter().map(NonZeroU16::get).collect();
        Ok(Self { name, addresses, ports, names, clients, protocols, is_virtual })
    }
}

impl Rule {
    /// Whether a connection belongs to the service.
    pub(super) fn matches(&self, facts: &Facts<'_>) -> bool {
        let conditions = [
            condition(&self.addresses, |known| {
                known.contains(facts.instance) || known.contains(facts.dialled)
            }),
            condition(&self.ports, |port| {
                let port = u32::from(*port);
                port == facts.instance.port || port == facts.dialled.port
            }),
            condition(&self.names, |glob| facts.dns_name.is_some_and(|name| glob.matches(name))),
            condition(&self.clients, |glob| facts.client.is_some_and(|client| glob.matches(client))),
            condition(&self.protocols, |protocol| facts.protocol == Some(protocol)),
        ];
        let mut given = conditions.into_iter().flatten().peekable();
        given.peek().is_some() && given.all(|met| met)
    }
}

/// Whether one of the values matches; nothing where none is given.
fn condition<T>(values: &[T], matches: impl Fn(&T) -> bool) -> Option<bool> {
    (!values.is_empty()).then(|| values.iter().any(matches))
}
