//! Decides when the rows of a folder become known.
//!
//! Rows are added as they are read and are returned as updates when they are due: a bar when its session is over, a figure
//! on the day from which it is known, an earnings date at once.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::calendar::{new_york, new_york_date};
use market::price::MAX_VOLUME;
use market::records::{BarRow, Batch, IntradayRow, QuoteRow, StockRow};
use market::{Bar, Calendar, IntradayBar, Symbol, intraday_kept_from};

use crate::MarketUpdate;
use crate::folder::{MarketData, VwapSums};

/// The number of days for which the intraday bars of a session are kept, so that later bars can be added to them.
const INTRADAY_DAYS_KEPT: i64 = 7;
/// The maximum number of intraday bars in a batch.
const INTRADAY_BATCH_SIZE: usize = 5_000;

/// The rows that are not due yet, and the state that decides about later ones.
#[derive(Debug)]
pub(super) struct ReleaseSchedule {
    calendar: Calendar,
    /// All rows that were due until this time have been returned.
    released_until: Option<Timestamp>,
    catalog: Vec<StockRow>,
    pending: BTreeMap<Timestamp, Batch>,
    sessions: BTreeMap<(Date, Symbol), IntradaySession>,
    /// The recent sessions that have a daily bar.
    daily: BTreeSet<(Date, Symbol)>,
}

/// The intraday bars of one session.
#[derive(Debug, Default)]
struct IntradaySession {
    bars: BTreeMap<Timestamp, IntradayBar>,
    is_completed: bool,
}

/// The time of a session.
#[derive(Clone, Copy)]
struct SessionHours {
    open: Timestamp,
    /// The end of the session.
    end: Timestamp,
}

impl ReleaseSchedule {
    pub(super) fn new(calendar: Calendar) -> Self {
        Self {
            calendar,
            released_until: None,
            catalog: Vec::new(),
            pending: BTreeMap::new(),
            sessions: BTreeMap::new(),
            daily: BTreeSet::new(),
        }
    }

    /// Adds the rows that were read until `now`. `written_at` has the time at which a symbol's daily bar of the current
    /// session was written; the default is `now`.
    pub(super) fn add(&mut self, data: MarketData, written_at: &BTreeMap<Symbol, Timestamp>, now: Timestamp) {
        let midnight = |date: Date| new_york(date, 0, 0);
        self.catalog.extend(data.stocks);
        for row in data.splits {
            self.batch_at(midnight(row.date)).splits.push(row);
        }
        // The files have no announcement date, so future dates are known now.
        for row in data.dividends {
            self.batch_at(midnight(row.ex_date).min(now)).dividends.push(row);
        }
        for row in data.earnings {
            self.batch_at(midnight(row.date).min(now)).earnings.push(row);
        }
        for row in data.fundamentals {
            self.batch_at(midnight(row.as_of)).fundamentals.push(row);
        }
        for row in data.insiders {
            let at = self.calendar.daily_evaluation_time(row.filed_on);
            self.batch_at(at).insider_transactions.push(row);
        }
        for row in data.mentions {
            self.batch_at(row.time).mentions.push(row);
        }
        for (symbol, bars) in data.bars {
            let written_at = written_at.get(&symbol).copied().unwrap_or(now);
            for bar in bars.daily {
                self.add_daily(BarRow { symbol, bar }, written_at, now);
            }
            self.add_intraday(symbol, &bars.intraday, now);
        }
    }

    /// Returns the updates that are due at `now`. The first call returns the history.
    pub(super) fn due(&mut self, now: Timestamp) -> Vec<MarketUpdate> {
        self.complete_sessions(now);
        let backfill = self.released_until.is_none();
        let later = self
            .pending
            .split_off(&now.saturating_add(SMALLEST_TIME_STEP).unwrap_or(Timestamp::MAX));
        let due = mem::replace(&mut self.pending, later);
        let released_until = self.released_until.replace(now).unwrap_or(Timestamp::MIN);
        let (overdue, mut updates): (Vec<_>, Vec<_>) = due
            .into_iter()
            .filter(|(_, batch)| !batch.is_empty())
            .map(|(at, batch)| MarketUpdate {
                backfill,
                ..MarketUpdate::new(at, batch)
            })
            .partition(|update| update.at <= released_until);
        updates.extend(overdue.into_iter().map(|update| MarketUpdate { at: now, ..update }));
        if !self.catalog.is_empty() {
            let batch = Batch {
                stocks: mem::take(&mut self.catalog),
                ..Batch::default()
            };
            let at = updates.first().map_or(now, |first| first.at);
            let catalog = MarketUpdate {
                backfill,
                ..MarketUpdate::new(at, batch)
            };
            updates.insert(0, catalog);
        }
        self.forget(now);
        updates
    }

    fn batch_at(&mut self, at: Timestamp) -> &mut Batch {
        self.pending.entry(at).or_default()
    }

