//! Taking the debugging sections out of an object.
//!
//! They are nine tenths of the file and hold the paths of the machine that built it. The kernel needs `.BTF` and
//! `.BTF.ext`, which stay.

use anyhow::{Context as _, Result};
use object::{
    build::elf::{Builder, SectionData},
    elf::SHT_STRTAB,
};

/// The object without its `.debug_*` sections, their relocations and the symbols that only they use.
pub(crate) fn without_debug_sections(raw: &[u8]) -> Result<Vec<u8>> {
    let mut builder = Builder::read(raw).context("the linker's output is not an ELF object")?;
    for section in &mut builder.sections {
        let name = section.name.as_slice();
        let name = name.strip_prefix(b".rel").unwrap_or(name);
        section.delete = name.starts_with(b".debug_");
    }
    builder.delete_orphans();
    // LLVM keeps the names of sections and symbols in one table; the writer wants two.
    let names = builder.sections.add();
    names.name = ".shstrtab".into();
    names.sh_type = SHT_STRTAB;
    names.sh_addralign = 1;
    names.data = SectionData::SectionString;
    let mut stripped = Vec::new();
    builder.write(&mut stripped).context("the object cannot be written without its debugging sections")?;
    Ok(stripped)
}
