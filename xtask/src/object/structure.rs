//! What is in an object, read without privileges.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use aya_obj::generated::bpf_map_type;
use object::{Object as _, ObjectSection as _, SectionIndex};
use serde::{Deserialize, Serialize};

/// Programs and maps of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Structure {
    /// The licence that the kernel is told.
    pub(crate) licence: String,
    /// Programs by name.
    pub(crate) programs: BTreeMap<String, Program>,
    /// Maps by name.
    pub(crate) maps: BTreeMap<String, Map>,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    /// The section, which names the hook.
    pub(crate) section: String,
    /// How many instructions it has in the object.
    pub(crate) instructions: usize,
}

/// One map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Map {
    /// The kernel's name of its kind, in lower case and without prefix.
    pub(crate) kind: String,
    /// Bytes of a key.
    pub(crate) key_size: u32,
    /// Bytes of a value.
    pub(crate) value_size: u32,
    /// The kernel's limit of entries; bytes for a ring buffer.
    pub(crate) max_entries: u32,
}

impl Structure {
    /// Reads the structure of `object`.
    pub(crate) fn of(object: &[u8]) -> Result<Self> {
        let elf = object::File::parse(object).context("not an ELF object")?;
        let parsed = aya_obj::Object::parse(object).context("not an eBPF object")?;
        parsed.btf.as_ref().context("the object has no .BTF section")?;

        let mut programs = BTreeMap::new();
        for (name, program) in &parsed.programs {
            let section = elf.section_by_index(SectionIndex(program.section_index))?;
            let function = parsed.functions.get(&program.function_key());
            let function = function.with_context(|| format!("program {name} has no code"))?;
            programs.insert(
                name.clone(),
                Program { section: section.name()?.to_owned(), instructions: function.instructions.len() },
            );
        }
        let mut maps = BTreeMap::new();
        for (name, map) in &parsed.maps {
            let kind = bpf_map_type::try_from(map.map_type())
                .ok()
                .with_context(|| format!("map {name} is of an unknown kind"))?;
            let kind = format!("{kind:?}").trim_start_matches("BPF_MAP_TYPE_").to_lowercase();
            maps.insert(
                name.clone(),
                Map {
                    kind,
                    key_size: map.key_size(),
                    value_size: map.value_size(),
                    max_entries: map.max_entries(),
                },
            );
        }
        let licence = parsed.license.to_str().context("the licence is no UTF-8")?.to_owned();
        Ok(Self { licence, programs, maps })
    }
}

/// Texts in `object` that are absolute paths: folders of the machine that built it.
pub(crate) fn host_paths(object: &[u8]) -> Vec<String> {
    let texts = object.split(|byte| !(b' '..=b'~').contains(byte));
    let paths = texts.filter(|text| {
        text.starts_with(b"/")
            && text.get(1).is_some_and(u8::is_ascii_alphanumeric)
            && text.iter().skip(1).any(|byte| *byte == b'/')
    });
    paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_path_is_found_and_a_remapped_one_is_not() {
        let object = b"\x7fELF\0observer/src/main.rs\0/home/someone/observer/src/main.rs\0// a comment\0/x\0";
        assert_eq!(host_paths(object), ["/home/someone/observer/src/main.rs"]);
    }
}
