//! From a connection as its client sees it to the instance that answers.

use lru::LruCache;
use observer_common::Endpoint;

use super::{Change, Translation};

/// Connections kept: a host that translates more at once forgets the oldest.
const MOST_CONNECTIONS: usize = 65_536;

/// Virtual addresses remembered; clusters have a few thousand services.
const MOST_VIRTUAL: usize = 16_384;

/// The translated connections, and the virtual addresses that they showed.
#[derive(Debug)]
pub struct Translations {
    /// From client and dialled address to the backend.
    connections: LruCache<(Endpoint, Endpoint), Endpoint>,
    /// Addresses that were ever translated. They outlive their connections, since a service does.
    virtual_addresses: LruCache<Endpoint, ()>,
}

impl Default for Translations {
    fn default() -> Self {
        Self { connections: LruCache::unbounded(), virtual_addresses: LruCache::unbounded() }
    }
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
        self.connections.put((translation.client, translation.dialled), translation.backend);
        self.virtual_addresses.put(translation.dialled, ());
        while self.connections.len() > MOST_CONNECTIONS {
            self.connections.pop_lru();
        }
        while self.virtual_addresses.len() > MOST_VIRTUAL {
            self.virtual_addresses.pop_lru();
        }
    }

    fn remove(&mut self, translation: &Translation) {
        let connection = (translation.client, translation.dialled);
        // After an overrun, the end of an older connection may come behind the start of a newer one.
        if self.connections.peek(&connection) == Some(&translation.backend) {
            self.connections.pop(&connection);
        }
    }

    /// The instance that a client reaches: `client` as its socket is bound, `dialled` as it connected.
    pub fn backend(&self, client: Endpoint, dialled: Endpoint) -> Option<Endpoint> {
        self.connections.peek(&(client, dialled)).copied()
    }

    /// Whether some connection to this address was translated.
    pub fn is_virtual(&self, dialled: Endpoint) -> bool {
        self.virtual_addresses.contains(&dialled)
    }

    /// How many connections are known.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// Whether no connection is known.
    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }
}
