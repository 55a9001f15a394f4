//! `bellwether demo`: the service on a simulated market, without any preparation.

use clap::Args;
use market::Calendar;
use sources::folder::Rejections;

use super::replay::replay;
use super::{CommandError, run_service, say};
use crate::alerts_file;
use crate::demo::live::{self, DemoOptions};
use crate::demo::year;
use crate::replay::ReplayFiring;
use crate::settings::Settings;

#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    #[command(flatten)]
    options: DemoOptions,
    /// Replay a simulated year with alerts of every condition, instead of running the service
    #[arg(long, conflicts_with_all = ["dir", "listen", "lasting", "firings"])]
    year: bool,
}

/// Runs the demo.
pub(super) fn run(args: &DemoArgs) -> Result<(), CommandError> {
    if args.year {
        return replay_year(&args.options);
    }
    // The terminal shows the firings; only warnings and errors are logged beside them.
    let settings = Settings::with_overrides(&[("LOG__FORMAT", "text"), ("LOG__LEVEL", "warn")])?;
    run_service(&settings, |metering| live::run(&args.options, metering))
}

fn replay_year(args: &DemoOptions) -> Result<(), CommandError> {
    let calendar = Calendar::nyse();
    let (data, period, bodies) = year::prepare(args.seed, &calendar);
    let alerts = alerts_file::parse_bodies(&bodies, &calendar, period.start())
        .map_err(|invalid| anyhow::anyhow!("the demo's alerts are invalid: {invalid}"))?;
    say!(
        "A simulated market, seed {}: {} stocks from {} to {}, {} alerts of every kind.",
        args.seed,
        data.bars.len(),
        period.from,
        period.to,
        alerts.len()
    );
    let line: fn(&ReplayFiring) -> String = if args.json {
        ReplayFiring::to_json_line
    } else {
        readable_line
    };
    replay(&data, &calendar, period, alerts, &Rejections::default(), line)?;
    say!("Your own data: bellwether replay --data DIR --alerts FILE (see README.md).");
    Ok(())
}

fn readable_line(firing: &ReplayFiring) -> String {
    let time = firing
        .time
        .to_zoned(market::calendar::new_york_time_zone())
        .strftime("%Y-%m-%d %H:%M");
    format!(
        "{time}  {:<5} {:<22} {}",
        firing.symbol,
        firing.condition.name(),
        firing.reason
    )
}
