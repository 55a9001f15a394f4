//! Applies stock splits.
//!
//! Bars are stored as delivered, in the shares of their day. The engine counts in today's shares. A split is
//! therefore applied on its day: it converts the engine's history and session, and each alert's threshold and
//! initial price if they were set before that day. Bars, thresholds and initial prices from after the day of a
//! split that becomes known late are in new shares already and do not change.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use ::alerts::engine::{Engine, Event, after_split};
use ::alerts::transition::{ChangedAlert, HistoryAction, HistoryStatus, StatusChange};
use ::alerts::{Alert, Condition};
use ::market::calendar::{new_york, new_york_date};
use ::market::records::SplitRow;
use ::market::{Bar, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value};
use store::{StoreError, UnitOfWork};

use super::Evaluator;
use super::known_splits::{KnownSplits, SplitStatus};
use super::notice_writer::NoticeWriter;
use super::split_notices::AdjustedAlertsByOwner;
use crate::evaluator::watchlist_split::adjust as adjust_to_split;
use crate::market::sessions::ended_session;

impl Evaluator {
    /// Converts a bar to today's shares, in which the engine counts.
    pub(crate) fn in_todays_shares(&self, symbol: Symbol, bar: Bar) -> Bar {
        self.known_splits().in_todays_shares(symbol, bar)
    }

    /// Returns the stocks with a split that is due at `now` and waits because the clock has jumped forward.
    pub(crate) fn stocks_with_waiting_splits(&self, now: Timestamp) -> HashSet<Symbol> {
        let today = new_york_date(now);
        let known = self.known_splits();
        let waiting = known
            .rows
            .iter()
            .filter(|(split, applied)| !applied && split.date <= today);
        waiting.map(|(split, _)| split.symbol).collect()
    }

    /// Returns the splits of a stock, including future ones.
    pub fn splits_of(&self, symbol: Symbol) -> Vec<SplitRow> {
        let known = self.known_splits();
        let of_symbol = known.rows.iter().filter(|(split, _)| split.symbol == symbol);
        of_symbol.map(|(split, _)| *split).collect()
    }

    pub(super) fn known_splits(&self) -> std::sync::MutexGuard<'_, KnownSplits> {
        self.splits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records delivered splits and applies those that are due. Returns the indexes of splits that contradict an
    /// applied one, which cannot be undone.
    ///
    /// # Errors
    /// [`StoreError`]: the next tick applies the remaining splits.
    pub(crate) async fn ingest_splits(self: &Arc<Self>, splits: &[SplitRow]) -> Result<Vec<usize>, StoreError> {
        let mut new_splits = Vec::new();
        let mut too_late = Vec::new();
        for (index, split) in splits.iter().enumerate() {
            match self.known_splits().status_of(split) {
                SplitStatus::New => new_splits.push(*split),
                SplitStatus::Known => {}
                SplitStatus::TooLate => too_late.push(index),
            }
        }
        if !new_splits.is_empty() {
            let transaction = self.store.commit(new_splits.clone(), |new_splits, unit| {
                Box::pin(async move {
                    for split in new_splits {
                        // Another process may have stored the split already.
                        unit.record_split(split).await?;
                    }
                    Ok(())
                })
            });
            transaction.await?;
            self.known_splits().insert(new_splits);
        }
        self.apply_due_splits().await?;
        Ok(too_late)
    }

    /// Records splits that other processes have recorded.
    pub(crate) async fn follow_splits(&self) -> Result<(), StoreError> {
        let rows = self.store.splits().await?;
        let mut known = self.known_splits();
        let new_splits = rows
            .into_iter()
            .map(|(split, _)| split)
            .filter(|split| known.status_of(split) == SplitStatus::New);
        let new_splits: Vec<SplitRow> = new_splits.collect();
        known.insert(new_splits);
        Ok(())
    }

    /// Applies the splits that are due. After the clock has jumped forward, they wait until the jump has held: an
    /// applied split cannot be undone.
    pub async fn apply_due_splits(self: &Arc<Self>) -> Result<(), StoreError> {
        self.follow_clock().await?;
        let now = self.engine_now();
        let steady = self.steady_clock.read(&*self.clock);
        let today = new_york_date(steady.min(now));
        while self.known_splits().next_due(today).is_some() {
            // Alerts are not evaluated while a stock is between old and new shares.
            let mut backlog = self.backlog.lock().await;
            self.commit(&mut backlog).await?;
            // Another task may have applied it while this one waited for the lock.
            let Some(split) = self.known_splits().next_due(today) else {
                return Ok(());
            };
            self.end_session_before(&split, now).await?;
            let writer = self.notice_writer(now);
            let evaluator = Arc::clone(self);
            let transaction = self.store.commit_then(
                (split, writer),
                |(split, writer), unit| Box::pin(apply_split(unit, split, writer)),
                move |alerts| evaluator.apply_split_to_engine(&split, alerts),
            );
            transaction.await?;
        }
        Ok(())
    }

    /// Stores the last session before a split as a bar, in the shares of its day, if no bar was delivered.
    async fn end_session_before(&self, split: &SplitRow, now: Timestamp) -> Result<(), StoreError> {
        let Some(row) = self.read(|engine| ended_session(engine, split.symbol, split.date)) else {
            return Ok(());
        };
        let record = self.store.commit(row, |row, unit| {
            Box::pin(unit.record_observed_bars(std::slice::from_ref(row)))
        });
        record.await?;
        let event = Event::Bar {
            symbol: row.symbol,
            bar: row.bar,
        };
        self.known_splits()
            .sessions_before_split
            .insert(row.symbol, row.bar.date);
        // The bar of a session that is over is always accepted.
        let _ = self.engine().process(event, now, &mut Vec::new());
        Ok(())
    }

