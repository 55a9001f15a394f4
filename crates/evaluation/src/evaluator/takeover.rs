//! Taking over and giving up shards.
//!
//! A new owner continues from what its predecessor has written. The last quotes, the states of alerts and the numbers of the judged messages
//! are written in one transaction, and a claim waits for it. So the new owner sets the prices of the shard's stocks back to the stored ones,
//! arms the alerts with their stored states again, and judges the later messages that it has received. A decision is then made once, by the
//! state that belongs to it.

use std::collections::HashMap;
use std::sync::Arc;

use ::alerts::engine::Event;
use ::alerts::{AlertId, EvaluatedAlert, Revision, Status};
use ::market::Symbol;
use jiff::{SignedDuration, Timestamp};
use store::StoreError;
use store::model::{LatestQuote, Shard, ShardState};

use super::Evaluator;
use super::backlog::{Backlog, PendingEvaluation};
use super::load::observed_session;
use super::revision_guard::ReadGuard;
use crate::cluster::delayed::DelayedEvaluation;
use crate::cluster::held_shards::{LoadNumber, ShardRole};
use crate::cluster::shard_set::ShardSet;

/// The number of shards whose alerts are read at once. Nothing is judged meanwhile.
const SHARDS_PER_LOAD: usize = 32;
/// The number of alerts that one query reads when they are armed again.
const ALERT_BATCH_SIZE: usize = 1_000;
/// By how much a stored quote may be later than this machine's clock, because it was judged on a machine whose clock is ahead.
const MAX_CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_mins(1);

impl Evaluator {
    /// Becomes the owner of shards whose alerts this node has read, as of what is stored. Returns the stored quotes of their stocks. The
    /// caller judges the messages that are not stored yet before anything else.
    ///
    /// # Errors
    /// [`StoreError`]: call this again.
    pub(crate) async fn become_owner(self: &Arc<Self>, states: &[ShardState]) -> Result<Vec<LatestQuote>, StoreError> {
        let Some(sharded) = &self.sharded else {
            return Ok(Vec::new());
        };
        let mut backlog = self.backlog.lock().await;
        self.commit(&mut backlog).await?;
        let shards: ShardSet = states.iter().map(|state| state.shard).collect();
        let kept = sharded.delayed().take_of(&shards);
        self.enqueue_delayed(&mut backlog, kept);
        self.commit(&mut backlog).await?;
        let quotes = self.resume_stored_prices(&shards).await?;
        let marks = marks_of(states, self.store.clock().await?);
        self.arm_as_stored(&marks, &shards).await?;
        for state in states {
            sharded.held.own(state.shard, state.epoch);
        }
        Ok(quotes)
    }

    /// Arms the alerts of shards again whose states the former owner may have changed, or whose decisions were left to it.
    async fn arm_as_stored(&self, marks: &HashMap<Shard, Timestamp>, shards: &ShardSet) -> Result<(), StoreError> {
        let Some(sharded) = &self.sharded else { return Ok(()) };
        // The engine does not know an alert any more whose last firing was left to the owner.
        let mut known = sharded.left_in(shards);
        self.read(|engine| {
            let with_state = engine.armed_with_state(|symbol| shards.contains(Shard::of(symbol)));
            for id in with_state {
                // The engine may have gone ahead of a decision that was left.
                if let Some(revision) = engine.revision(id) {
                    known.entry(id).or_insert(revision);
                }
            }
        });
        let known: Vec<(AlertId, Revision)> = known.into_iter().collect();
        for some in known.chunks(ALERT_BATCH_SIZE) {
            self.arm_some_as_stored(some, marks).await?;
        }
        sharded.forget_left_in(shards);
        Ok(())
    }

    /// Arms alerts again, which the node knows in these revisions.
    async fn arm_some_as_stored(
        &self,
        known: &[(AlertId, Revision)],
        marks: &HashMap<Shard, Timestamp>,
    ) -> Result<(), StoreError> {
        let reading = self.revision_guard.begin_read();
        let ids: Vec<AlertId> = known.iter().map(|(id, _)| *id).collect();
        let stored = self.store.alerts_by_id(&ids).await?;
        let active = stored
            .into_iter()
            .filter(|stored| stored.alert.status == Status::Active)
            .map(|stored| EvaluatedAlert::of(&stored.alert));
        let active: Vec<EvaluatedAlert> = active.collect();
        let known: HashMap<AlertId, Revision> = known.iter().copied().collect();
        let changed = active
            .iter()
            .filter(|alert| known.get(&alert.id).is_none_or(|known| alert.revision > *known));
        let changed: Vec<AlertId> = changed.map(|alert| alert.id).collect();
        // No message from before an edit may change them. A firing is followed by the messages after the one that caused it.
        for change in self.store.change_positions(&changed).await? {
            if !change.has_fired {
                self.note_position(change.alert, change.position);
            }
        }
        let now = self.engine_now();
        let mut engine = self.engine();
        for id in ids {
            // Fails only if the alert is not armed, which is fine.
            let _ = engine.process(Event::Disarmed(id), now, &mut Vec::new());
        }
        drop(engine);
        self.take_over(active, marks, &reading, |symbol| self.holds(symbol));
        Ok(())
    }

    /// Commits the standby's decisions that the owners should have settled by now.
    ///
    /// # Errors
    /// [`StoreError`]: the decisions are kept, and committed before the next evaluation.
    pub(crate) async fn commit_delayed(self: &Arc<Self>) -> Result<(), StoreError> {
        let Some(sharded) = &self.sharded else { return Ok(()) };
        let uptime = self.clock.uptime();
        if !sharded.has_lease(uptime) {
            return Ok(());
        }
        let mut backlog = self.backlog.lock().await;
        self.commit(&mut backlog).await?;
        // Some were made while the node had no lease.
        sharded.release_kept(uptime);
        let due = sharded.delayed().take_due(uptime);
        self.enqueue_delayed(&mut backlog, due);
        let fired = self.commit(&mut backlog).await?.all;
        metrics::counter!("bellwether_standby_commits_total").increment(fired);
        Ok(())
    }

