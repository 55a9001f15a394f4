//! `bellwether config`: the settings that hold in the end.

use clap::Args;

use super::{Failure, SettingsArgs, print};

#[derive(Args, Debug)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Prints the effective settings.
pub(super) fn run(args: &ConfigArgs) -> Result<(), Failure> {
    print(&args.settings.load()?.to_toml())
}
