use std::{fs, os::fd::AsRawFd, path::PathBuf};

use super::*;

const ID: &str = "4f0c2a9b1d3e5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcd";

#[test]
fn paths_get_the_names_that_people_use() {
    let docker_in_pod = format!("/kubepods/burstable/pod0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0/{ID}");
    let under_systemd = format!(
        "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0b1c2d3e_4f50_6172_8394_a5b6c7d8e9f0.slice/\
         cri-containerd-{ID}.scope"
    );
    let pod_only = under_systemd.rsplit_once('/').map(|(pod, _)| pod.to_owned()).unwrap();
    let cases = [
        ("/".to_owned(), "/"),
        ("/system.slice/redis.service".to_owned(), "redis.service"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/web.service".to_owned(), "web.service"),
        ("/user.slice/user-1000.slice/session-3.scope".to_owned(), "session-3.scope"),
        (format!("/system.slice/docker-{ID}.scope"), "docker 4f0c2a9b1d3e"),
        (format!("/system.slice/docker-{ID}.scope/system.slice/nginx.service"), "docker 4f0c2a9b1d3e"),
        (format!("/docker/{ID}"), "docker 4f0c2a9b1d3e"),
        (format!("/machine.slice/libpod-{ID}.scope/container"), "podman 4f0c2a9b1d3e"),
        (format!("/machine.slice/libpod-conmon-{ID}.scope"), &*format!("libpod-conmon-{ID}.scope")),
        (docker_in_pod, "container 4f0c2a9b1d3e"),
        (under_systemd, "containerd 4f0c2a9b1d3e"),
        (pod_only, "pod 0b1c2d3e4f50"),
        (format!("/kubepods.slice/crio-{ID}.scope"), "cri-o 4f0c2a9b1d3e"),
        ("/lxc.payload.web/init.scope".to_owned(), "lxc web"),
        ("/lxc/web".to_owned(), "lxc web"),
        ("/docker/buildx".to_owned(), "/docker/buildx"),
        ("/made/by/hand".to_owned(), "/made/by/hand"),
    ];
    for (path, expected) in cases {
        assert_eq!(describe(&path), expected, "{path}");
    }
}

#[test]
fn identifiers_are_resolved_and_new_ones_found() {
    // Any tree of directories will do: an identifier is an inode number.
    let root = std::env::temp_dir().join(format!("observer-cgroups-{}", std::process::id()));
    fs::create_dir_all(root.join("a.slice/b.service")).unwrap();
    let inode = |path: &str| fs::metadata(root.join(path)).unwrap().ino();
    let directory = fs::File::open(&root).unwrap();
    let unnamed = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    assert_eq!(Cgroups::at(&unnamed).unwrap().len(), 3, "where no path leads to the mount");
    let mut cgroups = Cgroups::at(&root).unwrap();
    assert_eq!(cgroups.len(), 3);
    assert_eq!(cgroups.path_of(inode(""), Timestamp(0)), Some("/"));
    assert_eq!(cgroups.path_of(inode("a.slice/b.service"), Timestamp(0)), Some("/a.slice/b.service"));
    assert_eq!(cgroups.path_of(1 << 63, Timestamp(0)), None);

    fs::create_dir(root.join("c")).unwrap();
    let new = inode("c");
    assert_eq!(cgroups.path_of(new, Timestamp(PAUSE.0 - 1)), None, "walked again too soon");
    assert_eq!(cgroups.path_of(new, Timestamp(PAUSE.0)), Some("/c"));
    fs::remove_dir_all(&root).unwrap();
    assert_eq!(cgroups.path_of(new, Timestamp(9 * PAUSE.0)), Some("/c"), "a removed one keeps its path");
    assert!(matches!(Cgroups::at(&root), Err(CgroupError::Root { .. })));
}

#[test]
fn the_mounted_hierarchy_has_the_cgroup_of_this_process() {
    let Ok(mut cgroups) = Cgroups::open() else {
        eprintln!("skipped: no cgroup v2 is mounted here");
        return;
    };
    let line = fs::read_to_string("/proc/self/cgroup").unwrap();
    let path = line.lines().find_map(|line| line.strip_prefix("0::")).unwrap();
    let directory = PathBuf::from(format!("{}{path}", cgroups.root.display()));
    if let Ok(metadata) = fs::metadata(directory) {
        assert_eq!(cgroups.path_of(metadata.ino(), Timestamp(1)), Some(path));
    }
}
