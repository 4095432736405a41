//! Processes and the sockets that they have open.

use std::{collections::HashMap, fs::File, io, mem::MaybeUninit, os::fd::OwnedFd};

use procfs::ProcResult;
use rustix::fs::Dir;

use super::{Missing, Owner};

/// Descriptors looked at, of all processes together.
const MOST_DESCRIPTORS: usize = 100_000;

/// The longest link to a socket: `socket:[18446744073709551615]`, and one byte more than any that counts.
const SOCKET_LINK_BYTES: usize = 32;

/// The identifiers of all processes that `/proc` shows, in order. Nothing stays open: a host has more processes
/// than a process may have descriptors.
pub(super) fn processes() -> ProcResult<Vec<u32>> {
    let all = procfs::process::all_processes()?;
    let mut pids: Vec<u32> = all.flatten().map(|process| process.pid.unsigned_abs()).collect();
    pids.sort_unstable();
    Ok(pids)
}

/// The owner of each socket, by its cookie; `cookies` leads there from the socket's inode.
pub(super) fn owners(
    pids: &[u32],
    cookies: &HashMap<u64, u64>,
    missing: &mut Vec<Missing>,
) -> HashMap<u64, Owner> {
    let mut owners = HashMap::new();
    let mut looked_at = 0;
    for &pid in pids {
        // Without permission there is nothing to see, which the look at its namespace has told already.
        let Ok(mut descriptors) = Descriptors::of(pid) else { continue };
        let mut comm: Option<Box<str>> = None;
        while let Some(inode) = descriptors.next_socket(&mut looked_at) {
            let Some(&cookie) = cookies.get(&inode) else { continue };
            let comm = comm.get_or_insert_with(|| name(pid));
            // Processes come in the order of their identifiers: a child that inherited comes later.
            owners.entry(cookie).or_insert_with(|| Owner { pid, comm: comm.clone() });
        }
        if looked_at >= MOST_DESCRIPTORS {
            missing.push(Missing::TooMany { what: "descriptors", limit: MOST_DESCRIPTORS });
            break;
        }
    }
    owners
}

/// The open descriptors of a process. Only the links are read, without an allocation for each: `procfs` opens and
/// inspects each one besides, which took twice the time.
struct Descriptors {
    entries: Dir,
    directory: OwnedFd,
}

impl Descriptors {
    fn of(pid: u32) -> io::Result<Self> {
        let path = format!("/proc/{pid}/fd");
        let directory = File::open(path)?;
        Ok(Self { entries: Dir::read_from(&directory)?, directory: directory.into() })
    }

    /// The inode of the next descriptor that is a socket, as long as few enough were looked at.
    fn next_socket(&mut self, looked_at: &mut usize) -> Option<u64> {
        while *looked_at < MOST_DESCRIPTORS {
            *looked_at += 1;
            let entry = self.entries.next()?.ok()?;
            let mut buffer = [MaybeUninit::uninit(); SOCKET_LINK_BYTES];
            let Ok((link, _)) = rustix::fs::readlinkat_raw(&self.directory, entry.file_name(), &mut buffer)
            else {
                // It was closed meanwhile, or it is `.` or `..`.
                continue;
            };
            if let Some(inode) = socket(link) {
                return Some(inode);
            }
        }
        None
    }
}

/// The inode in a link such as `socket:[12345]`.
fn socket(link: &[u8]) -> Option<u64> {
    let digits = link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn name(pid: u32) -> Box<str> {
    let text = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&text).trim_end_matches('\n').into()
}
