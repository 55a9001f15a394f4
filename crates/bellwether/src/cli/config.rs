//! `bellwether config`: prints the effective settings.

use clap::Args;

use super::{CommandError, SettingsArgs, print};

#[derive(Args, Debug)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Prints the effective settings.
pub(super) fn run(args: &ConfigArgs) -> Result<(), CommandError> {
    print(&args.settings.load()?.to_toml())
}
