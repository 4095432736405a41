//! Which exchanges are wanted: the one place between a source and what is done with its exchanges.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};
use observer_common::Role;

use crate::{
    exchange::{Exchange, NameId, Names},
    maps::HashMap,
    report::model::{SelectedRole, Selection},
};

/// Tells wanted exchanges from others, and remembers what it saw.
#[derive(Clone, Debug)]
pub struct Filter {
    selection: Selection,
    comms: Vec<GlobMatcher>,
    cgroups: Vec<GlobMatcher>,
    /// The ports of instances that were shown before.
    ports: HashMap<NameId, Option<u16>>,
    ports_seen: BTreeSet<u16>,
    seen: u64,
}

impl Filter {
    /// A filter that admits what `selection` says.
    pub fn new(selection: Selection) -> Result<Self, PatternError> {
        let compile = |pattern: &String| match Glob::new(pattern) {
            Ok(glob) => Ok(glob.compile_matcher()),
            Err(source) => Err(PatternError { pattern: pattern.clone(), source }),
        };
        let comms = selection.comms.iter().map(compile).collect::<Result<_, _>>()?;
        let cgroups = selection.cgroups.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self {
            selection,
            comms,
            cgroups,
            ports: HashMap::default(),
            ports_seen: BTreeSet::new(),
            seen: 0,
        })
    }

    /// Whether the exchange is wanted. Every exchange must be shown exactly once.
    pub fn admits(&mut self, exchange: &Exchange, names: &Names) -> bool {
        self.seen += 1;
        let admitted = self.admits_role(exchange.role)
            && (self.selection.pids.is_empty() || self.admits_pid(exchange))
            && admits(&self.comms, exchange.comm, names)
            && admits(&self.cgroups, exchange.cgroup, names);
        admitted && (self.selection.ports.is_empty() || self.admits_port(exchange, names))
    }

    fn admits_role(&self, role: Role) -> bool {
        match self.selection.role {
            SelectedRole::Client => role == Role::Client,
            SelectedRole::Server => role == Role::Server,
            SelectedRole::Both => true,
        }
    }

    fn admits_pid(&self, exchange: &Exchange) -> bool {
        exchange.pid.is_some_and(|pid| self.selection.pids.contains(&pid))
    }

    fn admits_port(&mut self, exchange: &Exchange, names: &Names) -> bool {
        let port = *self.ports.entry(exchange.instance).or_insert_with(|| {
            // Behind a virtual address the instance says so after its address.
            let instance = names.text(exchange.instance).split(' ').next()?;
            instance.rsplit_once(':')?.1.parse().ok()
        });
        let Some(port) = port.filter(|port| self.selection.ports.contains(port)) else { return false };
        self.ports_seen.insert(port);
        true
    }

    /// How many exchanges were shown to it, wanted or not.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// What was selected, and which of it never came.
    pub fn into_selection(self) -> Selection {
        let mut selection = self.selection;
        selection.ports_not_seen =
            selection.ports.iter().copied().filter(|port| !self.ports_seen.contains(port)).collect();
        selection
    }
}

/// Whether a text is what one of the patterns describes; without patterns everything is.
fn admits(patterns: &[GlobMatcher], text: Option<NameId>, names: &Names) -> bool {
    patterns.is_empty()
        || text.is_some_and(|text| patterns.iter().any(|pattern| pattern.is_match(names.text(text))))
}

/// A pattern that cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("the pattern '{pattern}' is not valid: {}; see `man 7 glob`", source.kind())]
pub struct PatternError {
    pattern: String,
    source: globset::Error,
}

#[cfg(test)]
mod tests {
    use observer_common::{Nanoseconds, Timestamp};

    use super::*;

    fn exchange(names: &mut Names, instance: &str) -> Exchange {
        let (service, instance) = (names.id("default"), names.id(instance));
        Exchange::new(Timestamp(0), service, instance, Nanoseconds(1_000))
    }

    fn filter(selection: Selection) -> Filter {
        Filter::new(selection).unwrap()
    }

    #[test]
    fn without_a_wish_all_requests_that_were_sent_are_wanted() {
        let mut names = Names::default();
        let mut filter = filter(Selection::default());
        let sent = exchange(&mut names, "192.0.2.1:80");
        assert!(filter.admits(&sent, &names));
        assert!(!filter.admits(&Exchange { role: Role::Server, ..sent }, &names));
        assert_eq!(filter.seen(), 2);
    }

    #[test]
    fn ports_are_those_of_instances_and_the_silent_ones_are_named() {
        let mut names = Names::default();
        let mut filter = filter(Selection { ports: vec![80, 81, 82], ..Selection::default() });
        for (instance, admitted) in [
            ("192.0.2.1:80", true),
            ("[2001:db8::1]:81", true),
            ("192.0.2.1:80 (virtual)", true),
            ("192.0.2.1:8080", false),
            ("backend", false),
        ] {
            let exchange = exchange(&mut names, instance);
            assert_eq!(filter.admits(&exchange, &names), admitted, "{instance}");
        }
        assert_eq!(filter.into_selection().ports_not_seen, [82]);
    }

    #[test]
    fn processes_are_told_by_number_and_by_pattern() {
        let mut names = Names::default();
        let plain = exchange(&mut names, "192.0.2.1:80");
        let worker = Exchange { pid: Some(7), comm: Some(names.id("worker-3")), ..plain };
        let mut by_pid = filter(Selection { pids: vec![7], ..Selection::default() });
        assert!(by_pid.admits(&worker, &names));
        assert!(!by_pid.admits(&plain, &names));
        let mut by_comm = filter(Selection { comms: vec!["work*[0-9]".into()], ..Selection::default() });
        assert!(by_comm.admits(&worker, &names));
        assert!(!by_comm.admits(&plain, &names));
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let error = Filter::new(Selection { comms: vec!["[".into()], ..Selection::default() }).unwrap_err();
        assert!(error.to_string().contains("'['"), "{error}");
    }
}
