//! `bellwether serve`: runs the service until a shutdown signal.

use anyhow::Context;
use clap::Args;

use super::{CommandError, SettingsArgs, run_service};
use crate::serve;
use crate::settings::CommandLineOption;

#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// The roles of this node of a cluster, separated by commas: api, evaluator, dispatcher, feed, jobs [default: cluster.roles]
    #[arg(long, value_name = "ROLES")]
    roles: Option<String>,
}

/// Runs the service.
pub(super) fn run(args: &ServeArgs) -> Result<(), CommandError> {
    let roles = args.roles.as_deref().map(|value| CommandLineOption {
        name: "--roles",
        key: "cluster.roles",
        value,
    });
    let settings = args.settings.load_with(roles.as_slice())?;
    settings.check_node().context("cannot start")?;
    run_service(&settings, |metering| serve::run(&settings, metering))
}
