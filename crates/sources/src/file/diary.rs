//! When what a folder holds becomes known.
//!
//! Rows are entered as they are read, and come out as deliveries when they are due: a bar when its session is over, a
//! figure on the day from which it is known, an earnings date at once.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use jiff::civil::Date;
use jiff::{Span, Timestamp};
use market::calendar::{new_york, new_york_date};
use market::price::MAX_VOLUME;
use market::records::{BarRow, Batch, QuoteRow, StockRow};
use market::{Bar, Calendar, Symbol};

use crate::folder::{IntradayBar, MarketData};
use crate::{Delivery, Missed};

/// For so many days a session's intraday bars are kept, so that later ones join them.
const DAYS_KEPT: i64 = 7;

/// What was entered and is not due yet, and what is needed to tell the rest.
#[derive(Debug)]
pub(super) struct Diary {
    calendar: Calendar,
    /// Bars of sessions before it are left out.
    bars_from: Option<Date>,
    /// Until when everything that was due has been told.
    told: Option<Timestamp>,
    catalog: Vec<StockRow>,
    pending: BTreeMap<Timestamp, Batch>,
    sessions: BTreeMap<(Date, Symbol), Intraday>,
    /// The latest sessions of which there is a daily bar.
    daily: BTreeSet<(Date, Symbol)>,
}

/// The intraday bars of one session.
#[derive(Debug, Default)]
struct Intraday {
    bars: BTreeMap<Timestamp, IntradayBar>,
    told: bool,
}

/// When a session is under way.
#[derive(Clone, Copy)]
struct Hours {
    open: Timestamp,
    /// When it is over.
    end: Timestamp,
}

impl Diary {
    pub(super) fn new(calendar: Calendar, bars_from: Option<Date>) -> Self {
        Self {
            calendar,
            bars_from,
            told: None,
            catalog: Vec::new(),
            pending: BTreeMap::new(),
            sessions: BTreeMap::new(),
            daily: BTreeSet::new(),
        }
    }

    /// Enters what was read until `now`; the daily bar of the session that is under way was written when `written_at` says of
    /// its symbol, else now.
    pub(super) fn enter(&mut self, data: MarketData, written_at: &BTreeMap<Symbol, Timestamp>, now: Timestamp) {
        let midnight = |date: Date| new_york(date, 0, 0);
        self.catalog.extend(data.stocks);
        for row in data.splits {
            self.at(midnight(row.date)).splits.push(row);
        }
        // When they were announced is not said; what lies ahead is known now.
        for row in data.dividends {
            self.at(midnight(row.ex_date).min(now)).dividends.push(row);
        }
        for row in data.earnings {
            self.at(midnight(row.date).min(now)).earnings.push(row);
        }
        for row in data.fundamentals {
            self.at(midnight(row.as_of)).fundamentals.push(row);
        }
        for row in data.insiders {
            let at = self.calendar.daily_moment(row.filed_on);
            self.at(at).insider_transactions.push(row);
        }
        for row in data.mentions {
            self.at(row.time).mentions.push(row);
        }
        for (symbol, bars) in data.bars {
            let written_at = written_at.get(&symbol).copied().unwrap_or(now);
            for bar in bars.daily {
                self.enter_daily(BarRow { symbol, bar }, written_at, now);
            }
            self.enter_intraday(symbol, &bars.intraday, now);
        }
    }

    /// What has become due until `now`. What the first call answers is of the past.
    pub(super) fn due(&mut self, now: Timestamp) -> Vec<Delivery> {
        self.complete_sessions(now);
        let backfill = self.told.is_none();
        let later = self
            .pending
            .split_off(&now.saturating_add(TICK).unwrap_or(Timestamp::MAX));
        let due = mem::replace(&mut self.pending, later);
        let told = self.told.replace(now).unwrap_or(Timestamp::MIN);
        let (overdue, mut deliveries): (Vec<_>, Vec<_>) = due
            .into_iter()
            .filter(|(_, batch)| !batch.is_empty())
            .map(|(at, batch)| Delivery {
                at,
                backfill,
                batch,
                missed: Missed::default(),
            })
            .partition(|delivery| delivery.at <= told);
        deliveries.extend(overdue.into_iter().map(|delivery| Delivery { at: now, ..delivery }));
        if !self.catalog.is_empty() {
            let batch = Batch {
                stocks: mem::take(&mut self.catalog),
                ..Batch::default()
            };
            let at = deliveries.first().map_or(now, |first| first.at);
            deliveries.insert(
                0,
                Delivery {
                    at,
                    backfill,
                    batch,
                    missed: Missed::default(),
                },
            );
        }
        self.forget(now);
        deliveries
    }