    fn hours(&self, date: Date) -> Option<SessionHours> {
        let session = self.calendar.session(date)?;
        Some(if self.calendar.is_always_open() {
            let end = date.tomorrow().map_or(session.close, |day| new_york(day, 0, 0));
            SessionHours {
                open: new_york(date, 0, 0),
                end,
            }
        } else {
            SessionHours {
                open: session.open,
                end: session.close,
            }
        })
    }

    /// Adds a daily bar. During its session it becomes a quote now; it becomes a bar when the session is over.
    fn add_daily(&mut self, row: BarRow, written_at: Timestamp, now: Timestamp) {
        let date = row.bar.date;
        let Some(hours) = self.hours(date) else { return };
        if hours.open <= now && now < hours.end {
            self.batch_at(now).quotes.push(QuoteRow {
                symbol: row.symbol,
                price: row.bar.close,
                volume: Some(row.bar.volume),
                // A price is as old as its bar.
                time: Some(written_at.max(hours.open)),
                bid: None,
                ask: None,
                vwap: None,
            });
        }
        self.daily.insert((date, row.symbol));
        let batch = self.batch_at(hours.end);
        if hours.end > now {
            // The bar may be replaced once a second until the session is over.
            batch
                .bars
                .retain(|other| other.symbol != row.symbol || other.bar.date != date);
        }
        batch.bars.push(row);
    }

    fn add_intraday(&mut self, symbol: Symbol, bars: &[IntradayBar], now: Timestamp) {
        for &bar in bars {
            let date = new_york_date(bar.time);
            let within = |hours: &SessionHours| hours.open <= bar.time && bar.time < hours.end;
            let Some(hours) = self.hours(date).filter(within) else {
                continue;
            };
            let session = self.sessions.entry((date, symbol)).or_default();
            session.bars.insert(bar.time, bar);
            session.is_completed = false;
            if now < hours.end {
                let so_far = || session.bars.range(..=bar.time).map(|(_, bar)| bar);
                let mut sums = VwapSums::default();
                so_far().for_each(|bar| sums.add(bar));
                let volume = volume(so_far());
                self.batch_at(bar.time).quotes.push(QuoteRow {
                    symbol,
                    price: bar.close,
                    volume: Some(volume),
                    time: Some(bar.time),
                    bid: None,
                    ask: None,
                    vwap: sums.vwap(),
                });
            }
        }
    }

    /// Releases the intraday bars of recent sessions that are over, and creates the daily bars of those that have none.
    fn complete_sessions(&mut self, now: Timestamp) {
        let mut completed = Vec::new();
        for (&(date, symbol), session) in &self.sessions {
            let Some(hours) = self
                .hours(date)
                .filter(|hours| !session.is_completed && hours.end <= now)
            else {
                continue;
            };
            let bar = (!self.daily.contains(&(date, symbol)))
                .then(|| daily_bar_of(date, &session.bars))
                .flatten();
            completed.push(((date, symbol), hours.end, bar));
        }
        let kept_from = intraday_kept_from(now);
        let mut intraday_bars: BTreeMap<Timestamp, Vec<IntradayRow>> = BTreeMap::new();
        for ((date, symbol), end, bar) in completed {
            if let Some(session) = self.sessions.get_mut(&(date, symbol)) {
                session.is_completed = true;
                if kept_from <= end {
                    let rows = session.bars.values().map(|&bar| IntradayRow { symbol, bar });
                    intraday_bars.entry(end).or_default().extend(rows);
                }
            }
            if let Some(bar) = bar {
                self.batch_at(end).bars.push(BarRow { symbol, bar });
            }
        }
        for (end, rows) in intraday_bars {
            // In batches of their own, so that no write of an alert waits for those of all stocks.
            for (rows, number) in rows.chunks(INTRADAY_BATCH_SIZE).zip(1..) {
                let after = SignedDuration::from_micros(number);
                let at = end.saturating_add(after).unwrap_or(end);
                self.batch_at(at).intraday_bars.extend_from_slice(rows);
            }
        }
    }

    fn forget(&mut self, now: Timestamp) {
        let oldest = new_york_date(now).saturating_sub(Span::new().days(INTRADAY_DAYS_KEPT));
        self.sessions.retain(|(date, _), _| *date >= oldest);
        self.daily.retain(|(date, _)| *date >= oldest);
    }
}

/// The smallest step of time.
const SMALLEST_TIME_STEP: jiff::SignedDuration = jiff::SignedDuration::from_nanos(1);

fn volume<'a>(bars: impl Iterator<Item = &'a IntradayBar>) -> i64 {
    bars.fold(0, |sum: i64, bar| sum.saturating_add(bar.volume))
        .min(MAX_VOLUME)
}

/// Combines the intraday bars of a session to a daily bar.
fn daily_bar_of(date: Date, bars: &BTreeMap<Timestamp, IntradayBar>) -> Option<Bar> {
    Some(Bar {
        date,
        open: bars.first_key_value()?.1.open,
        high: bars.values().map(|bar| bar.high).max()?,
        low: bars.values().map(|bar| bar.low).min()?,
        close: bars.last_key_value()?.1.close,
        volume: volume(bars.values()),
    })
}
