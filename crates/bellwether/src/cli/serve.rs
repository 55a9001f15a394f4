//! `bellwether serve`: the service, until it is told to stop.

use anyhow::Context;
use clap::Args;

use super::{Failure, SettingsArgs};
use crate::metering::Metering;
use crate::{logging, serve};

#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs the service.
pub(super) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let settings = args.settings.load()?;
    // Outside of the runtime: the exporter of traces has a thread and a client of its own.
    let logging = logging::begin(&settings.log, &settings.telemetry).context("cannot start")?;
    let metering = Metering::begin().context("cannot start")?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.spawn(logging.repeated_lines().count());
    Ok(runtime.block_on(serve::run(settings, metering))?)
}
