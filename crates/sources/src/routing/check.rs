//! A check that sends one request for each capability to each provider.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::Symbol;
use market::calendar::new_york_date;
use tokio::sync::watch;

use super::ProviderRouter;
use super::capacity::format_duration;
use super::table::format_table;
use crate::provider::http::AdapterSetup;
use crate::provider::stream::{self, StreamState};
use crate::provider::{Capability, DataRequest, DataResponse, DateRange, Provider, ProviderError, TimeRange};

/// The time of the newest record in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewestTime {
    /// A record with a time of day.
    Instant(Timestamp),
    /// A record with a date.
    Day(Date),
}

impl fmt::Display for NewestTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instant(time) => write!(f, "{time:.0}"),
            Self::Day(date) => date.fmt(f),
        }
    }
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The provider answered.
    Answered {
        /// The number of records.
        records: usize,
        /// The number of rows that were left out.
        invalid_rows: u64,
        /// The time of the newest record.
        newest: Option<NewestTime>,
    },
    /// The provider did not answer.
    Failed(ProviderError),
    /// A stream was not live before the deadline.
    NotLive,
}

/// The check of one capability of one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCheck {
    /// The capability.
    pub capability: Capability,
    /// The provider's name.
    pub provider: &'static str,
    /// The position in the chain: 0 is the primary, higher ranks are fallbacks.
    pub rank: usize,
    /// The duration of the request.
    pub latency: SignedDuration,
    /// The outcome.
    pub outcome: CheckOutcome,
}

/// Checks each provider of each capability with a request for `symbols`.
pub async fn check(
    router: &ProviderRouter,
    symbols: &[Symbol],
    benchmark: Symbol,
    setup: &AdapterSetup,
) -> Vec<ProviderCheck> {
    let mut rows = Vec::new();
    for capability in router.capabilities() {
        for (rank, provider) in router.providers(capability).enumerate() {
            let began = setup.clock.now();
            let outcome = match sample_request(capability, symbols, benchmark, began) {
                Some(request) => match provider.fetch(&request).await {
                    Ok(answer) => answer_outcome(&answer),
                    Err(error) => CheckOutcome::Failed(error),
                },
                None => check_stream(&**provider, symbols, setup).await,
            };
            rows.push(ProviderCheck {
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

/// Returns a small request for `capability`; `None` for a stream.
fn sample_request(
    capability: Capability,
    symbols: &[Symbol],
    benchmark: Symbol,
    now: Timestamp,
) -> Option<DataRequest> {
    let today = new_york_date(now);
    let days = |before: i64, after: i64| DateRange {
        from: today.saturating_sub(Span::new().days(before)),
        to: today.saturating_add(Span::new().days(after)),
    };
    let symbols = symbols.to_vec();
    Some(match capability {
        Capability::Catalog => DataRequest::Catalog,
        Capability::Quotes => DataRequest::Quotes(symbols),
        Capability::Stream => return None,
        Capability::MinuteBars => {
            let from = now
                .saturating_sub(SignedDuration::from_hours(24))
                .unwrap_or(Timestamp::MIN);
            DataRequest::MinuteBars(symbols, TimeRange { from, to: now })
        }
        Capability::DailyBars => DataRequest::DailyBars(symbols, days(7, -1)),
        Capability::Fundamentals => DataRequest::Fundamentals(symbols),
        Capability::Earnings => DataRequest::Earnings(symbols, days(0, 90)),
        Capability::Dividends => DataRequest::Dividends(symbols, days(90, 30)),
        Capability::Splits => DataRequest::Splits(symbols, days(90, 30)),
        Capability::InsiderTrades => DataRequest::InsiderTrades(symbols, days(7, 0)),
        Capability::Mentions => DataRequest::Mentions(symbols),
        Capability::Benchmark => DataRequest::Benchmark(benchmark, days(7, -1)),
    })
}

fn answer_outcome(answer: &DataResponse) -> CheckOutcome {
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
    CheckOutcome::Answered {
        records: answer.len(),
        invalid_rows: answer.invalid_rows.count,
        newest: instants
            .max()
            .map(NewestTime::Instant)
            .or_else(|| days.max().map(NewestTime::Day)),
    }
}

/// Connects to the stream, subscribes, and disconnects once the stream is live.
async fn check_stream(provider: &dyn Provider, symbols: &[Symbol], setup: &AdapterSetup) -> CheckOutcome {
    let Some(protocol) = provider.stream() else {
        return CheckOutcome::Failed(ProviderError::not_offered(provider.name(), Capability::Stream));
    };
    let (_wanted, receiver) = watch::channel(Arc::new(symbols.iter().copied().collect::<BTreeSet<_>>()));
    let Ok((mut prices, task)) = stream::start(protocol, setup, stream::StreamConfig::default(), receiver) else {
        return CheckOutcome::NotLive;
    };
    let deadline = SignedDuration::try_from(setup.timeout).unwrap_or(SignedDuration::MAX);
    let deadline = setup.clock.now().saturating_add(deadline).unwrap_or(Timestamp::MAX);
    tokio::select! {
        ended = task => match ended {
            Err(error) => CheckOutcome::Failed(error),
            Ok(()) => CheckOutcome::NotLive,
        },
        state = prices.wait_while_connecting() => match state {
            StreamState::Live => CheckOutcome::Answered {
                records: 0,
                invalid_rows: 0,
                newest: prices.report().last_message_at.map(NewestTime::Instant),
            },
            _ => CheckOutcome::NotLive,
        },
        () = setup.clock.sleep_until(deadline) => CheckOutcome::NotLive,
    }
}

/// Formats the checks as a table.
#[must_use]
pub fn check_table(rows: &[ProviderCheck], now: Timestamp) -> String {
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
    let none = || "-".to_owned();
    for row in rows {
        let role = match row.rank {
            0 => "primary".to_owned(),
            rank => format!("fallback {rank}"),
        };
        let latency = format!("{} ms", row.latency.as_millis());
        let (records, newest, age, result) = match &row.outcome {
            CheckOutcome::Answered {
                records,
                invalid_rows,
                newest,
            } => {
                let age = match newest {
                    Some(NewestTime::Instant(time)) => {
                        format_duration(Duration::try_from(now.duration_since(*time)).unwrap_or_default())
                    }
                    _ => none(),
                };
                let result = if *invalid_rows == 0 {
                    "ok".to_owned()
                } else {
                    format!("ok, {invalid_rows} rows left out")
                };
                (
                    records.to_string(),
                    newest.map_or_else(none, |newest| newest.to_string()),
                    age,
                    result,
                )
            }
            CheckOutcome::Failed(error) => (none(), none(), none(), error.to_string()),
            CheckOutcome::NotLive => (none(), none(), none(), "not live in time".to_owned()),
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
    format_table(&lines)
}
