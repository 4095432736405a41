//! Network namespaces.

use std::{
    fs::{self, File},
    os::fd::AsFd as _,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::process::succeed;

/// How long a configuration command may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A network namespace that is removed when it is dropped.
#[derive(Debug)]
pub struct Namespace {
    name: String,
}

impl Namespace {
    /// Makes a namespace whose loopback device is up.
    pub fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("observer-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        succeed(Command::new("ip").args(["netns", "add", &name]), PATIENCE)?;
        let namespace = Self { name };
        namespace.ip("link set lo up")?;
        Ok(namespace)
    }

    /// The name, for `ip netns`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs `ip` on this namespace; words are separated by blanks.
    pub fn ip(&self, words: &str) -> Result<()> {
        succeed(Command::new("ip").args(["-n", &self.name]).args(words.split(' ')), PATIENCE)?;
        Ok(())
    }

    /// Runs one `nft` statement in this namespace.
    pub fn nft(&self, statement: &str) -> Result<String> {
        succeed(Command::new("ip").args(["netns", "exec", &self.name, "nft", statement]), PATIENCE)
    }

    /// Sets a kernel parameter below `/proc/sys/net`.
    pub fn set(&self, parameter: &str, value: &str) -> Result<()> {
        let path = format!("/proc/sys/net/{parameter}");
        self.run(|| fs::write(&path, value).with_context(|| format!("set {path} to {value}")))?
    }

    /// Runs `work` on a thread inside this namespace and waits for it.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.enter()?;
                Ok(work())
            });
            thread.join().map_err(|_| anyhow!("a thread in {} panicked", self.name))?
        })
    }

    /// Moves the calling thread into this namespace.
    pub fn enter(&self) -> Result<()> {
        let path = format!("/run/netns/{}", self.name);
        let file = File::open(&path).with_context(|| format!("open {path}"))?;
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
            .with_context(|| format!("enter {path}"))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // A namespace that is left behind disturbs nobody: its name holds this process's id.
        let _ = succeed(Command::new("ip").args(["netns", "del", &self.name]), PATIENCE);
    }
}
