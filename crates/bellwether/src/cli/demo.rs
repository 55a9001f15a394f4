//! `bellwether demo`: the service on a simulated market, without any preparation.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use jiff::SignedDuration;
use market::Calendar;
use sources::folder::Rejections;

use super::replay::replay;
use super::{CommandError, say};
use crate::demo::{live, year};
use crate::metering::Metering;
use crate::replay::ReplayFiring;
use crate::settings::{LogFilter, LogFormat, Setting, Settings};
use crate::{alerts_file, logging};

#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// The seed of the simulated market; the same seed gives the same market
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Print each firing as a JSON line
    #[arg(long)]
    json: bool,
    /// Replay a simulated year with alerts of every condition, instead of running the service
    #[arg(long, conflicts_with_all = ["dir", "listen", "lasting", "firings"])]
    year: bool,
    /// Keep the database in this folder, and continue from it the next time
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The address to listen on [default: 127.0.0.1:8080, or any free port]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Stop after this number of seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    lasting: Option<u32>,
    /// Stop after this number of firings; with --for, exit with code 1 if there are fewer in time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    firings: Option<u64>,
}

/// Runs the demo.
pub(super) fn run(args: &DemoArgs) -> Result<(), CommandError> {
    if args.year {
        return replay_year(args);
    }
    let options = live::DemoOptions {
        seed: args.seed,
        json: args.json,
        dir: args.dir.clone(),
        listen: args.listen,
        duration: args.lasting.map(|seconds| SignedDuration::from_secs(seconds.into())),
        firings: args.firings,
    };
    let mut settings = Settings::load(None, [])?;
    settings.log.format = LogFormat::Text;
    // The terminal shows the firings; only warnings and errors are logged beside them.
    settings.log.level = LogFilter::from_text("warn").unwrap_or(settings.log.level);
    let logging = logging::init(&settings.log, &settings.telemetry).context("cannot start")?;
    let metering = Metering::install().context("cannot start")?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.spawn(logging.repeated_lines().run());
    Ok(runtime.block_on(live::run(&options, metering))?)
}

fn replay_year(args: &DemoArgs) -> Result<(), CommandError> {
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
