//! Finds differences between the engine and the database.
//!
//! Normally there are none: every change is applied after its commit, and changes of other processes are [followed](super::follow).
//! Periodically all revisions are compared, so that a missed change is found.

use std::collections::HashSet;

use ::alerts::{Alert, AlertId, Revision, Status};
use store::StoreError;

use super::Evaluator;
use super::revision_guard::ReadGuard;

/// The number of alerts that one query reads.
const ALERT_BATCH_SIZE: usize = 1_000;

impl Evaluator {
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

    /// Checks the differences again. Most are changes in progress; only differences that persist are corrected.
    async fn recheck(&self, suspects: HashSet<AlertId>) -> Result<usize, StoreError> {
        let ids: Vec<AlertId> = suspects.into_iter().collect();
        let mut wrong = 0;
        for ids in ids.chunks(ALERT_BATCH_SIZE) {
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
    pub(super) fn apply_stored(&self, id: AlertId, stored: Option<&Alert>, reading: &ReadGuard<'_>) -> bool {
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
