//! The performance of a stock after its alert fired.
//!
//! [`paper::scorecard`] computes it. This module provides the input: the firings of the history, and the stored
//! closes and splits of the stock and of the benchmark, in the shares of their days.

use alerts::AlertId;
use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Calendar, Symbol};
use paper::{CorporateActions, DailyCloses, FiredAlertRecord, PriceHistory, Scorecard, scorecard};

use super::no_such_alert;
use crate::alerts::Alerts;
use evaluation::market::{completed_session, ended_session};
use foundation::{Actor, ServiceError};

/// The maximum number of firings; the newest ones.
pub const MAX_OUTCOMES: u32 = 100;

/// The outcomes of an alert's firings.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertOutcomes {
    /// The alert's stock.
    pub symbol: Symbol,
    /// The benchmark.
    pub benchmark: Symbol,
    /// Each firing, newest first.
    pub outcomes: Vec<ScoredFiring>,
}

/// The outcome of a firing.
#[derive(Clone, PartialEq, Debug)]
pub struct ScoredFiring {
    /// The firing.
    pub firing: FiredAlertRecord,
    /// The performance after it.
    pub scorecard: Scorecard,
}

/// The stored closes and splits of a stock.
struct StockCloses {
    symbol: Symbol,
    closes: DailyCloses,
    events: CorporateActions,
}

impl StockCloses {
    fn record(&self) -> PriceHistory<'_> {
        PriceHistory {
            symbol: self.symbol,
            closes: &self.closes,
            actions: &self.events,
        }
    }

    /// Whether the close of a day is known, or no close up to it is.
    fn is_known_on(&self, day: Date) -> bool {
        self.closes.on(day).is_some() || self.closes.at_or_before(day).is_none()
    }
}

impl Alerts {
    /// Returns the performance of an alert's stock 1, 5 and 20 sessions after each of its last [`MAX_OUTCOMES`]
    /// firings, compared with the benchmark; of an alert over many stocks for the `member` on a stock. Works for deleted alerts, too.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] without the member of an alert over many stocks.
    pub async fn alert_outcomes(
        &self,
        actor: &Actor,
        id: AlertId,
        member: Option<Symbol>,
    ) -> Result<AlertOutcomes, ServiceError> {
        let id = match self.ports.store.alert(actor.account, id).await? {
            Some(stored) if stored.scope().is_some() => self.member(actor, id, member).await?.alert.id,
            _ => id,
        };
        let found = self
            .ports
            .store
            .firings_of_alert(actor.account, id, MAX_OUTCOMES)
            .await?;
        let (symbol, rows) = found.ok_or_else(no_such_alert)?;
        let benchmark = self.settings.benchmark;
        let firings = rows.iter().map(|row| FiredAlertRecord {
            at: row.at,
            price: row.price,
        });
        let firings: Vec<FiredAlertRecord> = firings.collect();
        let oldest = firings.iter().map(|firing| firing.at).min();
        let outcomes = match oldest {
            Some(oldest) => self.score_firings(&firings, oldest, [symbol, benchmark]).await?,
            None => Vec::new(),
        };
        Ok(AlertOutcomes {
            symbol,
            benchmark,
            outcomes,
        })
    }

    async fn score_firings(
        &self,
        firings: &[FiredAlertRecord],
        oldest: Timestamp,
        [symbol, benchmark]: [Symbol; 2],
    ) -> Result<Vec<ScoredFiring>, ServiceError> {
        let calendar = &self.settings.calendar;
        let Some(completed) = completed_session(calendar, self.ports.clock.now()) else {
            return Ok(Vec::new());
        };
        let stock = self.stock_closes(symbol, oldest, completed).await?;
        let benchmark = self.stock_closes(benchmark, oldest, completed).await?;
        let through = known_through(calendar, completed, &[&stock, &benchmark]);
        let outcomes = firings.iter().map(|&firing| ScoredFiring {
            firing,
            scorecard: scorecard(calendar, firing, stock.record(), benchmark.record(), through),
        });
        Ok(outcomes.collect())
    }

    /// Returns a stock's closes and splits from the session before an instant up to the last completed one.
    async fn stock_closes(
        &self,
        symbol: Symbol,
        since: Timestamp,
        completed: Date,
    ) -> Result<StockCloses, ServiceError> {
        let (store, calendar) = (&self.ports.store, &self.settings.calendar);
        let fired_on = new_york_date(since);
        let base = calendar.previous_session_before(fired_on);
        let base = base.map_or(fired_on, |session| session.date);
        // A stock without a recent close has its last one.
        let first = store.bar_at(symbol, base).await?;
        let from = first.map_or(base, |bar| bar.date.min(base));
        let bars = store.bars(symbol, from).await?;
        // A session is stored shortly after its end, or when its bar is delivered.
        let tomorrow = completed.tomorrow().unwrap_or(completed);
        let ended = self.evaluator.read(|engine| ended_session(engine, symbol, tomorrow));
        let splits = store.splits_of(symbol).await?;
        let ended = ended.map(|row| (row.bar.date, row.bar.close));
        let closes = ended.into_iter().chain(bars.iter().map(|bar| (bar.date, bar.close)));
        Ok(StockCloses {
            symbol,
            closes: closes.collect(),
            events: CorporateActions::new(calendar, &splits, &[]),
        })
    }
}

/// Returns the last session whose closes are known: the last completed one if its closes have arrived, or else the
/// one before.
fn known_through(calendar: &Calendar, completed: Date, stocks: &[&StockCloses]) -> Date {
    if stocks.iter().all(|stock| stock.is_known_on(completed)) {
        return completed;
    }
    let before = calendar.previous_session_before(completed);
    before.map_or(completed, |session| session.date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn stock_closes(days: &[Date]) -> StockCloses {
        let price = "10".parse().unwrap();
        StockCloses {
            symbol: "ACME".parse().unwrap(),
            closes: days.iter().map(|day| (*day, price)).collect(),
            events: CorporateActions::default(),
        }
    }

    #[test]
    fn session_counts_once_its_closes_are_known_or_the_next_one_is_over() {
        let nyse = Calendar::nyse();
        let (thursday, friday, monday) = (date(2024, 3, 7), date(2024, 3, 8), date(2024, 3, 11));
        let (late, whole, unknown) = (
            stock_closes(&[thursday]),
            stock_closes(&[thursday, friday]),
            stock_closes(&[]),
        );
        assert_eq!(known_through(&nyse, friday, &[&whole, &whole]), friday);
        assert_eq!(known_through(&nyse, friday, &[&late, &whole]), thursday);
        assert_eq!(known_through(&nyse, friday, &[&whole, &late]), thursday);
        // A stock without any close is not waited for.
        assert_eq!(known_through(&nyse, friday, &[&whole, &unknown]), friday);
        assert_eq!(known_through(&nyse, monday, &[&late, &whole]), friday);
    }
}
