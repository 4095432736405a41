//! A service that the configuration describes.

use serde::Deserialize;

use super::{AddressPattern, Facts, Glob};

/// One `[[service]]` of the configuration. A connection belongs to it where each kind of condition that is given
/// has one that matches; a rule without any matches nothing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The service's name.
    pub name: String,
    /// Addresses of instances, or what clients dial.
    #[serde(default)]
    pub addresses: Vec<AddressPattern>,
    /// Ports of instances, or the ones that clients dial.
    #[serde(default)]
    pub ports: Vec<u16>,
    /// Patterns of DNS names.
    #[serde(default)]
    pub names: Vec<Glob>,
    /// Patterns of the names of client processes.
    #[serde(default)]
    pub clients: Vec<Glob>,
    /// Protocols, named as in the exchange log.
    #[serde(default)]
    pub protocols: Vec<String>,
    /// Whether the addresses are virtual: several instances answer behind each.
    #[serde(default, rename = "virtual")]
    pub is_virtual: bool,
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
