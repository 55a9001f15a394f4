//! A stock is divided, and everything that is counted in its shares with it.
//!
//! Bars are kept as they were delivered, in the shares of their day. The engine counts in today's shares. So a split is applied
//! on its day: the engine's history and session are moved, and each alert's threshold and initial price if they were set before
//! that day. A split that becomes known late finds bars, thresholds and initial prices of after its day, which are in new shares
//! already and stay as they are.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};

use ::alerts::engine::{Event, ObservedSession, after_split};
use ::alerts::transition::{ChangedAlert, HistoryAction, HistoryStatus, StatusChange};
use ::alerts::{Alert, Condition};
use ::market::calendar::{new_york, new_york_date};
use ::market::records::SplitRow;
use ::market::{Bar, Decimal, Price, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value};
use store::{Abort, BoxFuture, StoreError, Transaction, UnitOfWork};

use super::Evaluator;
use super::split_news::{Moved, Writer};
use crate::market::{RecordObserved, ended_session, refused_never};
use crate::watchlist;

/// The splits that are known.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// By date; the flag says whether the split has been applied.
    rows: Vec<(SplitRow, bool)>,
    /// The last session of each stock that was made a bar of what was observed, because a split follows it.
    eves: HashMap<Symbol, Date>,
}

/// What a delivered split is to those that are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Not known, or with another ratio and not applied yet.
    New,
    /// Known as it is.
    Known,
    /// Applied with another ratio.
    TooLate,
}

impl Known {
    pub(super) fn new(rows: Vec<(SplitRow, bool)>) -> Self {
        Self {
            rows,
            eves: HashMap::new(),
        }
    }

    /// Whether the session was made a bar of what was observed, because a split follows it.
    pub(super) fn is_eve(&self, symbol: Symbol, session: Date) -> bool {
        self.eves.get(&symbol) == Some(&session)
    }

    fn find(&self, split: &SplitRow) -> Option<&(SplitRow, bool)> {
        self.rows
            .iter()
            .find(|(known, _)| (known.symbol, known.date) == (split.symbol, split.date))
    }

    fn place_of(&self, split: &SplitRow) -> Place {
        match self.find(split) {
            None => Place::New,
            Some((known, _)) if known.ratio == split.ratio => Place::Known,
            Some((_, false)) => Place::New,
            Some((_, true)) => Place::TooLate,
        }
    }

    /// Takes note of splits, or of another ratio of one that is still to come.
    fn note(&mut self, news: Vec<SplitRow>) {
        for split in news {
            self.rows
                .retain(|(known, _)| (known.symbol, known.date) != (split.symbol, split.date));
            self.rows.push((split, false));
        }
        self.rows.sort_by_key(|(split, _)| split.date);
    }

    fn next_due(&self, today: Date) -> Option<SplitRow> {
        let due = self
            .rows
            .iter()
            .find(|(split, applied)| !applied && split.date <= today);
        due.map(|(split, _)| *split)
    }

    /// Whether a split of a stock that is due on a day is not applied yet.
    pub(super) fn is_waiting(&self, symbol: Symbol, day: Date) -> bool {
        let mut of_symbol = self.rows.iter().filter(|(split, _)| split.symbol == symbol);
        of_symbol.any(|(split, applied)| !applied && split.date <= day)
    }

    fn mark_applied(&mut self, split: &SplitRow) {
        for (known, applied) in &mut self.rows {
            if (known.symbol, known.date) == (split.symbol, split.date) {
                *applied = true;
            }
        }
    }

    /// A bar in the shares of after all splits that were applied.
    pub(super) fn in_todays_shares(&self, symbol: Symbol, bar: Bar) -> Bar {
        self.applied_after(symbol, bar.date)
            .fold(bar, |bar, split| bar.after_split(split.ratio))
    }

