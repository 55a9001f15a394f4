//! Looks for differences between the engine and the database.
//!
//! Normally there are none: every change is told after its commit. What other processes changed in a shared database is
//! followed every second or so; and once in a while all revisions are compared, so that nothing that slipped through
//! can stay unnoticed.

use std::collections::HashSet;

use ::alerts::AlertId;
use store::StoreError;

use super::Evaluator;
use super::telling::Reading;

/// How many changes are fetched at once.
const CHANGES_AT_ONCE: u32 = 1_000;

impl Evaluator {
    /// Begins to follow what other processes change, from what is there now.
    pub(super) async fn follow_from_here(&self) -> Result<(), StoreError> {
        let place = self.store.history_position().await?;
        self.place.store(place, std::sync::atomic::Ordering::Release);
        Ok(())
    }

    /// Tells the engine what other processes have changed since the last time.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(super) async fn follow(&self) -> Result<(), StoreError> {
        use std::sync::atomic::Ordering;
        loop {
            let place = self.place.load(Ordering::Acquire);
            let reading = self.telling.reading();
            let (changes, next) = self.store.changed_since(place, CHANGES_AT_ONCE).await?;
            let count = changes.len();
            for (id, stored) in changes {
                self.tell_stored(id, stored.map(|stored| stored.alert).as_ref(), &reading);
            }
            self.place.store(next, Ordering::Release);
            if count < CHANGES_AT_ONCE as usize || next == place {
                return Ok(());
            }
        }
    }

    /// Compares all revisions and tells the engine what it has wrong. Returns how much that was.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) async fn compare(&self) -> Result<usize, StoreError> {
        let mut different = Vec::new();
        let mut active = 0_usize;
        self.store
            .active_revisions(&mut |revisions| {
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
        self.look_again(suspects).await
    }

    async fn armed_but_not_active(&self) -> Result<Vec<AlertId>, StoreError> {
        let mut armed: HashSet<AlertId> = self.read(|engine| engine.armed_ids().collect());
        self.store
            .active_revisions(&mut |revisions| {
                for (id, _) in revisions {
                    armed.remove(&id);
                }
            })
            .await?;
        Ok(armed.into_iter().collect())
    }

    /// Most differences are changes that were under way; only what is different at a second look counts.
    async fn look_again(&self, suspects: HashSet<AlertId>) -> Result<usize, StoreError> {
        let ids: Vec<AlertId> = suspects.into_iter().collect();
        let mut wrong = 0;
        for ids in ids.chunks(CHANGES_AT_ONCE as usize) {
            let _gate = self.gate.lock().await;
            let reading = self.telling.reading();
            let stored = self.store.alerts_by_id(ids).await?;
            let found: HashSet<AlertId> = stored.iter().map(|stored| stored.alert.id).collect();
            for stored in &stored {
                wrong += usize::from(self.tell_stored(stored.alert.id, Some(&stored.alert), &reading));
            }
            for &id in ids.iter().filter(|id| !found.contains(id)) {
                wrong += usize::from(self.tell_stored(id, None, &reading));
            }
        }
        if wrong > 0 {
            tracing::warn!(wrong, "the engine was told of alerts that it had missed");
            metrics::counter!("bellwether_engine_corrections_total")
                .increment(u64::try_from(wrong).unwrap_or(u64::MAX));
        }
        Ok(wrong)
    }

    /// Tells the engine what an alert is in the database, as somebody reads it, if it does not know. Returns whether it did
    /// not.
    fn tell_stored(&self, id: AlertId, stored: Option<&::alerts::Alert>, reading: &Reading<'_>) -> bool {
        let judged = self.read(|engine| engine.revision(id));
        let wanted = stored
            .filter(|alert| alert.status == ::alerts::Status::Active)
            .map(|alert| alert.revision);
        if judged == wanted {
            return false;
        }
        match stored {
            Some(alert) => self.tell_read(alert, reading),
            None => {
                self.forget(id);
                true
            }
        }
    }
}
