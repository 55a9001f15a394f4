//! Follows the changes of alerts that other processes make on a shared database, and in a cluster those of this one.
//!
//! The change feed is complete up to a position: no change appears there any more. A transaction that lasts holds this position back.
//! A message with market data is judged with all changes that were committed before it was received, so it does not wait for that
//! transaction: the committed changes behind it are applied early, and not again when the feed comes to them. Otherwise an alert would
//! begin anew with a later price.

use std::sync::atomic::Ordering;

use ::alerts::{Alert, AlertId, Status};
use store::StoreError;
use store::model::PositionedAlert;

use super::Evaluator;
use super::revision_guard::ReadGuard;
use super::sharded::ShardedEvaluation;

/// The number of changes that one query reads.
const CHANGE_BATCH_SIZE: u32 = 1_000;

impl Evaluator {
    /// Starts following other processes' changes at the present position.
    pub(super) async fn start_following_changes(&self) -> Result<(), StoreError> {
        let position = self.store.history_position().await?;
        self.change_cursor.store(position, Ordering::Release);
        Ok(())
    }

    /// Applies the changes that were made since the last call, as far as the change feed is complete.
    pub(crate) async fn follow_changes(&self) -> Result<(), StoreError> {
        self.follow_feed(i64::MAX).await
    }

    /// Applies all committed changes at or before a position, but not those of alerts that have changed again since.
    pub(crate) async fn follow_committed(&self, until: i64) -> Result<(), StoreError> {
        if self.has_followed(until) {
            return Ok(());
        }
        self.follow_feed(until).await?;
        let Some(sharded) = &self.sharded else { return Ok(()) };
        let mut after = self.change_cursor.load(Ordering::Acquire);
        while after < until {
            let reading = self.revision_guard.begin_read();
            let (changes, next) = self.store.committed_changes(after, until, CHANGE_BATCH_SIZE).await?;
            for changed in changes.into_iter().filter(|changed| changed.position <= until) {
                let (alert, position) = (changed.id, changed.position);
                self.apply_followed_change(changed, &reading);
                sharded.early_changes().record(alert, position);
            }
            after = next;
        }
        Ok(())
    }

    /// Applies the changes of the complete part of the change feed, at or before a position.
    async fn follow_feed(&self, until: i64) -> Result<(), StoreError> {
        loop {
            let after = self.change_cursor.load(Ordering::Acquire);
            let reading = self.revision_guard.begin_read();
            let (changes, next) = self.store.changed_since(after, CHANGE_BATCH_SIZE).await?;
            let count = changes.len();
            let next = next.min(until).max(after);
            for changed in changes.into_iter().filter(|changed| changed.position <= until) {
                self.apply_followed_change(changed, &reading);
            }
            self.change_cursor.store(next, Ordering::Release);
            if let Some(sharded) = &self.sharded {
                sharded.early_changes().forget_until(next);
            }
            if count < CHANGE_BATCH_SIZE as usize || next == after {
                return Ok(());
            }
        }
    }

    /// Returns whether all changes at or before a position were followed.
    fn has_followed(&self, position: i64) -> bool {
        self.change_cursor.load(Ordering::Acquire) >= position
    }

    /// Applies a change of the feed, unless it was applied early.
    fn apply_followed_change(&self, changed: PositionedAlert, reading: &ReadGuard<'_>) {
        let PositionedAlert {
            id,
            position,
            has_fired,
            stored,
        } = changed;
        let is_known = |sharded: &ShardedEvaluation| sharded.early_changes().is_applied(id, position);
        if self.sharded.as_deref().is_some_and(is_known) {
            return;
        }
        let alert = stored.map(|stored| stored.alert);
        if self.is_single() || has_fired {
            let is_new = self.apply_stored(id, alert.as_ref(), reading);
            self.note_change(id, alert.as_ref(), is_new.then_some(position));
        } else {
            self.apply_edit(id, alert.as_ref(), position);
        }
    }

    /// Applies a change that was no firing, whatever the engine has: as a standby it may have gone ahead with decisions about the former
    /// state that are not committed, under the same revision as the edited alert.
    fn apply_edit(&self, id: AlertId, alert: Option<&Alert>, position: i64) {
        let Some(sharded) = &self.sharded else { return };
        sharded.positions().note(id, position, self.clock.uptime());
        sharded.delayed().forget_alert(id);
        sharded.forget_left(id);
        self.forget_alert(id);
        if let Some(alert) = alert.filter(|alert| alert.status == Status::Active) {
            self.replace_alert(alert);
        }
    }

    /// Records a change. It has a position if the engine did not know it: a revision that follows from the engine's own firing is none.
    fn note_change(&self, id: AlertId, alert: Option<&Alert>, position: Option<i64>) {
        let Some(sharded) = &self.sharded else { return };
        if let Some(position) = position {
            sharded.positions().note(id, position, self.clock.uptime());
        }
        let is_over = alert.is_none_or(|alert| alert.status != Status::Active);
        if is_over || position.is_some() {
            sharded.forget_left(id);
        }
        if let Some(alert) = alert {
            sharded.delayed().note_change(id, alert.revision);
        }
    }
}
