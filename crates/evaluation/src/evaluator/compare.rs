//! Finds differences between the engine and the database.
//!
//! Normally there are none: every change is applied after its commit. Changes of other processes on a shared
//! database are followed every second or so. Periodically all revisions are compared, so that a missed change is
//! found.

use std::collections::HashSet;

use ::alerts::{Alert, AlertId, Revision, Status};
use store::StoreError;

use super::Evaluator;
use super::revision_guard::ReadGuard;

/// The number of changes that one query reads.
const CHANGE_BATCH_SIZE: u32 = 1_000;

impl Evaluator {
    /// Starts following other processes' changes at the present position.
    pub(super) async fn start_following_changes(&self) -> Result<(), StoreError> {
        let place = self.store.history_position().await?;
        self.change_cursor.store(place, std::sync::atomic::Ordering::Release);
        Ok(())
    }

    /// Applies the changes that other processes have made since the last call, those at or before a position if there is one.
    pub(crate) async fn follow_changes(&self, until: Option<i64>) -> Result<(), StoreError> {
        use std::sync::atomic::Ordering;
        loop {
            let place = self.change_cursor.load(Ordering::Acquire);
            let reading = self.revision_guard.begin_read();
            let (changes, next) = self.store.changed_since(place, CHANGE_BATCH_SIZE).await?;
            let count = changes.len();
            let until = until.unwrap_or(i64::MAX);
            let next = next.min(until).max(place);
            for changed in changes.into_iter().filter(|changed| changed.position <= until) {
                let alert = changed.stored.map(|stored| stored.alert);
                if self.is_single() || changed.has_fired {
                    let is_new = self.apply_stored(changed.id, alert.as_ref(), &reading);
                    self.note_change(changed.id, alert.as_ref(), is_new.then_some(changed.position));
                } else {
                    self.apply_edit(changed.id, alert.as_ref(), changed.position);
                }
            }
            self.change_cursor.store(next, Ordering::Release);
            if count < CHANGE_BATCH_SIZE as usize || next == place {
                return Ok(());
            }
        }
    }

    /// Returns whether all changes at or before a position were followed.
    pub(crate) fn has_followed(&self, position: i64) -> bool {
        self.change_cursor.load(std::sync::atomic::Ordering::Acquire) >= position
    }

    /// Compares all revisions and corrects the engine. Returns the number of corrections.
    pub async fn compare(&self) -> Result<usize, StoreError> {
        let mut different = Vec::new();
        let mut active = 0_usize;
        self.active_revisions(&mut |revisions| {
            let engine = self.engine();
            active += revisions.len();
            different.extend(
                revisions
                    .into_iter()
                    .filter(|&(id, revision)| engine.revision(id) != Some(revision)),
            );
        })
        .await?;
        let mut suspects: HashSet<AlertId> = different.into_iter().map(|(id, _)| id).collect();
        if self.read(|engine| engine.armed_alerts()) + suspects.len() != active {
            suspects.extend(self.armed_but_not_active().await?);
        }
        if suspects.is_empty() {
            return Ok(0);
        }
        self.recheck(suspects).await
    }

    async fn armed_but_not_active(&self) -> Result<Vec<AlertId>, StoreError> {
        let mut armed: HashSet<AlertId> = self.read(|engine| engine.armed_ids().collect());
        self.active_revisions(&mut |revisions| {
            for (id, _) in revisions {
                armed.remove(&id);
            }
        })
        .await?;
        Ok(armed.into_iter().collect())
    }

    /// Reads the revisions of the active alerts that this process judges.
    async fn active_revisions(
        &self,
        take: &mut (dyn FnMut(Vec<(AlertId, Revision)>) + Send),
    ) -> Result<(), StoreError> {
        if self.is_single() {
            return self.store.active_revisions(take).await;
        }
        let held = self.alerted_symbols(|symbol| self.holds(symbol)).await?;
        self.store
            .active_alerts_of_symbols(&held, &mut |alerts| {
                take(alerts.into_iter().map(|alert| (alert.id, alert.revision)).collect());
            })
            .await
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

    /// Checks the differences again. Most are changes in progress; only differences that persist are corrected.
    async fn recheck(&self, suspects: HashSet<AlertId>) -> Result<usize, StoreError> {
        let ids: Vec<AlertId> = suspects.into_iter().collect();
        let mut wrong = 0;
        for ids in ids.chunks(CHANGE_BATCH_SIZE as usize) {
            let _backlog = self.backlog.lock().await;
            let reading = self.revision_guard.begin_read();
            let stored = self.store.alerts_by_id(ids).await?;
            let found: HashSet<AlertId> = stored.iter().map(|stored| stored.alert.id).collect();
            for stored in &stored {
                wrong += usize::from(self.apply_stored(stored.alert.id, Some(&stored.alert), &reading));
            }
            for &id in ids.iter().filter(|id| !found.contains(id)) {
                wrong += usize::from(self.apply_stored(id, None, &reading));
            }
        }
        if wrong > 0 {
            tracing::warn!(wrong, "the engine had missed changes of alerts; they have been applied");
            metrics::counter!("bellwether_engine_corrections_total")
                .increment(u64::try_from(wrong).unwrap_or(u64::MAX));
        }
        Ok(wrong)
    }

    /// Applies an alert's stored state if the engine has another one. Returns whether it was applied.
    fn apply_stored(&self, id: AlertId, stored: Option<&Alert>, reading: &ReadGuard<'_>) -> bool {
        let revision = self.read(|engine| engine.revision(id));
        let wanted = stored
            .filter(|alert| alert.status == Status::Active && self.holds(alert.symbol))
            .map(|alert| alert.revision);
        if revision == wanted {
            return false;
        }
        match stored {
            Some(alert) => self.apply_read(alert, reading),
            None => {
                self.forget_alert(id);
                true
            }
        }
    }
}
