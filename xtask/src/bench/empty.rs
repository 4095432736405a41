//! Programs that do nothing, on the same hooks: what a hook costs by itself.

use std::{fs::File, path::PathBuf};

use anyhow::{Context as _, Result};
use aya::{
    Ebpf,
    programs::{CgroupAttachMode, CgroupSkb, CgroupSkbAttachType},
};
use object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
    write::{Object, Symbol, SymbolSection},
};

/// The programs' names, as the kernel lists them.
pub(super) const NAMES: [&str; 2] = ["empty_egress", "empty_ingress"];

/// `r0 = 1; exit`: let the packet pass.
const CODE: [u8; 16] = [0xb7, 0, 0, 0, 1, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0];

/// The programs in place. Dropping it detaches them.
pub(super) struct Attached {
    _programs: Ebpf,
}

impl Attached {
    /// Attaches them to the root of cgroup v2.
    pub(super) fn attach() -> Result<Self> {
        let mut programs = Ebpf::load(&object()?).context("cannot load the empty programs")?;
        let path = cgroup()?;
        let cgroup = File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
        for (name, direction) in NAMES.iter().zip([CgroupSkbAttachType::Egress, CgroupSkbAttachType::Ingress])
        {
            let program: &mut CgroupSkb =
                programs.program_mut(name).context("it is in the object")?.try_into()?;
            program.load()?;
            program.attach(&cgroup, direction, CgroupAttachMode::Single)?;
        }
        Ok(Self { _programs: programs })
    }
}

/// Where cgroup v2 is mounted.
fn cgroup() -> Result<PathBuf> {
    let mounts = procfs::mounts().context("cannot read the mounts")?;
    let mount = mounts.into_iter().find(|mount| mount.fs_vfstype == "cgroup2");
    Ok(mount.context("cgroup v2 is not mounted: mount it to measure")?.fs_file.into())
}

fn object() -> Result<Vec<u8>> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::Bpf, Endianness::Little);
    let section = object.add_section(Vec::new(), b"cgroup/skb".to_vec(), SectionKind::Text);
    for name in NAMES {
        let value = object.append_section_data(section, &CODE, 8);
        object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size: CODE.len() as u64,
            kind: SymbolKind::Text,
            scope: SymbolScope::Dynamic,
            weak: false,
            section: SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
    }
    let licence = object.add_section(Vec::new(), b"license".to_vec(), SectionKind::Data);
    object.append_section_data(licence, b"GPL\0", 1);
    object.write().context("cannot write the empty programs")
}
