//! Which service an instance belongs to.
//!
//! A service is a set of instances that a client uses interchangeably. Services form by themselves, from what the
//! client asked for:
//!
//! 1. the name that it resolved, with the port: `redis.example.com:6379`;
//! 2. else the virtual address that it dialled: `10.96.0.10:6379`;
//! 3. else the port alone: `:6379`, for a client that dials its instances' own addresses.
//!
//! The client and the protocol tell services apart besides; they are fields of an exchange, not part of the name.
//! Where this guesses wrong, a [`Rule`] of the configuration says better; the first that matches counts.

mod location;
mod pattern;
mod rule;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use observer_common::Endpoint;

pub use self::{
    location::{Location, Reach, locate},
    pattern::{AddressPattern, Glob, PatternError},
    rule::{Rule, RuleError},
};

/// What is known about a connection.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The name of the process that asks.
    pub client: Option<&'a str>,
    /// Who answers.
    pub instance: Endpoint,
    /// What the client dialled; the instance itself, where this host is the server.
    pub dialled: Endpoint,
    /// The name that led to the dialled address.
    pub dns_name: Option<&'a str>,
    /// The protocol's name, as in the exchange log.
    pub protocol: Option<&'a str>,
    /// Whether the dialled address is virtual ([`Reach::Unresolved`] included).
    pub is_virtual: bool,
}

/// Gives instances to services.
#[derive(Clone, Debug, Default)]
pub struct Services {
    rules: Vec<Rule>,
}

impl Services {
    /// Services by these rules, and by themselves where none matches.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules }
    }

    /// The name of the service that a connection goes to.
    pub fn name(&self, facts: &Facts<'_>) -> Cow<'_, str> {
        if let Some(rule) = self.rules.iter().find(|rule| rule.matches(facts)) {
            return Cow::Borrowed(&rule.name);
        }
        let port = facts.dialled.port;
        Cow::Owned(match facts.dns_name {
            Some(name) => format!("{name}:{port}"),
            None if facts.is_virtual || facts.dialled != facts.instance => {
                facts.dialled.to_socket_addr().to_string()
            }
            None => format!(":{port}"),
        })
    }

    /// Whether the configuration says that an address is virtual.
    pub fn is_virtual(&self, dialled: Endpoint) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.is_virtual && rule.addresses.iter().any(|known| known.contains(dialled)))
    }
}
