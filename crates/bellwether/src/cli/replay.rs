//! `bellwether replay`: replays recorded data and prints a line for each firing.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::civil::Date;
use market::Calendar;
use sources::folder::{self, MarketData, ReadProgress, RejectedRow, Rejections};

use super::{CommandError, say};
use crate::alerts_file::{self, AlertsFileError};
use crate::clock::Stopwatch;
use crate::replay::{Replay, ReplayAlert, ReplayFiring, ReplayPeriod, ReplaySummary};

/// The maximum number of rejected rows that are shown on a terminal. If standard error is not a terminal, each row is
/// written.
const MAX_REJECTED_LISTED: usize = 50;

#[derive(Args, Debug)]
pub(super) struct ReplayArgs {
    /// The data folder: bars/*.csv[.gz], splits.csv, dividends.csv, earnings.csv, …
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// A JSON array of create-alert bodies as in the API, each with an optional created_at
    #[arg(long, value_name = "FILE")]
    alerts: PathBuf,
    /// The first day to replay; earlier bars only warm up the indicators and count as earlier observations
    #[arg(long, value_name = "YYYY-MM-DD")]
    from: Option<Date>,
    /// The last day to replay; after the last bar, reminders and date conditions still fire
    #[arg(long, value_name = "YYYY-MM-DD")]
    to: Option<Date>,
}

/// Runs the command.
pub(super) fn run(args: &ReplayArgs) -> Result<(), CommandError> {
    if args.from.zip(args.to).is_some_and(|(from, to)| from > to) {
        return Err(CommandError::Usage("--from is after --to; swap them".to_owned()));
    }
    replay_recorded(args).map_err(CommandError::from)
}

fn replay_recorded(args: &ReplayArgs) -> anyhow::Result<()> {
    let calendar = Calendar::nyse();
    let bodies = alerts_file::read_bodies(&args.alerts)?;
    let (data, rejected) = read_folder(&args.data, &calendar)?;
    report_rejected(&rejected);
    let period = ReplayPeriod::of(&data, args.from, args.to).context(args.data.display().to_string())?;
    let alerts = alerts_file::parse_bodies(&bodies, &calendar, period.start()).map_err(|invalid| {
        AlertsFileError::InvalidAlerts {
            path: args.alerts.clone(),
            invalid,
        }
    })?;
    replay(&data, &calendar, period, alerts, &rejected, ReplayFiring::to_json_line)
}

fn read_folder(dir: &Path, calendar: &Calendar) -> anyhow::Result<(MarketData, Rejections)> {
    let bar = progress_bar("reading {bar:40} {percent}% {msg}");
    let show_progress = |progress: ReadProgress<'_>| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_read);
        if let Some(name) = progress.file.file_name() {
            bar.set_message(name.to_string_lossy().into_owned());
        }
    };
    let is_terminal = io::stderr().is_terminal();
    let report = |row: &RejectedRow| {
        if !is_terminal {
            name_rejected(row);
        }
    };
    let result = folder::read_reporting(dir, calendar, show_progress, report);
    bar.finish_and_clear();
    Ok(result?)
}

/// Prints a summary of the rejected rows on a terminal. Otherwise each row was printed when it was read.
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

fn name_rejected(row: &RejectedRow) {
    say!("left out: {row}");
}

/// Replays, prints a line for each firing, and prints the summary.
pub(super) fn replay(
    data: &MarketData,
    calendar: &Calendar,
    period: ReplayPeriod,
    alerts: Vec<ReplayAlert>,
    rejected: &Rejections,
    line: fn(&ReplayFiring) -> String,
) -> anyhow::Result<()> {
    let bar = progress_bar("replaying {bar:40} {percent}% {msg}");
    bar.set_length(calendar.sessions(period.from, period.to).count() as u64);
    let watch = Stopwatch::start();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut failure = None;
    let replay = Replay::new(data, calendar, period, alerts, |firing: ReplayFiring| {
        match writeln!(out, "{}", line(&firing)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    let summary = replay.run(|date| {
        if period.contains(date) {
            bar.inc(1);
            bar.set_message(date.to_string());
        }
    });
    bar.finish_and_clear();
    match failure.map_or_else(|| out.flush(), Err) {
        // The reader has closed the pipe (`| head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
        result => result.context("cannot write to standard output")?,
    }
    sum_up(&summary, rejected, watch);
    Ok(())
}

fn sum_up(summary: &ReplaySummary, rejected: &Rejections, watch: Stopwatch) {
    let ReplaySummary {
        sessions,
        observations,
        alerts,
        alerts_without_bars,
        alerts_created_after_end,
        firings,
    } = *summary;
    let seconds = watch.elapsed().as_secs_f64();
    if alerts_without_bars > 0 {
        say!("{alerts_without_bars} alerts are on symbols without any bars.");
    }
    if alerts_created_after_end > 0 {
        say!("{alerts_created_after_end} alerts were created after the last day of the replay.");
    }
    say!(
        "{sessions} sessions, {observations} observations, {alerts} alerts, {firings} firings, \
         {} rejected rows, {seconds:.2} s",
        rejected.count
    );
}

/// Returns a progress bar on standard error, hidden if that is not a terminal.
fn progress_bar(template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}
