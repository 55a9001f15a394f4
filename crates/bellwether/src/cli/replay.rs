//! `bellwether replay`: recorded data, each firing a line.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::civil::Date;
use market::Calendar;
use sources::folder::{self, MarketData, Progress, Rejected, Rejections};

use super::{Failure, say};
use crate::alerts_file::{self, AlertsFileError, ReplayAlert};
use crate::clock::Stopwatch;
use crate::replay::{Firing, Replay, Span, Summary};

/// How many rejected rows a terminal shows before "more rows". Elsewhere each row is written.
const MAX_REJECTED_LISTED: usize = 50;

#[derive(Args, Debug)]
pub(super) struct ReplayArgs {
    /// The data folder: bars/*.csv[.gz], splits.csv, dividends.csv, earnings.csv, …
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// A JSON array of alerts as the API takes them, each with an optional created_at
    #[arg(long, value_name = "FILE")]
    alerts: PathBuf,
    /// The first day to replay; earlier bars warm the indicators up and are the symbols' earlier observations
    #[arg(long, value_name = "YYYY-MM-DD")]
    from: Option<Date>,
    /// The last day to replay; after the last bar, reminders and dates still fire
    #[arg(long, value_name = "YYYY-MM-DD")]
    to: Option<Date>,
}

/// Replays what `args` name.
pub(super) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    if args.from.zip(args.to).is_some_and(|(from, to)| from > to) {
        return Err(Failure::Usage("--from is after --to; swap them".to_owned()));
    }
    replay_recorded(args).map_err(Failure::from)
}

fn replay_recorded(args: &ReplayArgs) -> anyhow::Result<()> {
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
    let show_progress = |progress: Progress<'_>| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_read);
        if let Some(name) = progress.file.file_name() {
            bar.set_message(name.to_string_lossy().into_owned());
        }
    };
    let is_terminal = io::stderr().is_terminal();
    let report = |row: &Rejected| {
        if !is_terminal {
            name_rejected(row);
        }
    };
    let result = folder::read_reporting(dir, calendar, show_progress, report);
    bar.finish_and_clear();
    Ok(result?)
}

/// Prints a summary of the rejected rows on a terminal. Elsewhere each of them was printed when it was read.
fn report_rejected(rejected: &Rejections) {
    if !io::stderr().is_terminal() {
        return;
    }
    rejected.first.iter().take(MAX_REJECTED_LISTED).for_each(name_rejected);
    let more = rejected.count.saturating_sub(MAX_REJECTED_LISTED as u64);
    if more > 0 {
        say!("left out: {more} more rows; redirect standard error to a file to see each of them");
    }
}

fn name_rejected(row: &Rejected) {
    say!("left out: {row}");
}

/// Replays, prints a line for each firing, and sums up.
pub(super) fn replay(
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

/// A bar on standard error; nothing at all where that is no terminal.
fn progress_bar(template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}
