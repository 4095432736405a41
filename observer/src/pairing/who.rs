//! Who talks to whom, in the words of people.

use observer_common::{COMM_LENGTH, Endpoint, Parties, Role, Timestamp};

use super::cgroup;
use crate::{
    exchange::{NameId, Names},
    identity::{
        Cgroups, Change, DnsNames, Facts, Processes, Reach, Services, Translations, describe, locate,
    },
    maps::Recent,
};

/// How many connections are remembered with their names.
const MOST_CONNECTIONS: usize = 65_536;

/// What is called how, and what was learnt about that so far.
#[derive(Debug, Default)]
pub struct Who {
    services: Services,
    dns: DnsNames,
    translations: Translations,
    cgroups: Option<Cgroups>,
    processes: Processes,
    known: Recent<u64, Known, MOST_CONNECTIONS>,
    /// Whether a client without a known process is called by its address.
    clients_by_address: bool,
    /// Counts what was learnt: names found before that may be better now.
    learnt: u64,
}

/// The names of one connection's exchanges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) service: NameId,
    pub(super) instance: NameId,
    pub(super) client: Option<NameId>,
    pub(super) comm: Option<NameId>,
    pub(super) cgroup: Option<NameId>,
    pub(super) service_address: Option<NameId>,
    pub(super) pid: Option<u32>,
    parties: Parties,
    protocol: Option<&'static str>,
    learnt: u64,
}

impl Who {
    /// With what the host told at the beginning.
    pub fn new(services: Services, processes: Processes, cgroups: Option<Cgroups>) -> Self {
        Self { services, cgroups, processes, ..Self::default() }
    }

    /// For a capture, which knows no processes: clients are called by their addresses.
    pub fn by_address() -> Self {
        Self { clients_by_address: true, ..Self::default() }
    }

    /// A name server has answered.
    pub fn hear(&mut self, message: &[u8], truncated: bool) {
        if self.dns.learn(message, truncated) != 0 {
            self.learnt += 1;
        }
    }

    /// Connection tracking has told something.
    pub fn translate(&mut self, change: Change) {
        self.translations.apply(change);
        self.learnt += 1;
    }

    /// Whether a connection was named before.
    pub(super) fn knows(&self, connection: u64) -> bool {
        self.known.peek(&connection).is_some()
    }

    /// The names of a connection's exchanges.
    pub(super) fn names(
        &mut self,
        role: Role,
        parties: &Parties,
        protocol: Option<&'static str>,
        now: Timestamp,
        names: &mut Names,
    ) -> Known {
        // A socket may be connected anew, and its process become known.
        if let Some(known) = self.known.get(&parties.connection)
            && known.parties == *parties
            && known.protocol == protocol
            && known.learnt == self.learnt
        {
            return *known;
        }
        let known = self.find(role, parties, protocol, now, names);
        self.known.insert(parties.connection, known);
        known
    }

    fn find(
        &mut self,
        role: Role,
        parties: &Parties,
        protocol: Option<&'static str>,
        now: Timestamp,
        names: &mut Names,
    ) -> Known {
        let owner = self.processes.owner(parties.connection).filter(|_| parties.pid == 0);
        let comm = owner.map(|owner| names.id(&owner.comm)).or_else(|| process(&parties.comm, names));
        let pid = if parties.pid == 0 { owner.map(|owner| owner.pid) } else { Some(parties.pid) };
        let cgroup = self.cgroup(parties.cgroup, pid, now).map(|text| names.id(&text));
        let (location, dialled, client) = if role == Role::Server {
            let here = parties.local;
            let location = locate(here, here, here, &self.translations, &self.services);
            let caller = self.dns.name_of(parties.remote.address).map(str::to_owned);
            let caller = caller.unwrap_or_else(|| parties.remote.address.to_ip().to_string());
            (location, here, Some(names.id(&caller)))
        } else {
            let (dialled, remote) = (parties.dialled, parties.remote);
            let location = locate(parties.local, dialled, remote, &self.translations, &self.services);
            let address = || names.id(&parties.local.address.to_ip().to_string());
            (location, dialled, comm.or_else(|| self.clients_by_address.then(address)))
        };
        let dns_name = if role == Role::Server {
            None
        } else {
            self.dns.name_of(dialled.address).or_else(|| self.dns.name_of(location.instance.address))
        };
        let service = self.services.name(&Facts {
            client: client.map(|client| names.text(client)),
            instance: location.instance,
            dialled,
            dns_name,
            protocol,
            is_virtual: location.is_virtual(),
        });
        let service = names.id(&service);
        let instance = match location.reach {
            Reach::Unresolved => names.id(&format!("{} (virtual)", location.instance.to_socket_addr())),
            Reach::Direct | Reach::Translated => endpoint(location.instance, names),
        };
        Known {
            service,
            instance,
            client,
            comm,
            cgroup,
            service_address: (dialled != location.instance).then(|| endpoint(dialled, names)),
            pid,
            parties: *parties,
            protocol,
            learnt: self.learnt,
        }
    }

    fn cgroup(&mut self, identifier: u64, pid: Option<u32>, now: Timestamp) -> Option<String> {
        let path = self.cgroups.as_mut().and_then(|cgroups| cgroups.path_of(identifier, now));
        match path.filter(|path| *path != "/") {
            Some(path) => Some(describe(path)),
            None => cgroup::of_process(pid?).map(|path| describe(&path)),
        }
    }
}

fn endpoint(endpoint: Endpoint, names: &mut Names) -> NameId {
    names.id(&endpoint.to_socket_addr().to_string())
}

fn process(comm: &[u8; COMM_LENGTH], names: &mut Names) -> Option<NameId> {
    let length = comm.iter().position(|byte| *byte == 0).unwrap_or(COMM_LENGTH);
    (length != 0).then(|| names.id(&String::from_utf8_lossy(&comm[..length])))
}
