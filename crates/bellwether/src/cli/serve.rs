//! `bellwether serve`: runs the service until a shutdown signal.

use anyhow::Context;
use clap::Args;

use super::{CommandError, SettingsArgs};
use crate::metering::Metering;
use crate::{logging, serve};

#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs the service.
pub(super) fn run(args: &ServeArgs) -> Result<(), CommandError> {
    let settings = args.settings.load()?;
    // Initialized outside of the runtime, because the trace exporter has its own thread and HTTP client.
    let logging = logging::init(&settings.log, &settings.telemetry).context("cannot start")?;
    let metering = Metering::install().context("cannot start")?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.spawn(logging.repeated_lines().run());
    Ok(runtime.block_on(serve::run(settings, metering))?)
}
