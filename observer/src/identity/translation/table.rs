//! From a connection as its client sees it to the instance that answers.

use observer_common::Endpoint;

use super::{Change, Translation};
use crate::maps::Recent;

/// Connections kept: a host that translates more at once forgets the oldest.
const MOST_CONNECTIONS: usize = 65_536;

/// Virtual addresses remembered; clusters have a few thousand services.
const MOST_VIRTUAL: usize = 16_384;

/// The translated connections, and the virtual addresses that they showed.
#[derive(Debug, Default)]
pub struct Translations {
    /// From client and dialled address to the backend.
    connections: Recent<(Endpoint, Endpoint), Endpoint, MOST_CONNECTIONS>,
    /// Addresses that were ever translated. They outlive their connections, since a service does.
    virtual_addresses: Recent<Endpoint, (), MOST_VIRTUAL>,
}

impl Translations {
    /// Takes up an event.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::New(translation) => self.insert(translation),
            Change::Gone(translation) => self.remove(&translation),
        }
    }

    /// Takes up a connection.
    pub fn insert(&mut self, translation: Translation) {
        self.connections.insert((translation.client, translation.dialled), translation.backend);
        self.virtual_addresses.insert(translation.dialled, ());
    }

    fn remove(&mut self, translation: &Translation) {
        let connection = (translation.client, translation.dialled);
        // After an overrun, the end of an older connection may come behind the start of a newer one.
        if self.connections.peek(&connection) == Some(&translation.backend) {
            self.connections.remove(&connection);
        }
    }

    /// The instance that a client reaches: `client` as its socket is bound, `dialled` as it connected.
    pub fn backend(&self, client: Endpoint, dialled: Endpoint) -> Option<Endpoint> {
        self.connections.peek(&(client, dialled)).copied()
    }

    /// Whether some connection to this address was translated.
    pub fn is_virtual(&self, dialled: Endpoint) -> bool {
        self.virtual_addresses.peek(&dialled).is_some()
    }

    /// How many connections are known.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// Whether no connection is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
