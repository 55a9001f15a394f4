//! `bellwether demo`: a market that needs nothing.

use clap::Args;
use market::Calendar;
use sources::folder::Rejections;

use super::replay::replay;
use super::{Failure, say};
use crate::replay::Firing;
use crate::{alerts_file, demo};

#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// The number the simulated market is made of: the same number, the same year
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Print each firing as a JSON line, like replay
    #[arg(long)]
    json: bool,
}

/// Shows the demo.
pub(super) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let calendar = Calendar::nyse();
    let (data, span, bodies) = demo::prepare(args.seed, &calendar);
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