    /// A bar in today's shares as it was traded: in the shares of its day.
    pub(super) fn in_shares_of_its_day(&self, symbol: Symbol, bar: Bar) -> Bar {
        self.applied_after(symbol, bar.date).fold(bar, |bar, split| {
            let price = |price: Price| Price::from_micros(split.ratio.multiply(price.micros())).unwrap_or(price);
            Bar {
                open: price(bar.open),
                high: price(bar.high),
                low: price(bar.low),
                close: price(bar.close),
                volume: split.ratio.divide(bar.volume),
                ..bar
            }
        })
    }

    /// A price of a day in the shares of after all splits that were applied.
    pub(super) fn price_in_todays_shares(&self, symbol: Symbol, date: Date, price: Price) -> Price {
        self.applied_after(symbol, date)
            .fold(price, |price, split| price.after_split(split.ratio))
    }

    /// So many shares of a day in the shares of after all splits that were applied.
    pub(super) fn shares_of_today(&self, symbol: Symbol, date: Date, shares: i64) -> i64 {
        self.applied_after(symbol, date)
            .fold(shares, |shares, split| split.ratio.multiply(shares))
    }

    /// Earnings per share that were known on `as_of`, in the shares of after all splits that were applied.
    pub(super) fn eps_in_todays_shares(&self, symbol: Symbol, as_of: Date, eps: Decimal) -> Decimal {
        let later = self.applied_after(symbol, as_of);
        later.fold(eps, |eps, split| Decimal::from_micros(split.ratio.divide(eps.micros())))
    }

    /// The applied splits of a stock with a day after `date`.
    fn applied_after(&self, symbol: Symbol, date: Date) -> impl Iterator<Item = &SplitRow> {
        let applied = self.rows.iter().filter(|(_, applied)| *applied).map(|(split, _)| split);
        applied.filter(move |split| split.symbol == symbol && date < split.date)
    }

    /// What a session has seen, in the shares of after all splits that were applied.
    pub(super) fn session_in_todays_shares(&self, symbol: Symbol, session: ObservedSession) -> ObservedSession {
        let later = self.applied_after(symbol, session.date);
        later.fold(session, |session, split| ObservedSession {
            open: session.open.after_split(split.ratio),
            high: session.high.after_split(split.ratio),
            low: session.low.after_split(split.ratio),
            last: session.last.after_split(split.ratio),
            volume: session.volume.map(|volume| split.ratio.multiply(volume)),
            ..session
        })
    }
}

impl Evaluator {
    /// A bar as the engine counts it.
    pub(crate) fn in_todays_shares(&self, symbol: Symbol, bar: Bar) -> Bar {
        self.known_splits().in_todays_shares(symbol, bar)
    }

    /// The stocks with a split that is due at `now` and waits because the clock has jumped forward.
    pub(crate) fn stocks_with_waiting_splits(&self, now: Timestamp) -> HashSet<Symbol> {
        let today = new_york_date(now);
        let known = self.known_splits();
        let waiting = known
            .rows
            .iter()
            .filter(|(split, applied)| !applied && split.date <= today);
        waiting.map(|(split, _)| split.symbol).collect()
    }

    /// The splits of a stock, those to come included.
    pub(crate) fn splits_of(&self, symbol: Symbol) -> Vec<SplitRow> {
        let known = self.known_splits();
        let of_symbol = known.rows.iter().filter(|(split, _)| split.symbol == symbol);
        of_symbol.map(|(split, _)| *split).collect()
    }

    pub(super) fn known_splits(&self) -> std::sync::MutexGuard<'_, Known> {
        self.splits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of splits that were delivered and applies those whose day has come. Returns the places of those that
    /// correct one that has been applied: that cannot be undone.
    ///
    /// # Errors
    /// [`StoreError`]; what was not applied is applied at the next tick.
    pub(crate) async fn take_splits(self: &Arc<Self>, splits: &[SplitRow]) -> Result<Vec<usize>, StoreError> {
        let mut news = Vec::new();
        let mut too_late = Vec::new();
        for (index, split) in splits.iter().enumerate() {
            match self.known_splits().place_of(split) {
                Place::New => news.push(*split),
                Place::Known => {}
                Place::TooLate => too_late.push(index),
            }
        }
        if !news.is_empty() {
            self.store
                .write(NoteSplits(news.clone()))
                .await
                .map_err(refused_never)?;
            self.known_splits().note(news);
        }
        self.apply_due_splits().await?;
        Ok(too_late)
    }

