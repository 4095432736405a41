//! The control group of a process, where that of its socket says nothing.

use std::fs;

/// The most telling of a process's control groups: that of version 2, or, where everything lies at its root, the
/// deepest of version 1. Nothing where the process has gone.
pub(super) fn of_process(pid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    most_telling(&text).map(str::to_owned)
}

/// Lines are `hierarchy:controllers:path` (cgroups(7)).
fn most_telling(lines: &str) -> Option<&str> {
    let path = |line: &str| line.splitn(3, ':').nth(2).filter(|path| *path != "/").map(str::len);
    let unified = lines.lines().find(|line| line.starts_with("0::"));
    let line = unified
        .filter(|line| path(line).is_some())
        .or_else(|| lines.lines().filter(|line| path(line).is_some()).max_by_key(|line| path(line)))?;
    line.splitn(3, ':').nth(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_version_counts_where_it_tells() {
        let lines = "4:cpu:/docker/0123\n1:name=systemd:/docker/012345\n0::/system.slice/a.service\n";
        assert_eq!(most_telling(lines), Some("/system.slice/a.service"));
        let lines = "4:cpu:/docker/0123\n1:name=systemd:/docker/012345\n0::/\n";
        assert_eq!(most_telling(lines), Some("/docker/012345"));
        assert_eq!(most_telling("0::/\n"), None);
    }
}
