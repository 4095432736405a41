//! What the tests drive, and where it comes from.

use anyhow::{Result, anyhow, bail};

use crate::{apt, command, vm, workspace::in_ci};

/// Something that some tests drive.
struct Need {
    /// How the tests call it.
    name: &'static str,
    /// What has to be there.
    programs: &'static [&'static str],
    /// The Debian packages that bring it.
    packages: &'static [&'static str],
}

const NEEDS: [Need; 12] = [
    Need {
        name: "redis",
        programs: &["redis-server", "redis-cli", "redis-benchmark"],
        packages: &["redis-server", "redis-tools"],
    },
    Need { name: "nginx", programs: &["nginx", "wrk"], packages: &["nginx-light", "wrk"] },
    Need {
        name: "postgresql",
        programs: &["pg_createcluster", "pgbench"],
        packages: &["postgresql", "postgresql-contrib"],
    },
    Need {
        name: "mariadb",
        programs: &["mariadbd", "mariadb", "mariadb-slap"],
        packages: &["mariadb-server", "mariadb-client"],
    },
    Need { name: "memcached", programs: &["memcached"], packages: &["memcached"] },
    Need { name: "h2load", programs: &["h2load"], packages: &["nghttp2-client"] },
    Need { name: "haproxy", programs: &["haproxy"], packages: &["haproxy"] },
    Need { name: "curl", programs: &["curl"], packages: &["curl"] },
    Need { name: "openssl", programs: &["openssl"], packages: &["openssl"] },
    Need {
        name: "namespaces",
        programs: &["ip", "nft", "nsenter"],
        packages: &["iproute2", "nftables", "util-linux"],
    },
    Need { name: "captures", programs: &["tcpdump"], packages: &["tcpdump"] },
    Need { name: "kernels", programs: &[vm::EMULATOR], packages: &["qemu-system-x86"] },
];

/// What is not to be had here, so that the tests that need it are skipped.
#[derive(Default)]
pub(crate) struct Skipped(Vec<&'static str>);

impl Skipped {
    /// Says that the tests that need `name` are skipped; an error where nothing may be.
    pub(super) fn add(&mut self, name: &'static str, reason: &anyhow::Error) -> Result<()> {
        if in_ci() {
            bail!("{name} is missing, and with CI=true no test is skipped: {reason:#}");
        }
        println!("skipped: tests with {name}: {reason:#}");
        self.0.push(name);
        Ok(())
    }

    /// Whether any end-to-end test can run: all of them attach the probes, most of them between namespaces.
    pub(super) fn end_to_end(&self) -> bool {
        !self.0.iter().any(|name| ["probes", "namespaces"].contains(name))
    }

    /// The names as the tests read them.
    pub(super) fn names(&self) -> String {
        self.0.join(",")
    }
}

/// Installs what is missing, where that is possible, and returns what is missing still.
pub(super) fn provide() -> Result<Skipped> {
    let mut skipped = Skipped::default();
    if !rustix::process::geteuid().is_root() {
        skipped.add("probes", &anyhow!("attaching the probes needs root"))?;
    }
    let missing: Vec<_> = NEEDS.iter().filter(|need| !need.is_met()).collect();
    if missing.is_empty() {
        return Ok(skipped);
    }
    let packages: Vec<_> = missing.iter().flat_map(|need| need.packages.iter().copied()).collect();
    let installed = apt::install(&packages);
    for need in missing {
        if !need.is_met() {
            let reason = match &installed {
                Err(reason) => anyhow!("{reason:#}"),
                Ok(()) => {
                    anyhow!("{} did not bring {}", need.packages.join(", "), need.programs.join(", "))
                }
            };
            skipped.add(need.name, &reason)?;
        }
    }
    Ok(skipped)
}

impl Need {
    fn is_met(&self) -> bool {
        self.programs.iter().all(|program| command::is_installed(program))
    }
}
