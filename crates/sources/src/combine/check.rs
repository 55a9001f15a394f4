//! Everything asked once.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::Symbol;
use market::calendar::new_york_date;
use tokio::sync::watch;

use super::Combination;
use super::plan::span;
use super::table::table;
use crate::provider::http::Setup;
use crate::provider::stream::{self, State};
use crate::provider::{Answer, Ask, Capability, Days, Provider, ProviderError, Times};

/// The newest that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newest {
    /// Something with a time of day.
    Instant(Timestamp),
    /// Something with a date.
    Day(Date),
}

impl fmt::Display for Newest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instant(time) => write!(f, "{time:.0}"),
            Self::Day(date) => date.fmt(f),
        }
    }
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// It answered.
    Answered {
        /// How many records.
        records: usize,
        /// How many rows were left out.
        faults: u64,
        /// The newest of them.
        newest: Option<Newest>,
    },
    /// It did not.
    Failed(ProviderError),
    /// A stream was not live in time.
    NotLive,
}

/// A capability of a provider, asked once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRow {
    /// What.
    pub capability: Capability,
    /// Whom.
    pub provider: &'static str,
    /// 0 is the primary, what follows are fallbacks.
    pub rank: usize,
    /// How long it took.
    pub latency: SignedDuration,
    /// How it went.
    pub outcome: Checked,
}

/// Asks each provider that is set for something for it, about these symbols.
pub async fn check(combination: &Combination, symbols: &[Symbol], benchmark: Symbol, setup: &Setup) -> Vec<CheckRow> {
    let mut rows = Vec::new();
    for capability in combination.capabilities().iter() {
        for (rank, provider) in combination.providers(capability).enumerate() {
            let began = setup.clock.now();
            let outcome = match question(capability, symbols, benchmark, began) {
                Some(ask) => match provider.fetch(&ask).await {
                    Ok(answer) => answered(&answer),
                    Err(error) => Checked::Failed(error),
                },
                None => listen(&**provider, symbols, setup).await,
            };
            rows.push(CheckRow {
                capability,
                provider: provider.name(),
                rank,
                latency: setup.clock.now().duration_since(began),
                outcome,
            });
        }
    }
    rows
}

/// A small question; `None` for a stream, which is none.
fn question(capability: Capability, symbols: &[Symbol], benchmark: Symbol, now: Timestamp) -> Option<Ask> {
    let today = new_york_date(now);
    let days = |before: i64, after: i64| Days {
        from: today.saturating_sub(Span::new().days(before)),
        to: today.saturating_add(Span::new().days(after)),
    };
    let symbols = symbols.to_vec();
    Some(match capability {
        Capability::Catalog => Ask::Catalog,
        Capability::Quotes => Ask::Quotes(symbols),
        Capability::Stream => return None,
        Capability::MinuteBars => {
            let from = now
                .saturating_sub(SignedDuration::from_hours(24))
                .unwrap_or(Timestamp::MIN);
            Ask::MinuteBars(symbols, Times { from, to: now })
        }
        Capability::DailyBars => Ask::DailyBars(symbols, days(7, -1)),
        Capability::Fundamentals => Ask::Fundamentals(symbols),
        Capability::Earnings => Ask::Earnings(symbols, days(0, 90)),
        Capability::Dividends => Ask::Dividends(symbols, days(90, 30)),
        Capability::Splits => Ask::Splits(symbols, days(90, 30)),
        Capability::InsiderTrades => Ask::InsiderTrades(symbols, days(7, 0)),
        Capability::Mentions => Ask::Mentions(symbols),
        Capability::Benchmark => Ask::Benchmark(benchmark, days(7, -1)),
    })
}

fn answered(answer: &Answer) -> Checked {
    let batch = &answer.batch;
    let instants = batch.quotes.iter().filter_map(|row| row.time);
    let instants = instants.chain(answer.minutes.iter().map(|minute| minute.bar.time));
    let instants = instants.chain(batch.mentions.iter().map(|row| row.time));
    let days = batch.bars.iter().map(|row| row.bar.date);
    let days = days.chain(batch.fundamentals.iter().map(|row| row.as_of));
    let days = days.chain(batch.earnings.iter().map(|row| row.date));
    let days = days.chain(batch.dividends.iter().map(|row| row.ex_date));
    let days = days.chain(batch.splits.iter().map(|row| row.date));
    let days = days.chain(batch.insider_transactions.iter().map(|row| row.filed_on));
    Checked::Answered {
        records: answer.len(),
        faults: answer.faults.count,
        newest: instants
            .max()
            .map(Newest::Instant)
            .or_else(|| days.max().map(Newest::Day)),
    }
}

/// Connects, subscribes, and hangs up once that is done.
async fn listen(provider: &dyn Provider, symbols: &[Symbol], setup: &Setup) -> Checked {
    let not_offered = ProviderError::NotOffered {
        provider: provider.name(),
        capability: Capability::Stream.name(),
    };
    let Some(protocol) = provider.stream() else {
        return Checked::Failed(not_offered);
    };
    let (_wanted, receiver) = watch::channel(Arc::new(symbols.iter().copied().collect::<BTreeSet<_>>()));
    let Ok((mut prices, task)) = stream::start(protocol, setup, stream::Settings::default(), receiver) else {
        return Checked::NotLive;
    };
    let deadline = SignedDuration::try_from(setup.deadline).unwrap_or(SignedDuration::MAX);
    let deadline = setup.clock.now().saturating_add(deadline).unwrap_or(Timestamp::MAX);
    tokio::select! {
        ended = task => match ended {
            Err(error) => Checked::Failed(error),
            Ok(()) => Checked::NotLive,
        },
        state = prices.settled() => match state {
            State::Live => Checked::Answered { records: 0, faults: 0, newest: prices.report().heard_at.map(Newest::Instant) },
            _ => Checked::NotLive,
        },
        () = setup.clock.sleep_until(deadline) => Checked::NotLive,
    }
}

/// The rows as text.
#[must_use]
pub fn check_table(rows: &[CheckRow], now: Timestamp) -> String {
    let head = [
        "capability",
        "provider",
        "role",
        "latency>",
        "records>",
        "newest",
        "age>",
        "result",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        let role = match row.rank {
            0 => "primary".to_owned(),
            rank => format!("fallback {rank}"),
        };
        let latency = format!("{} ms", row.latency.as_millis());
        let (records, newest, age, result) = match &row.outcome {
            Checked::Answered {
                records,
                faults,
                newest,
            } => {
                let age = match newest {
                    Some(Newest::Instant(time)) => {
                        span(Duration::try_from(now.duration_since(*time)).unwrap_or_default())
                    }
                    _ => "-".to_owned(),
                };
                let result = if *faults == 0 {
                    "ok".to_owned()
                } else {
                    format!("ok, {faults} rows left out")
                };
                (
                    records.to_string(),
                    newest.map_or_else(|| "-".to_owned(), |newest| newest.to_string()),
                    age,
                    result,
                )
            }
            Checked::Failed(error) => ("-".to_owned(), "-".to_owned(), "-".to_owned(), error.to_string()),
            Checked::NotLive => (
                "-".to_owned(),
                "-".to_owned(),
                "-".to_owned(),
                "not live in time".to_owned(),
            ),
        };
        lines.push(vec![
            row.capability.to_string(),
            row.provider.to_owned(),
            role,
            latency,
            records,
            newest,
            age,
            result,
        ]);
    }
    table(&lines)
}