    /// Takes note of splits that other processes have noted.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(super) async fn follow_splits(&self) -> Result<(), StoreError> {
        let rows = self.store.splits().await?;
        let mut known = self.known_splits();
        let news = rows
            .into_iter()
            .map(|(split, _)| split)
            .filter(|split| known.place_of(split) == Place::New);
        let news: Vec<SplitRow> = news.collect();
        known.note(news);
        Ok(())
    }

    /// Applies the splits whose day has come. After the clock has jumped forward, they wait until that has held: a split that was
    /// applied stays so.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) async fn apply_due_splits(self: &Arc<Self>) -> Result<(), StoreError> {
        self.follow_clock().await?;
        let now = self.engine_now();
        let steady = self.steady_clock.read(&*self.clock);
        let today = new_york_date(steady.min(now));
        while self.known_splits().next_due(today).is_some() {
            // Nothing is judged while a stock is between old and new shares.
            let mut backlog = self.gate.lock().await;
            self.commit(&mut backlog).await?;
            // Whoever had the gate before may have applied it.
            let Some(split) = self.known_splits().next_due(today) else {
                return Ok(());
            };
            self.end_session_before(&split, now).await?;
            let work = ApplySplit {
                evaluator: Arc::clone(self),
                split,
                at: now,
            };
            self.store.write(work).await.map_err(refused_never)?;
        }
        Ok(())
    }

    /// Writes the last session before a split down as a bar, in the shares of its day, if none was delivered.
    async fn end_session_before(&self, split: &SplitRow, now: Timestamp) -> Result<(), StoreError> {
        let Some(row) = self.read(|engine| ended_session(engine, split.symbol, split.date)) else {
            return Ok(());
        };
        self.store
            .write(RecordObserved(vec![row]))
            .await
            .map_err(refused_never)?;
        let event = Event::Bar {
            symbol: row.symbol,
            bar: row.bar,
        };
        self.known_splits().eves.insert(row.symbol, row.bar.date);
        // A session that is over is taken.
        let _ = self.engine().process(event, now, &mut Vec::new());
        Ok(())
    }

    /// Moves the engine into the new shares.
    fn divide(&self, split: &SplitRow, alerts: &[Alert]) {
        if self.known_splits().find(split).is_some_and(|(_, applied)| *applied) {
            return;
        }
        let now = self.engine_now();
        self.divided.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
        self.divide_off_session(split);
        let mut engine = self.engine();
        let is_new = |date: Date| date >= split.date;
        let bars: Vec<Bar> = engine
            .history(split.symbol)
            .map(|history| history.bars().filter(|bar| is_new(bar.date)).copied().collect())
            .unwrap_or_default();
        let session = engine
            .observed_session(split.symbol)
            .filter(|session| is_new(session.date));
        let event = Event::Split {
            symbol: split.symbol,
            ratio: split.ratio,
        };
        // What it says about alerts is in the database already, for paused ones, too.
        let _ = engine.process(event, now, &mut Vec::new());
        for bar in bars {
            let symbol = split.symbol;
            let _ = engine.process(Event::Bar { symbol, bar }, now, &mut Vec::new());
        }
        if let Some(session) = session {
            let symbol = split.symbol;
            let _ = engine.process(Event::Resume { symbol, session }, now, &mut Vec::new());
        }
        drop(engine);
        self.known_splits().mark_applied(split);
        if let Some(row) = self
            .catalog
            .get(split.symbol)
            .and_then(|entry| entry.facts.fundamentals)
        {
            // Earnings that were told after the split's day are in new shares already.
            let event = self.fundamentals_event(&row);
            let _ = self.engine().process(event, now, &mut Vec::new());
        }
        for alert in alerts {
            self.tell_anew(alert);
        }
    }
}

