//! Changes many alerts at once, and undoes such a change.

use alerts::plan;
use alerts::{AlertId, Status};
use foundation::{Actor, ServiceError};
use futures_util::stream::{self, StreamExt};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use store::model::{AccountId, RestoredAlert, ScopeRole, UndoId, UndoableChange};
use store::{Abort, UnitOfWork};

use super::duplicates;
use crate::alerts::Alerts;

/// How long a change can be undone.
pub(crate) const UNDO_LIFETIME: SignedDuration = SignedDuration::from_mins(10);

/// The number of recent changes that are offered to be undone.
const MAX_RECENT_CHANGES: u32 = 10;

/// The number of alerts that are changed at the same time. Their transactions share commits.
const CONCURRENT_CHANGES: usize = 64;

/// A change of many alerts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkChange {
    /// Pauses active alerts.
    Pause,
    /// Activates alerts with new initial prices, and ends the snoozes of active ones.
    Activate,
    /// Keeps active alerts from firing for some time.
    Snooze(SnoozeDuration),
    /// Deletes alerts.
    Delete,
}

/// How long alerts are snoozed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SnoozeDuration {
    /// For an hour.
    Hour,
    /// For a day.
    Day,
    /// For a week.
    Week,
}

impl SnoozeDuration {
    /// All durations.
    pub const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    /// Returns the duration as the API reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::Day => "1d",
            Self::Week => "7d",
        }
    }
}

/// The result of a change of many alerts.
#[derive(Debug)]
pub struct BulkResult {
    /// The number of changed alerts.
    pub changed: usize,
    /// The number of alerts that already had the requested state.
    pub unchanged: usize,
    /// The errors of the other alerts, in the order of the request.
    pub refused: Vec<ServiceError>,
    /// The end of the snooze, if the alerts are snoozed.
    pub snoozed_until: Option<Timestamp>,
    /// The id by which the change can be undone within ten minutes; `None` if nothing has changed.
    pub undo: Option<UndoId>,
}

/// The result of undoing a change.
#[derive(Clone, PartialEq, Debug)]
pub struct UndoResult {
    /// The number of alerts that have their former state again. Those that have changed since, for instance because they fired, keep
    /// their present state.
    pub restored: usize,
}

impl Alerts {
    /// Changes alerts of an account. An alert that cannot be changed does not keep others from being changed.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the result cannot be read.
    pub async fn change_many(
        &self,
        actor: &Actor,
        alerts: &[AlertId],
        change: BulkChange,
    ) -> Result<BulkResult, ServiceError> {
        let undo = UndoId(self.ports.random.uuid());
        let changes = alerts
            .iter()
            .copied()
            .map(|id| self.change_one(actor, id, change, undo));
        let results: Vec<_> = stream::iter(changes).buffered(CONCURRENT_CHANGES).collect().await;
        let snoozed_until = results.iter().flatten().find_map(|until| *until);
        let refused: Vec<_> = results.into_iter().filter_map(Result::err).collect();
        let accepted = alerts.len() - refused.len();
        let changed = self.ports.store.count_changed(undo, actor.account).await?;
        let changed = usize::try_from(changed).unwrap_or(accepted).min(accepted);
        Ok(BulkResult {
            changed,
            unchanged: accepted - changed,
            refused,
            snoozed_until,
            undo: (changed > 0).then_some(undo),
        })
    }

    /// Changes one of the alerts. Returns the end of its snooze if the change snoozes it.
    async fn change_one(
        &self,
        actor: &Actor,
        id: AlertId,
        change: BulkChange,
        undo: UndoId,
    ) -> Result<Option<Timestamp>, ServiceError> {
        let snooze = |until: Value| self.snooze(actor, id, until, undo);
        match change {
            BulkChange::Pause => drop(self.pause(actor, id, Some(undo)).await?),
            BulkChange::Activate => {
                let alert = self.alert(actor, id).await?.stored.alert;
                let is_snoozed = alert
                    .options
                    .snoozed_until
                    .is_some_and(|end| self.ports.clock.now() < end);
                match (alert.status, is_snoozed) {
                    (Status::Active, true) => drop(snooze(Value::Null).await?),
                    _ => drop(self.activate(actor, id, Some(undo)).await?),
                }
            }
            BulkChange::Snooze(duration) => {
                let status = self.alert(actor, id).await?.stored.alert.status;
                if status != Status::Active {
                    let status = status.name();
                    let message =
                        format!("only an active alert can be snoozed, and this one is {status}; resume it first");
                    return Err(ServiceError::Conflict(message));
                }
                return snooze(duration.name().into()).await;
            }
            BulkChange::Delete => self.delete(actor, id, Some(undo)).await?,
        }
        Ok(None)
    }

