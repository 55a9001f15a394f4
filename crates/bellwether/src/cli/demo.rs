//! `bellwether demo`: the service at work on a market that needs nothing.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use jiff::SignedDuration;
use market::Calendar;
use sources::folder::Rejections;

use super::replay::replay;
use super::{Failure, say};
use crate::demo::{live, year};
use crate::metering::Metering;
use crate::replay::Firing;
use crate::settings::{Filter, LogFormat, Setting, Settings};
use crate::{alerts_file, logging};

#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// The number the simulated market is made of: the same number, the same market
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Print each firing as a JSON line
    #[arg(long)]
    json: bool,
    /// Replay a simulated year of every condition in a moment, instead of running the service
    #[arg(long, conflicts_with_all = ["dir", "listen", "lasting", "firings"])]
    year: bool,
    /// Keep the database in this folder, and go on from it the next time
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Where to listen [default: 127.0.0.1:8080, or any port that is free]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// End after so many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    lasting: Option<u32>,
    /// End after so many firings; with --for it is a failure if they do not come in time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    firings: Option<u64>,
}

/// Shows the demo.
pub(super) fn run(args: &DemoArgs) -> Result<(), Failure> {
    if args.year {
        return replay_year(args);
    }
    let wishes = live::Wishes {
        seed: args.seed,
        json: args.json,
        dir: args.dir.clone(),
        listen: args.listen,
        lasting: args.lasting.map(|seconds| SignedDuration::from_secs(seconds.into())),
        firings: args.firings,
    };
    let mut settings = Settings::load(None, [])?;
    settings.log.format = LogFormat::Text;
    // People look at the firings; only what goes wrong is told beside them.
    settings.log.level = Filter::from_text("warn").unwrap_or(settings.log.level);
    let logging = logging::begin(&settings.log, &settings.telemetry).context("cannot start")?;
    let metering = Metering::begin().context("cannot start")?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.spawn(logging.repeated_lines().count());
    Ok(runtime.block_on(live::run(&wishes, metering))?)
}

fn replay_year(args: &DemoArgs) -> Result<(), Failure> {
    let calendar = Calendar::nyse();
    let (data, span, bodies) = year::prepare(args.seed, &calendar);
    let alerts = alerts_file::parse_bodies(&bodies, &calendar, span.start())
        .map_err(|bad| anyhow::anyhow!("the demo's own alerts are wrong: {bad}"))?;
    say!(
        "A simulated market, seed {}: {} stocks from {} to {}, {} alerts of every family.",
        args.seed,
        data.bars.len(),
        span.from,
        span.to,
        alerts.len()
    );
    let line: fn(&Firing) -> String = if args.json { Firing::to_json_line } else { readable_line };
    replay(&data, &calendar, span, alerts, &Rejections::default(), line)?;
    say!("Your own data: bellwether replay --data DIR --alerts FILE (see README.md).");
    Ok(())
}

fn readable_line(firing: &Firing) -> String {
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
