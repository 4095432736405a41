//! Where a connection really ends.

use observer_common::Endpoint;

use super::Services;
use crate::identity::translation::Translations;

/// How an instance's address was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// The client dialled the instance itself.
    Direct,
    /// The client dialled a virtual address, and the instance behind it is known.
    Translated,
    /// The client dialled a virtual address, and which instance answered is not known: several look like one.
    Unresolved,
}

/// A connection's other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The instance, or the virtual address where it is unresolved.
    pub instance: Endpoint,
    /// How it was found out.
    pub reach: Reach,
}

impl Location {
    /// Whether the client dialled a virtual address.
    pub fn is_virtual(self) -> bool {
        self.reach != Reach::Direct
    }
}

/// Where the connection from `client` (as its socket is bound) to `dialled` ends, whose packets go to `remote`.
///
/// One connection alone never shows that its address is virtual: translated elsewhere, it looks like any other. So
/// an address counts as virtual where connection tracking translated some connection to it, or where the
/// configuration says `virtual = true`. A connection to such an address without a translation of its own is
/// unresolved: it may be older than the tool, its event may be lost, or its source was translated first. An
/// address that is virtual for some clients and real for others is taken for virtual, which costs verdicts, not truth.
pub fn locate(
    client: Endpoint,
    dialled: Endpoint,
    remote: Endpoint,
    translations: &Translations,
    services: &Services,
) -> Location {
    // Packets already translated in the socket's own namespace can be translated again on their way.
    if let Some(instance) = translations.backend(client, remote) {
        return Location { instance, reach: Reach::Translated };
    }
    let reach = if translations.is_virtual(remote) || services.is_virtual(remote) {
        Reach::Unresolved
    } else if remote == dialled {
        Reach::Direct
    } else {
        Reach::Translated
    };
    Location { instance: remote, reach }
}
