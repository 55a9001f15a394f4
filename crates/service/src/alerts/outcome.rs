//! What a stock did after its alert fired.
//!
//! [`paper::scorecard`] counts; here is what it counts with: the firings of the history, and the closes and splits of
//! the stock and of the benchmark as they are kept, in the shares of their days.

use alerts::AlertId;
use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Calendar, Symbol};
use paper::{CorporateActions, DailyCloses, Firing, PriceHistory, Scorecard, scorecard};

use super::no_such_alert;
use crate::alerts::Alerts;
use crate::market::{completed_session, ended_session};
use crate::{Actor, ServiceError};

/// How many firings are told of, the newest.
pub const MAX_OUTCOMES: u32 = 100;

/// How the firings of an alert turned out.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertOutcomes {
    /// The alert's stock.
    pub symbol: Symbol,
    /// What it is compared with.
    pub benchmark: Symbol,
    /// Each firing, newest first.
    pub outcomes: Vec<Outcome>,
}

/// How a firing turned out.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The firing.
    pub firing: Firing,
    /// What followed.
    pub scorecard: Scorecard,
}

/// What is kept of a stock.
struct Past {
    symbol: Symbol,
    closes: DailyCloses,
    events: CorporateActions,
}

impl Past {
    fn record(&self) -> PriceHistory<'_> {
        PriceHistory {
            symbol: self.symbol,
            closes: &self.closes,
            actions: &self.events,
        }
    }

    /// Whether a close of that day is there, or none of any day before either.
    fn has_come_to(&self, day: Date) -> bool {
        self.closes.on(day).is_some() || self.closes.at_or_before(day).is_none()
    }
}

impl Alerts {
    /// What an alert's stock did 1, 5 and 20 sessions after each of its last [`MAX_OUTCOMES`] firings, next to the benchmark;
    /// also of an alert that was deleted.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn alert_outcomes(&self, actor: &Actor, id: AlertId) -> Result<AlertOutcomes, ServiceError> {
        let found = self
            .ports
            .store
            .firings_of_alert(actor.account, id, MAX_OUTCOMES)
            .await?;
        let (symbol, rows) = found.ok_or_else(no_such_alert)?;
        let benchmark = self.settings.benchmark;
        let firings = rows.iter().map(|row| Firing {
            at: row.at,
            price: row.price,
        });
        let firings: Vec<Firing> = firings.collect();
        let oldest = firings.iter().map(|firing| firing.at).min();
        let outcomes = match oldest {
            Some(oldest) => self.turned_out(&firings, oldest, [symbol, benchmark]).await?,
            None => Vec::new(),
        };
        Ok(AlertOutcomes {
            symbol,
            benchmark,
            outcomes,
        })
    }

    async fn turned_out(
        &self,
        firings: &[Firing],
        oldest: Timestamp,
        [symbol, benchmark]: [Symbol; 2],
    ) -> Result<Vec<Outcome>, ServiceError> {
        let calendar = &self.settings.calendar;
        let Some(completed) = completed_session(calendar, self.ports.clock.now()) else {
            return Ok(Vec::new());
        };
        let stock = self.past(symbol, oldest, completed).await?;
        let benchmark = self.past(benchmark, oldest, completed).await?;
        let through = known_through(calendar, completed, &[&stock, &benchmark]);
        let outcomes = firings.iter().map(|&firing| Outcome {
            firing,
            scorecard: scorecard(calendar, firing, stock.record(), benchmark.record(), through),
        });
        Ok(outcomes.collect())
    }

    /// A stock's closes and splits from the session before an instant on, up to the last completed one.
    async fn past(&self, symbol: Symbol, since: Timestamp, completed: Date) -> Result<Past, ServiceError> {
        let (store, calendar) = (&self.ports.store, &self.settings.calendar);
        let fired_on = new_york_date(since);
        let base = calendar.previous_session_before(fired_on);
        let base = base.map_or(fired_on, |session| session.date);
        // A stock that had no close lately stands at its last one.
        let first = store.bar_at(symbol, base).await?;
        let from = first.map_or(base, |bar| bar.date.min(base));
        let bars = store.bars(symbol, from).await?;
        // A session is stored shortly after its end, or when its bar is delivered.
        let tomorrow = completed.tomorrow().unwrap_or(completed);
        let ended = self.evaluator.read(|engine| ended_session(engine, symbol, tomorrow));
        let splits = store.splits_of(symbol).await?;
        let ended = ended.map(|row| (row.bar.date, row.bar.close));
        let closes = ended.into_iter().chain(bars.iter().map(|bar| (bar.date, bar.close)));
        Ok(Past {
            symbol,
            closes: closes.collect(),
            events: CorporateActions::new(calendar, &splits, &[]),
        })
    }
}

/// Up to which session closes are known: the last completed one, once they are there, or when the next one is over and
/// they have not come.
fn known_through(calendar: &Calendar, completed: Date, stocks: &[&Past]) -> Date {
    if stocks.iter().all(|stock| stock.has_come_to(completed)) {
        return completed;
    }
    let before = calendar.previous_session_before(completed);
    before.map_or(completed, |session| session.date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn past(days: &[Date]) -> Past {
        let price = "10".parse().unwrap();
        Past {
            symbol: "ACME".parse().unwrap(),
            closes: days.iter().map(|day| (*day, price)).collect(),
            events: CorporateActions::default(),
        }
    }

    #[test]
    fn a_session_counts_once_its_closes_are_there_or_when_the_next_is_over() {
        let nyse = Calendar::nyse();
        let (thursday, friday, monday) = (date(2024, 3, 7), date(2024, 3, 8), date(2024, 3, 11));
        let (late, whole, unknown) = (past(&[thursday]), past(&[thursday, friday]), past(&[]));
        assert_eq!(known_through(&nyse, friday, &[&whole, &whole]), friday);
        assert_eq!(known_through(&nyse, friday, &[&late, &whole]), thursday);
        assert_eq!(known_through(&nyse, friday, &[&whole, &late]), thursday);
        // What never comes is not waited for.
        assert_eq!(known_through(&nyse, friday, &[&whole, &unknown]), friday);
        assert_eq!(known_through(&nyse, monday, &[&late, &whole]), friday);
    }
}
