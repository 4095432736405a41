//! What the object has to contain: the border between the probes and user space, written down once more.

use observer_common::{Config, Connection, Counters, LISTENING_WORDS};

use super::structure::Structure;

/// The licence under which the kernel lends its GPL-only helpers.
const LICENCE: &str = "Dual MIT/GPL";

/// A program, and what it may cost at most.
pub(crate) struct Program {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its section, which names the hook.
    section: &'static str,
    /// How many instructions the verifier may walk through before it accepts the program, on any kernel.
    pub(crate) verified_instructions: u64,
}

const fn program(name: &'static str, section: &'static str, verified_instructions: u64) -> Program {
    Program { name, section, verified_instructions }
}

/// All programs.
pub(crate) const PROGRAMS: [Program; 9] = [
    program("connect4", "cgroup/connect4", 100_000),
    program("connect6", "cgroup/connect6", 100_000),
    program("egress", "cgroup/skb", 100_000),
    program("frames", "cgroup/skb", 250_000),
    program("ingress", "cgroup/skb", 100_000),
    program("lifecycle", "sockops", 100_000),
    program("read", "tp_btf/tcp_rcv_space_adjust", 100_000),
    program("records", "cgroup/skb", 400_000),
    program("waiting", "iter/bpf_sk_storage_map", 100_000),
];

struct Map {
    name: &'static str,
    kind: &'static str,
    key_size: usize,
    value_size: usize,
    /// Where user space relies on it.
    max_entries: Option<u32>,
}

const MAPS: [Map; 6] = [
    Map { name: "CONFIG", kind: "array", key_size: 4, value_size: size_of::<Config>(), max_entries: Some(1) },
    Map {
        name: "CONNECTIONS",
        kind: "sk_storage",
        key_size: 4,
        value_size: size_of::<Connection>(),
        max_entries: None,
    },
    Map {
        name: "COUNTERS",
        kind: "percpu_array",
        key_size: 4,
        value_size: size_of::<Counters>(),
        max_entries: Some(1),
    },
    Map {
        name: "EXCHANGES",
        kind: "ringbuf",
        key_size: 0,
        // Records are written into it, not stored as values.
        value_size: 0,
        max_entries: None,
    },
    Map {
        name: "LISTENING",
        kind: "array",
        key_size: 4,
        value_size: size_of::<u64>(),
        max_entries: Some(LISTENING_WORDS),
    },
    Map { name: "WALKERS", kind: "prog_array", key_size: 4, value_size: 4, max_entries: Some(2) },
];

/// In what `structure` is not as it has to be.
pub(crate) fn differences(structure: &Structure) -> Vec<String> {
    let mut differences = Vec::new();
    let mut compare = |what: &str, found: &dyn std::fmt::Display, wanted: &dyn std::fmt::Display| {
        let (found, wanted) = (found.to_string(), wanted.to_string());
        if found != wanted {
            differences.push(format!("{what} is {found}, must be {wanted}"));
        }
    };
    compare("the licence", &structure.licence, &LICENCE);
    compare(
        "the set of programs",
        &names(structure.programs.keys()),
        &names(PROGRAMS.iter().map(|p| p.name)),
    );
    compare("the set of maps", &names(structure.maps.keys()), &names(MAPS.iter().map(|map| map.name)));
    for wanted in &PROGRAMS {
        if let Some(found) = structure.programs.get(wanted.name) {
            compare(&format!("the section of program {}", wanted.name), &found.section, &wanted.section);
        }
    }
    for wanted in &MAPS {
        if let Some(found) = structure.maps.get(wanted.name) {
            let name = wanted.name;
            compare(&format!("the kind of map {name}"), &found.kind, &wanted.kind);
            compare(&format!("the key size of map {name}"), &found.key_size, &wanted.key_size);
            compare(&format!("the value size of map {name}"), &found.value_size, &wanted.value_size);
            if let Some(entries) = wanted.max_entries {
                compare(&format!("the length of map {name}"), &found.max_entries, &entries);
            }
        }
    }
    differences
}

fn names(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut names: Vec<_> = names.map(|name| name.as_ref().to_owned()).collect();
    names.sort();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::object::structure;

    fn as_expected() -> Structure {
        let programs = PROGRAMS.iter().map(|program| {
            let section = program.section.to_owned();
            (program.name.to_owned(), structure::Program { section, instructions: 1 })
        });
        let maps = MAPS.iter().map(|map| {
            let found = structure::Map {
                kind: map.kind.to_owned(),
                key_size: u32::try_from(map.key_size).unwrap(),
                value_size: u32::try_from(map.value_size).unwrap(),
                max_entries: map.max_entries.unwrap_or_default(),
            };
            (map.name.to_owned(), found)
        });
        Structure { licence: LICENCE.to_owned(), programs: programs.collect(), maps: maps.collect() }
    }

    #[test]
    fn a_layout_that_drifted_is_named() {
        assert_eq!(differences(&as_expected()), [""; 0]);

        let mut drifted = as_expected();
        drifted.maps.get_mut("CONFIG").unwrap().value_size = 4;
        drifted.maps.get_mut("LISTENING").unwrap().max_entries = 1;
        drifted.programs.get_mut("egress").unwrap().section = "xdp".to_owned();
        assert_eq!(
            differences(&drifted),
            [
                "the section of program egress is xdp, must be cgroup/skb",
                "the value size of map CONFIG is 4, must be 8",
                "the length of map LISTENING is 1, must be 1024",
            ]
        );
    }

    #[test]
    fn a_map_too_many_is_named() {
        let mut logging = as_expected();
        logging.programs = BTreeMap::new();
        let map = logging.maps["EXCHANGES"].clone();
        logging.maps.insert("AYA_LOGS".to_owned(), map);
        let found = differences(&logging);
        assert_eq!(found.len(), 2);
        assert!(found[1].contains("AYA_LOGS, CONFIG"), "{found:?}");
    }
}