/// Writes splits down.
struct NoteSplits(Vec<SplitRow>);

impl Transaction for NoteSplits {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            for split in &self.0 {
                // One that another process has noted is as good.
                unit.record_split(split).await?;
            }
            Ok(())
        })
    }
}

/// Moves all alerts of a stock that were made before the split into the new shares, and tells their owners.
struct ApplySplit {
    evaluator: Arc<Evaluator>,
    split: SplitRow,
    at: Timestamp,
}

impl ApplySplit {
    fn writer(&self) -> Writer {
        Writer {
            vault: Arc::clone(&self.evaluator.vault),
            chance: Arc::clone(&self.evaluator.chance),
            at: self.at,
        }
    }
}

impl Transaction for ApplySplit {
    /// All alerts of the stock as they are now.
    type Output = Vec<Alert>;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Self::Output, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let is_first = unit.mark_split_applied(&self.split).await?;
            if is_first {
                watchlist::adjust_to_split(unit, &self.split, self.at).await?;
            }
            let stored = unit.lock_alerts_of_symbol(self.split.symbol).await?;
            let mut alerts = Vec::with_capacity(stored.len());
            let mut moved = Moved::default();
            for stored in stored {
                let adjusted = adjusted(&stored.alert, &self.split).filter(|_| is_first);
                let Some(changed) = adjusted else {
                    alerts.push(stored.alert);
                    continue;
                };
                let details = details(&self.split, &stored.alert, &changed.alert);
                unit.update_alert(&changed, stored.alert.revision, self.at, Some(&details))
                    .await?;
                moved.add(&stored.owner, &stored.alert, &changed.alert);
                alerts.push(changed.alert);
            }
            moved.tell(unit, &self.split, &self.writer()).await?;
            Ok(alerts)
        })
    }

    fn committed(&self, alerts: &Self::Output) {
        self.evaluator.divide(&self.split, alerts);
    }
}

/// The alert in new shares, if its threshold or initial price was set in old ones.
fn adjusted(alert: &Alert, split: &SplitRow) -> Option<ChangedAlert> {
    // The threshold and the initial price may have been set on two sides of the split's day.
    let first_instant = new_york(split.date, 0, 0);
    let (mut condition, mut initial_price) = after_split(alert.condition, alert.initial_price, split.ratio);
    if alert.threshold_set_at >= first_instant {
        condition = alert.condition;
    }
    if alert.initial_price_set_at >= first_instant {
        initial_price = alert.initial_price;
    }
    if (condition, initial_price) == (alert.condition, alert.initial_price) {
        return None;
    }
    let alert_after = Alert {
        condition,
        initial_price,
        revision: alert.revision.next(),
        ..alert.clone()
    };
    let entry = StatusChange {
        action: HistoryAction::Adjusted,
        previous_status: Some(alert.status),
        new_status: HistoryStatus::Of(alert.status),
    };
    Some(ChangedAlert {
        alert: alert_after,
        entry,
    })
}

/// What the history says about it.
fn details(split: &SplitRow, before: &Alert, after: &Alert) -> Map<String, Value> {
    let threshold = |condition: &Condition| condition.threshold().map(|threshold| threshold.as_f64());
    let initial = |alert: &Alert| alert.initial_price.map(|price| price.as_f64());
    let members = [
        ("split_date", split.date.to_string().into()),
        ("split_ratio", split.ratio.as_f64().into()),
        ("previous_threshold", threshold(&before.condition).into()),
        ("new_threshold", threshold(&after.condition).into()),
        ("previous_initial_price", initial(before).into()),
        ("new_initial_price", initial(after).into()),
    ];
    members
        .map(|(name, value): (&str, Value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}
