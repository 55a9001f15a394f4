//! A stock is divided, and everything that is counted in its shares with it.
//!
//! Bars are kept as they were delivered, in the shares of their day. The engine counts in today's shares. So a split is applied
//! on its day: the engine's history and session are moved, and every alert that was made before that day. A split that
//! is told of late finds bars and alerts of after its day, which are in new shares already and stay as they are.

use std::sync::{Arc, PoisonError};

use ::alerts::engine::{Event, SessionSoFar, after_split};
use ::alerts::transition::{Changed, Entry, HistoryAction, HistoryStatus};
use ::alerts::{Alert, Condition};
use ::market::calendar::{new_york, new_york_date};
use ::market::records::SplitRow;
use ::market::{Bar, Decimal, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value};
use store::{Abort, BoxFuture, StoreError, Unit, Work};

use super::Evaluator;

/// The splits that are known.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// By date; the flag says whether the split has been applied.
    rows: Vec<(SplitRow, bool)>,
}

impl Known {
    pub(super) fn new(rows: Vec<(SplitRow, bool)>) -> Self {
        Self { rows }
    }

    fn has(&self, split: &SplitRow) -> bool {
        self.rows
            .iter()
            .any(|(known, _)| (known.symbol, known.date) == (split.symbol, split.date))
    }

    fn due(&self, today: Date) -> Vec<SplitRow> {
        let due = self
            .rows
            .iter()
            .filter(|(split, applied)| !applied && split.date <= today);
        due.map(|(split, _)| *split).collect()
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
    pub(super) fn session_in_todays_shares(&self, symbol: Symbol, session: SessionSoFar) -> SessionSoFar {
        let later = self.applied_after(symbol, session.date);
        later.fold(session, |session, split| SessionSoFar {
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

    pub(super) fn known_splits(&self) -> std::sync::MutexGuard<'_, Known> {
        self.splits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of splits that were delivered and applies those whose day has come.
    ///
    /// # Errors
    /// [`StoreError`]; what was not applied is applied at the next tick.
    pub(crate) async fn take_splits(self: &Arc<Self>, splits: &[SplitRow]) -> Result<(), StoreError> {
        let new: Vec<SplitRow> = {
            let known = self.known_splits();
            splits.iter().filter(|split| !known.has(split)).copied().collect()
        };
        if !new.is_empty() {
            let note = NoteSplits(new.clone());
            self.store.write(note).await.map_err(refused_never)?;
            let mut known = self.known_splits();
            known.rows.extend(new.into_iter().map(|split| (split, false)));
            known.rows.sort_by_key(|(split, _)| split.date);
        }
        self.apply_due_splits().await
    }

    /// Applies the splits whose day has come.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(super) async fn apply_due_splits(self: &Arc<Self>) -> Result<(), StoreError> {
        let now = self.engine_now();
        let due = self.known_splits().due(new_york_date(now));
        for split in due {
            // Nothing is judged while a stock is between old and new shares.
            let mut backlog = self.gate.lock().await;
            self.commit(&mut backlog).await?;
            let work = ApplySplit {
                evaluator: Arc::clone(self),
                split,
                at: now,
            };
            self.store.write(work).await.map_err(refused_never)?;
        }
        Ok(())
    }

    /// Moves the engine into the new shares.
    fn divide(&self, split: &SplitRow, alerts: &[Alert]) {
        let now = self.engine_now();
        let mut engine = self.engine();
        let is_new = |date: Date| date >= split.date;
        let bars: Vec<Bar> = engine
            .history(split.symbol)
            .map(|history| history.bars().filter(|bar| is_new(bar.date)).copied().collect())
            .unwrap_or_default();
        let session = engine
            .session_so_far(split.symbol)
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

impl Work for NoteSplits {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            for split in &self.0 {
                // One that another process has noted is as good.
                unit.record_split(split).await?;
            }
            Ok(())
        })
    }
}

/// Moves all alerts of a stock that were made before the split into the new shares.
struct ApplySplit {
    evaluator: Arc<Evaluator>,
    split: SplitRow,
    at: Timestamp,
}

impl Work for ApplySplit {
    /// All alerts of the stock as they are now.
    type Done = Vec<Alert>;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<Self::Done, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let is_first = unit.mark_split_applied(&self.split).await?;
            let stored = unit.alerts_of_symbol_to_change(self.split.symbol).await?;
            let mut alerts = Vec::with_capacity(stored.len());
            for stored in stored {
                let adjusted = adjusted(&stored.alert, &self.split).filter(|_| is_first);
                let Some(changed) = adjusted else {
                    alerts.push(stored.alert);
                    continue;
                };
                let details = details(&self.split, &stored.alert, &changed.alert);
                unit.update_alert(&changed, stored.alert.revision, self.at, Some(&details))
                    .await?;
                alerts.push(changed.alert);
            }
            Ok(alerts)
        })
    }

    fn committed(&self, alerts: &Self::Done) {
        self.evaluator.divide(&self.split, alerts);
    }
}

/// The alert in new shares, if it was made in old ones and counts in them at all.
fn adjusted(alert: &Alert, split: &SplitRow) -> Option<Changed> {
    // Its initial price is of the time it was made or last activated, whichever is later.
    if alert.armed_at >= new_york(split.date, 0, 0) {
        return None;
    }
    let (condition, initial_price) = after_split(alert.condition, alert.initial_price, split.ratio);
    if (condition, initial_price) == (alert.condition, alert.initial_price) {
        return None;
    }
    let alert_after = Alert {
        condition,
        initial_price,
        revision: alert.revision.next(),
        ..alert.clone()
    };
    let entry = Entry {
        action: HistoryAction::Adjusted,
        previous_status: Some(alert.status),
        new_status: HistoryStatus::Of(alert.status),
    };
    Some(Changed {
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

/// A work that never refuses has failed for the database's sake.
fn refused_never(abort: Abort<std::convert::Infallible>) -> StoreError {
    match abort {
        Abort::Refused(never) => match never {},
        Abort::Store(error) => error,
    }
}
