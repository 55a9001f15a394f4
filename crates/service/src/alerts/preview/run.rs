//! The run of a preview. It does no I/O.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use alerts::engine::EngineConfig;
use alerts::expression::ast::{MetricReference, NumericExpression};
use evaluation::replay::{Replay, ReplayAlert, ReplayFiring, ReplayPeriod};
use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Calendar, Price, Symbol};
use paper::FiredAlertRecord;
use sources::folder::MarketData;

use super::coverage::HistoryCoverage;
use super::noise::{Noise, noise};
use super::outcome::{OutcomeMeans, PreviewOutcome};
use super::plan::PreviewPlan;
use super::resolution::intraday_sessions;

/// The maximum number of firings in a response; the newest ones. All of them count.
pub const MAX_PREVIEW_FIRINGS: usize = 500;

/// The input of a preview.
#[derive(Clone, Debug)]
pub struct PreviewInput {
    /// The alert.
    pub plan: PreviewPlan,
    /// The stored data of its stocks, also from before the period.
    pub data: MarketData,
    /// The first requested day.
    pub from: Date,
    /// The last requested day.
    pub to: Date,
    /// The benchmark.
    pub benchmark: Symbol,
    /// The stored bars of the benchmark.
    pub benchmark_data: MarketData,
    /// The exchange calendar.
    pub calendar: Calendar,
    /// The configuration of the engine.
    pub config: EngineConfig,
}

/// The result of a preview.
#[derive(Clone, PartialEq, Debug)]
pub struct Preview {
    /// The firings, oldest first; of more than [`MAX_PREVIEW_FIRINGS`] the newest.
    pub firings: Vec<PreviewFiring>,
    /// The number of all firings.
    pub count: usize,
    /// The number of firings per year; `None` without covered days.
    pub per_year: Option<f64>,
    /// The played days. Those of an alert over many stocks have bars of at least one of them.
    pub coverage: HistoryCoverage,
    /// Whether the alert is judged in extended hours, too, of which no prices are stored.
    pub lacks_extended_hours: bool,
    /// Whether the alert fires too often.
    pub noise: Option<Noise>,
    /// The metrics that never had a value on the played days.
    pub unknown_metrics: Vec<String>,
    /// The reasons why the condition can never be true on the data there is; empty if it may be.
    pub never_true: Vec<String>,
    /// The performance after the firings.
    pub outcome: PreviewOutcome,
}

/// A firing of a preview.
#[derive(Clone, PartialEq, Debug)]
pub struct PreviewFiring {
    /// The time.
    pub at: Timestamp,
    /// The stock.
    pub symbol: Symbol,
    /// The price of the stock in the shares of that day, if one was observed.
    pub price: Option<Price>,
    /// The reason as a sentence.
    pub reason: String,
}

/// An alert as it was played on one stock.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PlayedStock {
    plan: PreviewPlan,
    coverage: HistoryCoverage,
    firings: Vec<PreviewFiring>,
    /// For each metric whether it had a value.
    is_known: Vec<bool>,
    means: OutcomeMeans,
}

/// Plays an alert on one stock.
#[must_use]
pub fn run(input: &PreviewInput) -> Preview {
    combine(vec![play(input, &AtomicBool::new(false))], &input.calendar)
}

/// Plays an alert on one stock, whose result [`combine`] can combine with those on others. The result of a cancelled preview is not
/// complete.
pub(super) fn play(input: &PreviewInput, is_cancelled: &AtomicBool) -> PlayedStock {
    let PreviewInput {
        plan, data, calendar, ..
    } = input;
    let symbols = plan.used_symbols();
    // Daily bars have no volume-weighted average price.
    let first = intraday_sessions(data, &symbols).first().copied();
    let first = first.filter(|_| plan.needs_intraday_bars());
    let from = first.map_or(input.from, |first| first.max(input.from));
    let coverage = HistoryCoverage::of(data, &symbols, from, input.to, calendar);
    let (firings, is_known) = match coverage.days {
        Some((from, to)) => replay(input, ReplayPeriod { from, to }, is_cancelled),
        None => (Vec::new(), vec![false; plan.metrics.len()]),
    };
    let records: Vec<_> = firings
        .iter()
        .map(|firing| FiredAlertRecord {
            at: firing.at,
            price: firing.price,
        })
        .collect();
    let stock = (data, plan.alert.symbol);
    let benchmark = (&input.benchmark_data, input.benchmark);
    PlayedStock {
        plan: plan.clone(),
        coverage,
        firings,
        is_known,
        means: OutcomeMeans::of(&records, stock, benchmark, calendar),
    }
}