    /// Snoozes an alert, or ends its snooze. Returns the end of the snooze.
    async fn snooze(
        &self,
        actor: &Actor,
        id: AlertId,
        until: Value,
        undo: UndoId,
    ) -> Result<Option<Timestamp>, ServiceError> {
        let body = json!({"snooze": until});
        let changed = self.apply_patch(actor, id, &body, Some(undo)).await?;
        Ok(changed.stored.alert.options.snoozed_until)
    }

    /// Returns the newest changes of many alerts, or of one, that can be undone, newest first.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the changes cannot be read.
    pub async fn recent_changes(&self, actor: &Actor) -> Result<Vec<UndoableChange>, ServiceError> {
        let since = self.undoable_since();
        let changes = self
            .ports
            .store
            .undoable_changes(actor.account, since, MAX_RECENT_CHANGES);
        Ok(changes.await?)
    }

    /// Returns the time of the oldest change that can be undone.
    fn undoable_since(&self) -> Timestamp {
        let now = self.ports.clock.now();
        now.saturating_sub(UNDO_LIFETIME).unwrap_or(Timestamp::MIN)
    }

    /// Restores the alerts of a change to their exact former states, including their initial prices.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] if the plan's quota of active alerts is used up meanwhile; [`ServiceError::Conflict`] if an
    /// equivalent alert was created meanwhile.
    pub async fn undo_change(&self, actor: &Actor, undo: UndoId) -> Result<UndoResult, ServiceError> {
        let now = self.ports.clock.now();
        let since = self.undoable_since();
        let alerts = self.clone();
        let inputs = (actor.account, undo, since, now);
        let restored = self
            .ports
            .transaction_then(
                inputs,
                |&(account, undo, since, now), unit| Box::pin(restore(unit, account, undo, since, now)),
                move |restored| {
                    for alert in restored {
                        alerts.evaluator.apply_change(&alert.stored.alert);
                        alerts.initial_prices.note(&alert.stored.alert);
                    }
                },
            )
            .await?;
        let shown = restored.iter().filter(|alert| !is_member(alert));
        Ok(UndoResult {
            restored: shown.count(),
        })
    }
}

async fn restore(
    unit: &mut UnitOfWork,
    account: AccountId,
    undo: UndoId,
    since: Timestamp,
    now: Timestamp,
) -> Result<Vec<RestoredAlert>, Abort<ServiceError>> {
    // Locked, so that the quota and equivalent alerts stay as they are read.
    let account = unit.lock_account(account).await?;
    let account = account.ok_or(ServiceError::NotFound("account"))?;
    if let Some(other) = unit.name_taken_since(undo, account.id).await? {
        return Err(Abort::Refused(super::name_taken(&other)));
    }
    let restored = unit.restore_states(undo, account.id, since, now).await?;
    for managed_by in restored.iter().filter_map(|alert| alert.stored.managed_by.as_ref()) {
        unit.raise_source_revision(account.id, managed_by.source()).await?;
    }
    for alert in restored.iter().filter(|alert| alert.was_deleted && !is_member(alert)) {
        duplicates::check_restored(unit, &alert.stored, now).await?;
    }
    if account.plan.active_alert_quota().is_some() && restored.iter().any(is_active) {
        let others = unit.count_active_alerts(account.id).await?.saturating_sub(1);
        plan::check_active_quota(account.plan, others).map_err(ServiceError::from)?;
    }
    Ok(restored)
}

fn is_active(restored: &RestoredAlert) -> bool {
    restored.stored.alert.status == Status::Active
}

fn is_member(restored: &RestoredAlert) -> bool {
    matches!(restored.stored.role, ScopeRole::Member(_))
}
