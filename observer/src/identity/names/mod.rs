//! The names that people asked for, from DNS answers seen on the wire.

mod answer;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use observer_common::Address;

use self::answer::Answer;
use crate::maps::Recent;

/// Addresses kept; the one that was answered longest ago goes first.
const MOST_ADDRESSES: usize = 10_000;

/// Hosts kept that stand for a service (SRV targets).
const MOST_TARGETS: usize = 10_000;

/// The longest name, as text (RFC 1035, 2.3.4). Only binary labels are longer, which no host has.
const LONGEST_NAME: usize = 253;

/// Names kept for one address; a shared front end has many.
const MOST_NAMES: usize = 8;

/// Which name leads to which address.
///
/// An address has the name that was asked for, not the canonical one behind it: `db.example.com`, though a CNAME
/// leads to `node-17.provider.net`. A name stays beyond its time to live, since connections do too; the latest
/// answer wins. A host that stands for a service (SRV) has the service's name, as long as it is not asked for by
/// another service's: one host of two services has the name of the one that was asked for last.
#[derive(Debug, Default)]
pub struct DnsNames {
    addresses: Recent<Address, Vec<Arc<str>>, MOST_ADDRESSES>,
    /// From the target of an SRV record to the service that was asked for.
    targets: Recent<Arc<str>, Arc<str>, MOST_TARGETS>,
}

impl DnsNames {
    /// Learns from one DNS message as UDP carries it (over TCP without the two bytes of length),
    /// and returns how many addresses it named. `truncated` says that the capture cut it; then its complete records count.
    ///
    /// Only answers without an error teach anything; whatever else comes in is ignored.
    pub fn learn(&mut self, message: &[u8], truncated: bool) -> usize {
        let Some(answer) = Answer::parse(message, truncated) else { return 0 };
        let Some(asked) = normal(&answer.question) else { return 0 };
        for target in answer.targets().iter().filter_map(normal) {
            if target != asked {
                self.targets.insert(target, Arc::clone(&asked));
            }
        }
        // Whoever asks for a target's address goes on to the service that named it.
        let name = self.targets.peek(&asked).cloned().unwrap_or(asked);
        let mut learned = 0;
        for address in answer.addresses() {
            self.name(address, &name);
            learned += 1;
        }
        learned
    }

    /// The name that was asked for last among those that led to the address.
    pub fn name_of(&self, address: Address) -> Option<&str> {
        self.names_of(address).next()
    }

    /// The names that led to the address, the one answered last first.
    fn names_of(&self, address: Address) -> impl Iterator<Item = &str> {
        self.addresses.peek(&address).into_iter().flatten().map(|name| &**name)
    }

    fn name(&mut self, address: Address, name: &Arc<str>) {
        let names = self.addresses.get_or_default(address);
        names.retain(|known| known != name);
        names.truncate(MOST_NAMES - 1);
        names.insert(0, Arc::clone(name));
    }
}

/// Lower case, without the dot of the root. Bytes that a terminal could mistake for commands come out escaped.
/// The root itself names nothing.
fn normal(name: &impl std::fmt::Display) -> Option<Arc<str>> {
    let mut text = name.to_string();
    text.make_ascii_lowercase();
    let text = text.trim_end_matches('.');
    (!text.is_empty() && text.len() <= LONGEST_NAME).then(|| Arc::from(text))
}