/// Combines what was played on the stocks of an alert.
pub(super) fn combine(stocks: Vec<PlayedStock>, calendar: &Calendar) -> Preview {
    let unknown_metrics = unknown_metrics(&stocks);
    let never_true = never_true(&stocks);
    let mut means = OutcomeMeans::default();
    stocks.iter().for_each(|stock| means.merge(&stock.means));
    let plan = stocks.first().map(|stock| stock.plan.clone());
    let mut firings = Vec::new();
    let mut coverages = Vec::with_capacity(stocks.len());
    for stock in stocks {
        firings.extend(stock.firings);
        coverages.push((stock.plan.alert.symbol, stock.coverage));
    }
    firings.sort_by_key(|firing| (firing.at, firing.symbol));
    // On one stock, the days are those with bars of all stocks that its expression names.
    let coverage = match <[_; 1]>::try_from(coverages) {
        Ok([(_, coverage)]) => coverage,
        Err(coverages) => HistoryCoverage::of_many(coverages, calendar),
    };
    let mut per_session: BTreeMap<(Symbol, Date), usize> = BTreeMap::new();
    for firing in &firings {
        *per_session
            .entry((firing.symbol, new_york_date(firing.at)))
            .or_default() += 1;
    }
    let most_in_a_session = per_session.into_values().max().unwrap_or_default();
    let (count, per_year) = (firings.len(), coverage.per_year(firings.len()));
    Preview {
        count,
        per_year,
        coverage,
        lacks_extended_hours: plan
            .as_ref()
            .is_some_and(|plan| plan.alert.options.judges_extended_hours()),
        noise: plan.and_then(|plan| noise(&plan.alert, per_year.unwrap_or_default(), most_in_a_session)),
        unknown_metrics,
        never_true,
        outcome: means.outcome(),
        firings: firings
            .into_iter()
            .skip(count.saturating_sub(MAX_PREVIEW_FIRINGS))
            .collect(),
    }
}

/// Returns the reasons why the condition can never be true, each once; empty if it may be on one of the stocks.
fn never_true(stocks: &[PlayedStock]) -> Vec<String> {
    let mut all = Vec::new();
    for stock in stocks {
        // Without any day, the definitions of the metrics decide alone.
        let is_known = stock.coverage.days.map_or(&[][..], |_| &stock.is_known);
        let reasons = stock.plan.never_true(is_known);
        if reasons.is_empty() {
            return reasons;
        }
        all.extend(
            reasons
                .into_iter()
                .filter(|reason| !all.contains(reason))
                .collect::<Vec<_>>(),
        );
    }
    all
}

/// Returns the metrics that had no value: `pe`, or `MSFT.pe` if the metric of other stocks had one.
fn unknown_metrics(stocks: &[PlayedStock]) -> Vec<String> {
    let metrics = stocks.first().map_or(&[][..], |stock| &stock.plan.metrics);
    let mut unknown = Vec::new();
    for (place, &metric) in metrics.iter().enumerate() {
        let missing: Vec<Symbol> = stocks
            .iter()
            .filter(|stock| !stock.is_known.get(place).copied().unwrap_or_default())
            .map(|stock| stock.plan.alert.symbol)
            .collect();
        if missing.len() == stocks.len() {
            unknown.push(metric);
        } else if metric.symbol.is_none() {
            unknown.extend(missing.into_iter().map(|symbol| MetricReference {
                symbol: Some(symbol),
                ..metric
            }));
        }
    }
    let text = |metric| NumericExpression::Metric(metric).to_string();
    unknown.into_iter().map(text).collect()
}

/// Returns the firings of the alert, and for each metric whether it had a value.
fn replay(input: &PreviewInput, period: ReplayPeriod, is_cancelled: &AtomicBool) -> (Vec<PreviewFiring>, Vec<bool>) {
    let probes = input.plan.probes();
    let mut is_known = vec![false; probes.len()];
    let mut firings = Vec::new();
    let played = [input.plan.alert.clone()].into_iter().chain(probes);
    let played = played.map(|alert| ReplayAlert::new(alert, None));
    let on_firing = |firing: ReplayFiring| {
        match firing.alert_index.checked_sub(1) {
            Some(metric) => is_known[metric] = true,
            None => firings.push(PreviewFiring {
                at: firing.time,
                symbol: firing.symbol,
                price: firing.price,
                reason: firing.reason,
            }),
        }
        ControlFlow::Continue(())
    };
    let replay = Replay::with_config(
        &input.data,
        &input.calendar,
        period,
        played.collect(),
        input.config.clone(),
        on_firing,
    );
    replay.run_while(|_| !is_cancelled.load(Ordering::Relaxed));
    (firings, is_known)
}

#[cfg(test)]
pub(super) mod tests;
