//! Outcomes by group, and their table.

use std::collections::BTreeMap;
use std::fmt::Write;

use alerts::ConditionKind;
use analyst::Role;
use jiff::civil::Date;

/// The group in which an alert is counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct AlertGroup {
    pub(crate) intention: &'static str,
    pub(crate) role: Role,
    pub(crate) condition: ConditionKind,
}

/// The moves after a firing: for each span the stock's move and its excess over the benchmark.
pub(crate) struct Moves {
    pub(crate) fired_on: Date,
    pub(crate) each: [Option<(f64, f64)>; 3],
}

/// The outcome of one alert.
pub(crate) struct AlertOutcome {
    pub(crate) expected: Option<f64>,
    pub(crate) fired: Option<Moves>,
}

#[derive(Default)]
struct GroupRow {
    made: u32,
    expected: Vec<f64>,
    fired: Vec<Moves>,
}

/// All outcomes.
#[derive(Default)]
pub(crate) struct OutcomeTable {
    rows: BTreeMap<AlertGroup, GroupRow>,
    analysis_days: GroupRow,
}

impl OutcomeTable {
    pub(crate) fn add(&mut self, kind: AlertGroup, outcome: AlertOutcome) {
        let row = self.rows.entry(kind).or_default();
        row.made += 1;
        row.expected.extend(outcome.expected);
        row.fired.extend(outcome.fired);
    }

    /// Records the moves after an analysis regardless of firings, as the baseline for all alerts.
    pub(crate) fn add_analysis_day(&mut self, moves: Moves) {
        self.analysis_days.made += 1;
        self.analysis_days.fired.push(moves);
    }

    /// The rows as Markdown.
    pub(crate) fn to_markdown(&self) -> String {
        let mut text = String::from(
            "| for | alert | condition | made | fired | random walk | stock +1 | +5 | +20 | against benchmark +1 | +5 | +20 | ± | better in |\n\
             |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for (kind, row) in &self.rows {
            // Writing to a string cannot fail.
            let name = format!(
                "{} | {} | `{}`",
                kind.intention,
                kind.role.name().replace('_', " "),
                kind.condition
            );
            let _ = writeln!(text, "| {name} {}", line(row));
        }
        let _ = writeln!(
            text,
            "| both | none: any day that was looked at | – {}",
            line(&self.analysis_days)
        );
        text
    }
}

/// Formats the figures of a row.
fn line(row: &GroupRow) -> String {
    let fired = row.fired.len() as f64 / f64::from(row.made);
    let walk = mean(row.expected.iter().copied()).map_or("–".to_owned(), |part| format!("{:.0} %", part * 100.0));
    let stock = [0, 1, 2].map(|span| signed(mean(all(row, span).map(|(_, (stock, _))| stock))));
    let excess = [0, 1, 2].map(|span| signed(mean(all(row, span).map(|(_, (_, excess))| excess))));
    let better = mean(all(row, 2).map(|(_, (_, excess))| if excess > 0.0 { 1.0 } else { 0.0 }));
    format!(
        "| {} | {:.0} % | {walk} | {} | {} | {} | {} | {} | {} | {} | {} |",
        row.made,
        fired * 100.0,
        stock[0],
        stock[1],
        stock[2],
        excess[0],
        excess[1],
        excess[2],
        deviation(row).map_or("–".to_owned(), |part| format!("{:.2}", part * 100.0)),
        better.map_or("–".to_owned(), |part| format!("{:.0} %", part * 100.0)),
    )
}

fn all(row: &GroupRow, span: usize) -> impl Iterator<Item = (Date, (f64, f64))> {
    row.fired
        .iter()
        .filter_map(move |moves| Some((moves.fired_on, moves.each[span]?)))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    values.for_each(|value| (sum, count) = (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

fn signed(part: Option<f64>) -> String {
    part.map_or("–".to_owned(), |part| format!("{:+.2}", part * 100.0))
}

/// The standard error of the mean excess after 20 sessions. Firings of one month are not independent, so they count
/// as one cluster.
///
/// Source: Liang and Zeger, "Longitudinal data analysis using generalized linear models", *Biometrika* 73 (1986), for
/// a mean.
fn deviation(row: &GroupRow) -> Option<f64> {
    let mean = mean(all(row, 2).map(|(_, (_, excess))| excess))?;
    let (mut clusters, mut count) = (BTreeMap::<(i16, i8), f64>::new(), 0.0);
    for (date, (_, excess)) in all(row, 2) {
        *clusters.entry((date.year(), date.month())).or_default() += excess - mean;
        count += 1.0;
    }
    let squares: f64 = clusters.values().map(|sum| sum * sum).sum();
    (clusters.len() > 1).then(|| squares.sqrt() / count)
}