    fn at(&mut self, at: Timestamp) -> &mut Batch {
        self.pending.entry(at).or_default()
    }

    fn hours(&self, date: Date) -> Option<Hours> {
        let session = self.calendar.session(date)?;
        Some(if self.calendar.is_always_open() {
            let end = date.tomorrow().map_or(session.close, |day| new_york(day, 0, 0));
            Hours {
                open: new_york(date, 0, 0),
                end,
            }
        } else {
            Hours {
                open: session.open,
                end: session.close,
            }
        })
    }

    /// A bar of a session that is under way is what is seen of it now, and is the bar only when it is over.
    fn enter_daily(&mut self, row: BarRow, written_at: Timestamp, now: Timestamp) {
        let date = row.bar.date;
        let Some(hours) = self
            .hours(date)
            .filter(|_| self.bars_from.is_none_or(|from| date >= from))
        else {
            return;
        };
        if hours.open <= now && now < hours.end {
            self.at(now).quotes.push(QuoteRow {
                symbol: row.symbol,
                price: row.bar.close,
                volume: Some(row.bar.volume),
                // A price is as old as its bar.
                time: Some(written_at.max(hours.open)),
                bid: None,
                ask: None,
            });
        }
        self.daily.insert((date, row.symbol));
        let batch = self.at(hours.end);
        if hours.end > now {
            // It may come once a second until then.
            batch
                .bars
                .retain(|other| other.symbol != row.symbol || other.bar.date != date);
        }
        batch.bars.push(row);
    }

    fn enter_intraday(&mut self, symbol: Symbol, bars: &[IntradayBar], now: Timestamp) {
        for &bar in bars {
            let date = new_york_date(bar.time);
            let within = |hours: &Hours| hours.open <= bar.time && bar.time < hours.end;
            let Some(hours) = self.hours(date).filter(within) else {
                continue;
            };
            if self.bars_from.is_some_and(|from| date < from) {
                continue;
            }
            let session = self.sessions.entry((date, symbol)).or_default();
            session.bars.insert(bar.time, bar);
            session.told = false;
            if now < hours.end {
                let volume = volume(session.bars.range(..=bar.time).map(|(_, bar)| bar));
                self.at(bar.time).quotes.push(QuoteRow {
                    symbol,
                    price: bar.close,
                    volume: Some(volume),
                    time: Some(bar.time),
                    bid: None,
                    ask: None,
                });
            }
        }
    }

    /// Makes bars of sessions that are over and have none.
    fn complete_sessions(&mut self, now: Timestamp) {
        let mut bars = Vec::new();
        for (&(date, symbol), session) in &self.sessions {
            let Some(hours) = self.hours(date).filter(|hours| !session.told && hours.end <= now) else {
                continue;
            };
            let bar = (!self.daily.contains(&(date, symbol)))
                .then(|| whole(date, &session.bars))
                .flatten();
            bars.push(((date, symbol), hours.end, bar));
        }
        for ((date, symbol), end, bar) in bars {
            if let Some(session) = self.sessions.get_mut(&(date, symbol)) {
                session.told = true;
            }
            if let Some(bar) = bar {
                self.at(end).bars.push(BarRow { symbol, bar });
            }
        }
    }

    fn forget(&mut self, now: Timestamp) {
        let oldest = new_york_date(now).saturating_sub(Span::new().days(DAYS_KEPT));
        self.sessions.retain(|(date, _), _| *date >= oldest);
        self.daily.retain(|(date, _)| *date >= oldest);
    }
}

/// The smallest step of time.
const TICK: jiff::SignedDuration = jiff::SignedDuration::from_nanos(1);

fn volume<'a>(bars: impl Iterator<Item = &'a IntradayBar>) -> i64 {
    bars.fold(0, |sum: i64, bar| sum.saturating_add(bar.volume))
        .min(MAX_VOLUME)
}

/// The bar that a session's intraday bars make together.
fn whole(date: Date, bars: &BTreeMap<Timestamp, IntradayBar>) -> Option<Bar> {
    Some(Bar {
        date,
        open: bars.first_key_value()?.1.open,
        high: bars.values().map(|bar| bar.high).max()?,
        low: bars.values().map(|bar| bar.low).min()?,
        close: bars.last_key_value()?.1.close,
        volume: volume(bars.values()),
    })
}
