//! A file that appears under its name only when it is complete. What is there and is no file is written as it is.

use std::{
    fs::{self, File, Permissions},
    io::{self, IsTerminal, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

use super::RecordingError;

/// As many symbolic links in a row as Linux follows.
const MOST_LINKS: usize = 40;

/// An output that is being written. A file has a temporary name beside its real one until then; dropped before
/// [`PendingFile::persist`], it is removed. A named pipe, a terminal or another device is written straight.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// Beside where it will appear.
    Beside(NamedTempFile),
    /// Into what is there.
    Straight(File),
}

impl PendingFile {
    /// Opens the output. Symbolic links are followed: what they lead to is written or replaced, and they stay.
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Create { path: path.to_owned(), source };
        if path.is_dir() {
            return Err(RecordingError::IsDirectory { path: path.to_owned() });
        }
        if is_written_straight(path) {
            // To append is to overwrite nothing where somebody else has written before, as to standard output.
            let file = File::options().append(true).open(path).map_err(failed)?;
            return Ok(Self { path: path.to_owned(), place: Place::Straight(file) });
        }
        let path = followed(path);
        let directory = directory_of(&path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".part")
            // As any new file: the process's own mask decides who may read it.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)
            .map_err(failed)?;
        Ok(Self { path, place: Place::Beside(file) })
    }

    /// Where the file will appear, or what is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's temporary name, where it has one.
    pub fn part(&self) -> Option<&Path> {
        match &self.place {
            Place::Beside(file) => Some(file.path()),
            Place::Straight(_) => None,
        }
    }

    /// A file without a name on the same file system, for what has to be kept until it can be written.
    pub(super) fn scratch(&self) -> io::Result<File> {
        match &self.place {
            Place::Beside(_) => tempfile::tempfile_in(directory_of(&self.path)),
            Place::Straight(_) => tempfile::tempfile(),
        }
    }

    /// Whether a person looks at it right away.
    pub fn is_terminal(&self) -> bool {
        matches!(&self.place, Place::Straight(file) if file.is_terminal())
    }

    /// Lets the file appear under its name, in place of an older one, when all of it is on the disk.
    pub fn persist(self) -> Result<(), RecordingError> {
        let Self { path, place } = self;
        let Place::Beside(file) = place else { return Ok(()) };
        let write = |source| RecordingError::Write { path: path.clone(), source };
        file.as_file().sync_all().map_err(write)?;
        file.persist(&path).map_err(|error| write(error.error))?;
        Ok(())
    }

    /// The error of this file for what went wrong while writing it.
    pub(crate) fn error(&self, source: io::Error) -> RecordingError {
        RecordingError::Write { path: self.path.clone(), source }
    }

    /// The open file, to copy another one into it.
    pub(super) fn file_mut(&mut self) -> &mut File {
        match &mut self.place {
            Place::Beside(file) => file.as_file_mut(),
            Place::Straight(file) => file,
        }
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file_mut().flush()
    }
}

/// Whether a path leads to something that cannot be replaced by a file: a pipe or a device, or whatever a process has
/// open, as `/dev/stdout` does.
fn is_written_straight(path: &Path) -> bool {
    let is_no_file = path.metadata().is_ok_and(|metadata| !metadata.is_file());
    is_no_file || (path.exists() && links(path).any(|link| is_descriptor(&link)))
}

/// Whether a path is one of the links in `/proc/PID/fd`.
fn is_descriptor(path: &Path) -> bool {
    let directory = path.parent().and_then(|directory| fs::canonicalize(directory).ok());
    directory.is_some_and(|directory| directory.starts_with("/proc") && directory.ends_with("fd"))
}

/// Where a path leads in the end.
fn followed(path: &Path) -> PathBuf {
    links(path).last().unwrap_or_else(|| path.to_owned())
}

/// The path, what it links to, what that links to, and so on.
fn links(path: &Path) -> impl Iterator<Item = PathBuf> {
    let next = |path: &PathBuf| fs::read_link(path).ok().map(|target| directory_of(path).join(target));
    std::iter::successors(Some(path.to_owned()), next).take(MOST_LINKS)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
