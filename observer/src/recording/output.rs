//! A file that appears under its name only when it is complete.

use std::{
    fs::{File, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

use super::RecordingError;

/// A file under a temporary name beside its real one. Dropped before [`PendingFile::persist`], it is removed.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl PendingFile {
    /// Opens the temporary file, in the directory where `path` shall appear.
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        if path.is_dir() {
            return Err(RecordingError::IsDirectory { path: path.to_owned() });
        }
        let directory = match path.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".part")
            // As any new file: the process's own mask decides who may read it.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)
            .map_err(|source| RecordingError::Create { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Where the file will appear.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets the file appear under its name, in place of an older one, when all of it is on the disk.
    pub fn persist(self) -> Result<(), RecordingError> {
        let Self { path, file } = self;
        let write = |source| RecordingError::Write { path: path.clone(), source };
        file.as_file().sync_all().map_err(write)?;
        file.persist(&path).map_err(|error| write(error.error))?;
        Ok(())
    }

    /// The error of this file for what went wrong while writing it.
    pub(super) fn error(&self, source: io::Error) -> RecordingError {
        RecordingError::Write { path: self.path.clone(), source }
    }

    /// The open file, to copy another one into it.
    pub(super) fn file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
