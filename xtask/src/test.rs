use anyhow::Result;
#[derive(clap::Args)]
pub(crate) struct Arguments {}
pub(crate) fn run(_: &crate::Workspace, _: &Arguments) -> Result<()> {
    Ok(())
}