    fn enqueue_delayed(&self, backlog: &mut Backlog, evaluations: Vec<DelayedEvaluation>) {
        for evaluation in evaluations {
            let decisions = evaluation.decisions.into_iter().map(|(_, decision)| decision);
            let pending = PendingEvaluation::of_firings(decisions.collect(), evaluation.judged_at);
            self.enqueue(backlog, pending, usize::MAX);
        }
    }

    /// Returns the stocks with active alerts that `is_wanted` accepts. This node may not know all of them otherwise.
    pub(super) async fn alerted_symbols(&self, is_wanted: impl Fn(Symbol) -> bool) -> Result<Vec<Symbol>, StoreError> {
        let counts = self.store.active_alerts_per_stock().await?;
        let symbols = counts.into_iter().map(|(symbol, _)| symbol);
        Ok(symbols.filter(|symbol| is_wanted(*symbol)).collect())
    }

    /// Reads the alerts of shards and arms them. Shards that are not loading under this number any more are left out.
    ///
    /// They must be loading before this is called, so that changes of their alerts are followed meanwhile.
    ///
    /// # Errors
    /// [`StoreError`]: call this again.
    pub(crate) async fn load_shards(&self, states: &[ShardState], load: LoadNumber) -> Result<(), StoreError> {
        for some in states.chunks(SHARDS_PER_LOAD) {
            self.load_some_shards(some, load).await?;
        }
        Ok(())
    }

    async fn load_some_shards(&self, states: &[ShardState], load: LoadNumber) -> Result<(), StoreError> {
        let Some(sharded) = &self.sharded else { return Ok(()) };
        // Nothing is judged between the read of an alert and its arming.
        let _backlog = self.backlog.lock().await;
        let is_loading = |shard: &Shard| sharded.held.role(*shard) == ShardRole::Loading(load);
        let shards: ShardSet = states.iter().map(|state| state.shard).filter(is_loading).collect();
        if shards.is_empty() {
            return Ok(());
        }
        let symbols = self
            .alerted_symbols(|symbol| shards.contains(Shard::of(symbol)))
            .await?;
        let marks = marks_of(states, self.store.clock().await?);
        let reading = self.revision_guard.begin_read();
        let mut take = |alerts| self.take_over(alerts, &marks, &reading, |symbol| is_loading(&Shard::of(symbol)));
        self.store.active_alerts_of_symbols(&symbols, &mut take).await?;
        // Not before: a change in between may have been read.
        let position = self.store.history_last().await?;
        let mut positions = sharded.positions();
        for shard in shards.iter() {
            positions.note_load(shard, position);
        }
        Ok(())
    }

    /// Arms those of some alerts whose stocks are accepted.
    fn take_over(
        &self,
        alerts: Vec<EvaluatedAlert>,
        marks: &HashMap<Shard, Timestamp>,
        reading: &ReadGuard<'_>,
        is_accepted: impl Fn(Symbol) -> bool,
    ) {
        let now = self.engine_now();
        let mut decisions = Vec::new();
        let mut engine = self.engine();
        // Under the lock, so that no shard is lost in between.
        for mut alert in alerts.into_iter().filter(|alert| is_accepted(alert.symbol)) {
            alert.armed_at = alert.armed_at.min(now);
            let evaluated_until = marks.get(&Shard::of(alert.symbol)).copied();
            reading.take_over(&mut engine, &alert, evaluated_until, now, &mut decisions);
        }
        drop(engine);
        self.pending_decisions().append(&mut decisions);
    }

    /// Lets the stocks of shards continue from their stored prices. Returns their stored quotes.
    async fn resume_stored_prices(&self, shards: &ShardSet) -> Result<Vec<LatestQuote>, StoreError> {
        let now = self.engine_now();
        let mut quotes = self.store.latest_quotes().await?;
        let latest = now.saturating_add(MAX_CLOCK_DIFFERENCE).unwrap_or(Timestamp::MAX);
        quotes.retain(|quote| quote.at <= latest && shards.contains(Shard::of(quote.symbol)));
        for quote in &quotes {
            let symbol = quote.symbol;
            let mut session = self
                .known_splits()
                .session_in_todays_shares(symbol, observed_session(quote));
            if quote.at > now {
                // Otherwise the next quotes would not replace it before its time.
                self.replace_future_quote(symbol, quote.at);
                session.last_at = now;
            }
            // A stored session is always accepted.
            let _ = self
                .engine()
                .process(Event::Resume { symbol, session }, now, &mut Vec::new());
            self.note_quote_time(symbol, quote.made_at.unwrap_or(quote.at).min(now), session.last_at);
        }
        self.resume_extended_prices(|symbol| shards.contains(Shard::of(symbol)))
            .await?;
        Ok(quotes)
    }
}

/// Returns the instants up to which the clock was processed, for the alerts of some shards. A database that was used by a single process has
/// one mark for all. Without any, nothing was due before.
fn marks_of(states: &[ShardState], single: Option<Timestamp>) -> HashMap<Shard, Timestamp> {
    let earliest = single.unwrap_or(Timestamp::MIN);
    let marks = states
        .iter()
        .map(|state| (state.shard, state.clock.unwrap_or(earliest)));
    marks.collect()
}

#[cfg(test)]
mod tests;
