//! `cargo xtask vm`: the probes on a stock kernel of another version, in an emulated machine.

mod initramfs;
mod kernel;
mod machine;

use std::{path::Path, time::Duration};

use anyhow::{Result, bail};
use clap::Args;

pub(crate) use kernel::Kernel;
pub(crate) use machine::EMULATOR;

use crate::{command, workspace::Workspace};

/// The machine is emulated, not virtualised: about twenty times slower than this one.
const PATIENCE: Duration = Duration::from_mins(5);

#[derive(Args)]
pub(crate) struct Arguments {
    /// Which stock kernel
    #[arg(long)]
    kernel: Kernel,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if !command::is_installed(EMULATOR) {
        bail!("{EMULATOR} is missing: run `apt-get install qemu-system-x86`");
    }
    workspace.build_programs()?;
    boot(workspace, arguments.kernel)
}

/// Boots `kernel` with what was built before, and fails unless the machine says that all went well.
pub(crate) fn boot(workspace: &Workspace, kernel: Kernel) -> Result<()> {
    let folder = workspace.target().join("vm").join(kernel.name());
    let image = kernel.fetch(&folder)?;
    let archive = folder.join("initramfs.cpio");
    let programs = [
        (workspace.program("vm-init"), Path::new("/init")),
        (workspace.program("observer"), Path::new("/observer")),
    ];
    initramfs::write(&archive, &programs)?;
    println!("booting Linux {}", kernel.name());
    machine::boot(&image, &archive, PATIENCE)
}
