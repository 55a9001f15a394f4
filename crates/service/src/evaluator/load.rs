//! What the engine has to be told at the start.
//!
//! In this order, which is the engine's own recipe for a restart: bars and facts, what the last sessions had seen, the
//! instant up to which the clock was processed, and then the active alerts with their own instants. So it goes on
//! where it stopped, and what became due in between is due at the first tick.

use ::alerts::Status;
use ::alerts::engine::{Event, SessionSoFar};
use ::market::calendar::new_york_date;
use ::market::records::FundamentalsRow;
use jiff::{SignedDuration, Timestamp, ToSpan};
use store::StoreError;
use store::model::{LatestQuote, StockFacts};

use super::splits::Known;
use super::{Evaluator, facts};

/// How far back bars are read, in days: enough for every indicator, and for Wilder's RSI to have forgotten where its
/// series began.
const BAR_DAYS: i64 = 1_100;
/// How far back insiders' trades are read, in days: the longest window of an alert, and the day itself.
pub(crate) const INSIDER_DAYS: i64 = 366;
/// How far back mentions are read: the day and the seven days before, and the day before these, as a source that counts
/// by the day gives a count a day; with a day to spare, for the newest one may be of yesterday.
const MENTION_HOURS: i64 = 10 * 24;

impl Evaluator {
    /// Tells the engine all it has to know.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) async fn load(&self) -> Result<(), StoreError> {
        let now = self.engine_now();
        self.load_catalog().await?;
        self.load_bars(now).await?;
        self.load_facts(now).await?;
        for &feed in &self.settings.missing_feeds {
            self.tell_event(Event::Feed { feed, lost: true }, now);
        }
        for quote in self.store.latest_quotes().await? {
            let symbol = quote.symbol;
            let session = self.known_splits().session_in_todays_shares(symbol, session(&quote));
            self.tell_event(Event::Resume { symbol, session }, now);
        }
        if let Some(mark) = self.store.clock().await? {
            self.tell_event(Event::Clock, mark);
        }
        self.follow_from_here().await?;
        self.load_alerts(now).await
    }

    async fn load_catalog(&self) -> Result<(), StoreError> {
        for row in self.store.stocks().await? {
            self.catalog.change(row.symbol, |entry| entry.row = row);
        }
        *self.known_splits() = Known::new(self.store.splits().await?);
        Ok(())
    }

    async fn load_bars(&self, now: Timestamp) -> Result<(), StoreError> {
        let today = new_york_date(now);
        let from = today.checked_sub(BAR_DAYS.days()).unwrap_or(today);
        self.store
            .all_bars(from, &mut |rows| {
                let mut engine = self.engine();
                let splits = self.known_splits();
                for row in rows {
                    let event = Event::Bar {
                        symbol: row.symbol,
                        bar: splits.in_todays_shares(row.symbol, row.bar),
                    };
                    // One that was taken when it came is taken now.
                    let _ = engine.process(event, now, &mut Vec::new());
                }
            })
            .await
    }

    async fn load_facts(&self, now: Timestamp) -> Result<(), StoreError> {
        for (symbol, known) in self.store.stock_facts().await? {
            self.tell_facts(&known, now);
            self.catalog.change(symbol, |entry| entry.facts = known);
        }
        let today = new_york_date(now);
        let filed_from = today.checked_sub(INSIDER_DAYS.days()).unwrap_or(today);
        let trades = self.store.insider_trades(filed_from).await?;
        for (symbol, trades) in facts::by_symbol(&trades) {
            self.tell_event(
                Event::InsiderTrades {
                    symbol,
                    trades: &trades,
                },
                now,
            );
        }
        self.filings().extend(trades);
        let mentioned_from = now - SignedDuration::from_hours(MENTION_HOURS);
        for row in self.store.mentions(mentioned_from).await? {
            let event = Event::Mentions {
                symbol: row.symbol,
                hour: row.time,
                count: row.mentions,
            };
            self.tell_event(event, now);
        }
        Ok(())
    }

    fn tell_facts(&self, known: &StockFacts, now: Timestamp) {
        if let Some(row) = &known.fundamentals {
            self.tell_event(self.fundamentals_event(row), now);
        }
        if let Some(first) = known.earnings.first() {
            let dates = facts::earnings_dates(&known.earnings);
            self.tell_event(
                Event::Earnings {
                    symbol: first.symbol,
                    dates: &dates,
                },
                now,
            );
        }
        if let Some(first) = known.dividends.first() {
            let dividends = facts::dividends(&known.dividends);
            self.tell_event(
                Event::Dividends {
                    symbol: first.symbol,
                    dividends: &dividends,
                },
                now,
            );
        }
    }

    /// Earnings per share as the engine counts them: in the shares of today.
    pub(crate) fn fundamentals_event(&self, row: &FundamentalsRow) -> Event<'static> {
        let splits = self.known_splits();
        let of_today = |eps| splits.eps_in_todays_shares(row.symbol, row.as_of, eps);
        Event::Fundamentals {
            symbol: row.symbol,
            eps_ttm: row.eps_ttm.map(of_today),
            eps_forward: row.eps_forward.map(of_today),
        }
    }

    async fn load_alerts(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut decisions = Vec::new();
        self.store
            .active_alerts(&mut |alerts| {
                let mut engine = self.engine();
                for stored in alerts.iter().filter(|stored| stored.alert.status == Status::Active) {
                    // An armed alert is always taken in.
                    let _ = engine.process(Event::Armed(&stored.alert), now, &mut decisions);
                }
            })
            .await?;
        self.aside().append(&mut decisions);
        Ok(())
    }

    /// Tells the engine something that decides nothing, because no alert is armed yet.
    fn tell_event(&self, event: Event<'_>, now: Timestamp) {
        let _ = self.engine().process(event, now, &mut Vec::new());
    }
}

pub(super) fn session(quote: &LatestQuote) -> SessionSoFar {
    SessionSoFar {
        date: quote.session,
        open: quote.open,
        high: quote.high,
        low: quote.low,
        last: quote.last,
        volume: quote.volume,
        last_at: quote.at,
    }
}
