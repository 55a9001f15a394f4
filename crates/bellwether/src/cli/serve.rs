//! `bellwether serve`: runs the service until a shutdown signal.

use clap::Args;

use super::{CommandError, SettingsArgs, run_service};
use crate::serve;

#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs the service.
pub(super) fn run(args: &ServeArgs) -> Result<(), CommandError> {
    let settings = args.settings.load()?;
    run_service(&settings, |metering| serve::run(&settings, metering))
}
