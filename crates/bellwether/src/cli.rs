//! The command line.
//!
//! Results go to standard output, everything said about them to standard error. Exit codes: 0 done, 1 failed, 2
//! wrong usage.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::civil::Date;
use market::Calendar;
use sources::folder::{self, MarketData, Rejections};

use crate::alerts_file::{self, AlertsFileError, ReplayAlert};
use crate::clock::Stopwatch;
use crate::demo;
use crate::replay::{Firing, Replay, Span, Summary};

/// Says something on standard error. Nobody may be listening; that is no reason to fail.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = writeln!(io::stderr(), $($text)*);
    }};
}

/// How many rejected rows are listed before "and more".
const MAX_REJECTED_LISTED: usize = 50;

/// Bellwether watches the stock market for your conditions and tells you when they are met, and why.
#[derive(Parser, Debug)]
#[command(version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Replay a simulated year of twenty stocks with alerts of every family; needs nothing
    Demo(DemoArgs),
    /// Replay recorded market data and print each firing as a JSON line
    Replay(ReplayArgs),
}

#[derive(Args, Debug)]
struct DemoArgs {
    /// The number the simulated market is made of: the same number, the same year
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Print each firing as a JSON line, like replay
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct ReplayArgs {
    /// The data folder: bars/*.csv[.gz], splits.csv, dividends.csv, earnings.csv, …
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// A JSON array of alerts as the API takes them, each with an optional created_at
    #[arg(long, value_name = "FILE")]
    alerts: PathBuf,
    /// The first day to replay; earlier bars only warm the indicators up
    #[arg(long, value_name = "YYYY-MM-DD")]
    from: Option<Date>,
    /// The last day to replay
    #[arg(long, value_name = "YYYY-MM-DD")]
    to: Option<Date>,
}

/// Runs the program and answers its exit code.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    let result = match cli.command {
        Command::Demo(args) => run_demo(&args),
        Command::Replay(args) if args.from.zip(args.to).is_some_and(|(from, to)| from > to) => {
            say!("error: --from is after --to; swap them");
            return ExitCode::from(2);
        }
        Command::Replay(args) => run_replay(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_demo(args: &DemoArgs) -> anyhow::Result<()> {
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

fn run_replay(args: &ReplayArgs) -> anyhow::Result<()> {
    let calendar = Calendar::nyse();
    let bodies = alerts_file::read_bodies(&args.alerts)?;
    let (data, rejected) = read_folder(&args.data, &calendar)?;
    report_rejected(&rejected);
    let span = Span::of(&data, args.from, args.to).context(args.data.display().to_string())?;
    let alerts =
        alerts_file::parse_bodies(&bodies, &calendar, span.start()).map_err(|bad| AlertsFileError::BadAlerts {
            path: args.alerts.clone(),
            bad,
        })?;
    replay(&data, &calendar, span, alerts, &rejected, Firing::to_json_line)
}

fn read_folder(dir: &Path, calendar: &Calendar) -> anyhow::Result<(MarketData, Rejections)> {
    let bar = progress_bar("reading {bar:40} {percent}% {msg}");
    let result = folder::read(dir, calendar, |progress| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_read);
        if let Some(name) = progress.file.file_name() {
            bar.set_message(name.to_string_lossy().into_owned());
        }
    });
    bar.finish_and_clear();
    Ok(result?)
}

fn report_rejected(rejected: &Rejections) {
    for row in rejected.first.iter().take(MAX_REJECTED_LISTED) {
        say!("left out: {row}");
    }
    let more = rejected.count.saturating_sub(MAX_REJECTED_LISTED as u64);
    if more > 0 {
        say!("left out: {more} more rows");
    }
}

/// Replays, prints a line for each firing, and sums up.
fn replay(
    data: &MarketData,
    calendar: &Calendar,
    span: Span,
    alerts: Vec<ReplayAlert>,
    rejected: &Rejections,
    line: fn(&Firing) -> String,
) -> anyhow::Result<()> {
    let bar = progress_bar("replaying {bar:40} {percent}% {msg}");
    bar.set_length(calendar.sessions(span.from, span.to).count() as u64);
    let watch = Stopwatch::start();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut failure = None;
    let replay = Replay::new(data, calendar, span, alerts, |firing: Firing| {
        match writeln!(out, "{}", line(&firing)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    let summary = replay.run(|date| {
        if span.contains(date) {
            bar.inc(1);
            bar.set_message(date.to_string());
        }
    });
    bar.finish_and_clear();
    match failure.map_or_else(|| out.flush(), Err) {
        // Whoever reads our output has read enough (`| head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
        result => result.context("cannot write to standard output")?,
    }
    sum_up(&summary, rejected, watch);
    Ok(())
}

fn sum_up(summary: &Summary, rejected: &Rejections, watch: Stopwatch) {
    let Summary {
        sessions,
        observations,
        alerts,
        alerts_without_bars,
        alerts_not_begun,
        firings,
    } = *summary;
    let seconds = watch.elapsed().as_secs_f64();
    if alerts_without_bars > 0 {
        say!("{alerts_without_bars} alerts are on symbols without a single bar.");
    }
    if alerts_not_begun > 0 {
        say!("{alerts_not_begun} alerts were created after the last day that was replayed.");
    }
    say!(
        "{sessions} sessions, {observations} observations, {alerts} alerts, {firings} firings, \
         {} rejected rows, {seconds:.2} s",
        rejected.count
    );
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

/// A bar on standard error; nothing at all where that is no terminal.
fn progress_bar(template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}