    /// Tells an engine the dates of all applied splits, in whose shares expressions were set.
    pub(super) fn tell_known_splits(&self, engine: &mut Engine, now: Timestamp) {
        for (symbol, splits) in self.known_splits().applied() {
            // Known splits are always accepted.
            let _ = engine.process(
                Event::KnownSplits {
                    symbol,
                    splits: &splits,
                },
                now,
                &mut Vec::new(),
            );
        }
    }

    /// Converts the engine to the new shares.
    fn apply_split_to_engine(&self, split: &SplitRow, alerts: &[Alert]) {
        if self.known_splits().find(split).is_some_and(|(_, applied)| *applied) {
            return;
        }
        let now = self.engine_now();
        self.engine_generation.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
        self.adjust_off_session_price(split);
        let mut engine = self.engine();
        let is_new = |date: Date| date >= split.date;
        let bars: Vec<Bar> = engine
            .history(split.symbol)
            .map(|history| history.bars().filter(|bar| is_new(bar.date)).copied().collect())
            .unwrap_or_default();
        let session = engine
            .observed_session(split.symbol)
            .filter(|session| is_new(session.date));
        let newest = engine
            .extended_price(split.symbol)
            .filter(|newest| is_new(new_york_date(newest.at)));
        let event = Event::Split {
            symbol: split.symbol,
            ratio: split.ratio,
        };
        // The decisions are discarded: the database has all adjusted alerts already, including paused ones.
        let _ = engine.process(event, now, &mut Vec::new());
        for bar in bars {
            let symbol = split.symbol;
            let _ = engine.process(Event::Bar { symbol, bar }, now, &mut Vec::new());
        }
        if let Some(session) = session {
            let symbol = split.symbol;
            let _ = engine.process(Event::Resume { symbol, session }, now, &mut Vec::new());
        }
        if let Some(newest) = newest {
            let symbol = split.symbol;
            let _ = engine.process(Event::ResumeExtended { symbol, newest }, now, &mut Vec::new());
        }
        drop(engine);
        self.known_splits().mark_applied(split);
        self.tell_known_splits(&mut self.engine(), now);
        if let Some(row) = self
            .catalog
            .get(split.symbol)
            .and_then(|entry| entry.facts.fundamentals)
        {
            // Earnings that became known after the split's day are in new shares already.
            let event = self.fundamentals_event(&row);
            let _ = self.engine().process(event, now, &mut Vec::new());
        }
        for alert in alerts {
            self.replace_alert(alert);
        }
    }
}

/// Converts all alerts of a stock from before the split to the new shares, and queues emails to their owners.
/// Returns all alerts of the stock in their present state.
async fn apply_split(unit: &mut UnitOfWork, split: &SplitRow, writer: &NoticeWriter) -> Result<Vec<Alert>, StoreError> {
    let is_first = unit.mark_split_applied(split).await?;
    if is_first {
        adjust_to_split(unit, split, writer.at).await?;
    }
    let stored = unit.lock_alerts_of_symbol(split.symbol).await?;
    let mut alerts = Vec::with_capacity(stored.len());
    let mut adjusted_alerts = AdjustedAlertsByOwner::default();
    for stored in stored {
        let adjusted = adjusted(&stored.alert, split).filter(|_| is_first);
        let Some(changed) = adjusted else {
            alerts.push(stored.alert);
            continue;
        };
        let details = details(split, &stored.alert, &changed.alert);
        unit.update_alert(&changed, &stored.alert, writer.at, Some(&details))
            .await?;
        adjusted_alerts.add(&stored.owner, &stored.alert, &changed.alert);
        alerts.push(changed.alert);
    }
    adjusted_alerts.queue_notices(unit, split, writer).await?;
    Ok(alerts)
}

/// Returns the alert in new shares if its threshold or initial price was set in old ones.
fn adjusted(alert: &Alert, split: &SplitRow) -> Option<ChangedAlert> {
    // The threshold and the initial price may have been set on different sides of the split's day.
    let first_instant = new_york(split.date, 0, 0);
    let (mut condition, mut initial_price) = after_split(&alert.condition, alert.initial_price, split.ratio);
    if alert.threshold_set_at >= first_instant {
        condition = alert.condition.clone();
    }
    if alert.initial_price_set_at >= first_instant {
        initial_price = alert.initial_price;
    }
    let armed_before = alert.armed_at < first_instant;
    let lifecycle = alert.lifecycle.as_deref().filter(|_| armed_before);
    let lifecycle = lifecycle.map(|state| Box::new(state.after_split(split.ratio)));
    let lifecycle = lifecycle.or_else(|| alert.lifecycle.clone());
    if condition == alert.condition && initial_price == alert.initial_price && lifecycle == alert.lifecycle {
        return None;
    }
    let options = if condition == alert.condition {
        alert.options.clone()
    } else {
        alert.options.clone().after_split(&alert.condition, split.ratio)
    };
    let alert_after = Alert {
        condition,
        options,
        lifecycle,
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

/// Returns the details of the history entry.
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
