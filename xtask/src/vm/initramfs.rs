//! The one file that the emulated machine has for a disk: programs and the libraries that they load.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, BufReader, BufWriter},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};
use cpio::{NewcBuilder, newc::ModeFileType};

use crate::command;

/// Writes an archive to `to` with each of `programs` (where it lies here, where it goes) and its libraries.
pub(crate) fn write(to: &Path, programs: &[(PathBuf, &Path)]) -> Result<()> {
    let mut files: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for (from, into) in programs {
        files.insert(into.to_path_buf(), from.clone());
        files.extend(libraries(from)?.into_iter().map(|library| (library.clone(), library)));
    }
    let folders: BTreeSet<&Path> = files
        .keys()
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|path| path.parent().is_some())
        .collect();

    // The archive's writer wants every file at hand, with its length.
    let mut inputs: Vec<(NewcBuilder, Box<dyn Contents>)> = Vec::new();
    for folder in folders {
        let entry = entry(folder, 0o755)?.set_mode_file_type(ModeFileType::Directory);
        inputs.push((entry, Box::new(io::Cursor::new([]))));
    }
    for (into, from) in &files {
        let file = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
        let entry = entry(into, 0o755)?.set_mode_file_type(ModeFileType::Regular);
        inputs.push((entry, Box::new(BufReader::new(file))));
    }
    let archive = File::create(to).with_context(|| format!("cannot write {}", to.display()))?;
    cpio::write_cpio(inputs.into_iter(), BufWriter::new(archive))
        .with_context(|| format!("cannot write {}", to.display()))?;
    Ok(())
}

trait Contents: io::Read + io::Seek {}
impl<T: io::Read + io::Seek> Contents for T {}

fn entry(path: &Path, permissions: u32) -> Result<NewcBuilder> {
    let name = path.strip_prefix("/").unwrap_or(path).to_str().context("a path is no UTF-8")?;
    Ok(NewcBuilder::new(name).mode(permissions))
}

/// The shared libraries that `program` loads, and the loader.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let listing = command::output(Command::new("ldd").arg(program))?;
    // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)" or "/lib64/ld-linux-x86-64.so.2 (0x…)"
    let paths = listing
        .lines()
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from));
    let paths: Vec<_> = paths.collect();
    for path in &paths {
        fs::metadata(path).with_context(|| format!("{} needs {}", program.display(), path.display()))?;
    }
    Ok(paths)
}
