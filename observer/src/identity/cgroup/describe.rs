//! What people call a cgroup.

/// Digits of a container's or pod's identifier that are shown, as `docker ps` does.
const SHORT: usize = 12;

/// Digits of a container's identifier, in every runtime.
const CONTAINER: usize = 64;

/// Prefixes of the scopes that runtimes make, and the runtimes' names.
const RUNTIMES: [(&str, &str); 5] = [
    ("docker-", "docker"),
    ("cri-containerd-", "containerd"),
    ("crio-", "cri-o"),
    ("libpod-", "podman"),
    ("nerdctl-", "nerdctl"),
];

/// Directories below which a runtime puts its containers where it does not use systemd.
const PARENTS: [(&str, &str); 3] = [("docker", "docker"), ("libpod_parent", "podman"), ("lxc", "lxc")];

/// A short name for a cgroup's path: the container (`docker 4f0c2a9b1d3e`), the pod (`pod 0b1c2d3e4f50`), or the
/// systemd unit (`redis.service`), whichever of these is found in this order; else the path itself.
///
/// The innermost container counts, and a container counts more than a unit that runs inside it.
pub fn describe(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    container(&parts).or_else(|| pod(&parts)).or_else(|| unit(&parts)).unwrap_or_else(|| path.to_owned())
}

fn container(parts: &[&str]) -> Option<String> {
    parts.iter().enumerate().rev().find_map(|(at, part)| {
        let part = part.strip_suffix(".scope").unwrap_or(part);
        for (prefix, runtime) in RUNTIMES {
            if let Some(digits) = part.strip_prefix(prefix).filter(|digits| is_container(digits)) {
                return Some(format!("{runtime} {}", short(digits)));
            }
        }
        if let Some(name) = part.strip_prefix("lxc.payload.") {
            return Some(format!("lxc {name}"));
        }
        let parent = *parts.get(at.checked_sub(1)?)?;
        if let Some((_, runtime)) = PARENTS.iter().find(|(directory, _)| *directory == parent) {
            if is_container(part) {
                return Some(format!("{runtime} {}", short(part)));
            }
            // LXC names its containers; what the others put there without an identifier is something else.
            return (*runtime == "lxc").then(|| format!("lxc {part}"));
        }
        // A pod's containers are named by the bare identifier where the kubelet does not use systemd.
        is_container(part).then(|| format!("container {}", short(part)))
    })
}

/// The kubelet's directories: `pod<uid>` or, under systemd, `kubepods-burstable-pod<uid with underscores>.slice`.
fn pod(parts: &[&str]) -> Option<String> {
    parts.iter().rev().find_map(|part| {
        let part = part.strip_suffix(".slice").unwrap_or(part);
        let within =
            part.starts_with("kubepods") || parts.first().is_some_and(|first| first.starts_with("kubepods"));
        let (_, identifier) = part.rsplit_once("pod").filter(|_| within)?;
        let digits: String = identifier.chars().filter(|letter| !matches!(letter, '-' | '_')).collect();
        (digits.len() == 32 && is_hexadecimal(&digits)).then(|| format!("pod {}", short(&digits)))
    })
}

/// The innermost unit that runs something: services before the scopes that hold them.
fn unit(parts: &[&str]) -> Option<String> {
    [".service", ".scope"].iter().find_map(|suffix| {
        parts.iter().rev().find(|part| part.ends_with(suffix)).map(|part| (*part).to_owned())
    })
}

fn is_container(text: &str) -> bool {
    text.len() == CONTAINER && is_hexadecimal(text)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn short(digits: &str) -> &str {
    digits.get(..SHORT).unwrap_or(digits)
}
