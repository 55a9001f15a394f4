//! Changes an alert: update, pause, activation.

use std::sync::Arc;

use alerts::request::{AlertChange, ParseContext, changes_nothing, parse_update, without_snooze};
use alerts::transition::{self, ArmingDetails, OwnerVerification, PriceAvailability, Transition};
use alerts::{Alert, AlertId, ConditionKind, Status};
use foundation::plan_limits;
use foundation::route_check::check_routing;
use foundation::template_check::require_payload_scope;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::Value;
use store::model::{Account, StoredAlert, UndoId};
use store::{Abort, UnitOfWork};

use super::scoped::read_scope;
use super::{AlertDetail, duplicates, no_such_alert};
use crate::alerts::Alerts;
use foundation::account::require_active;
use foundation::scope_members::MemberChanges;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl Alerts {
    /// Applies an update request.
    ///
    /// # Errors
    /// As [`Self::create_alert`]; [`ServiceError::NotFound`] if the actor does not have the alert;
    /// [`ServiceError::Conflict`] if another alert of the actor equals the changed one.
    pub async fn update_alert(&self, actor: &Actor, id: AlertId, body: &Value) -> Result<AlertDetail, ServiceError> {
        let work = self.prepare_update(actor, id, body, false, None).await?;
        self.run_change(actor, work).await
    }

    /// Applies a patch request: an update that may have the member `snooze`.
    ///
    /// # Errors
    /// As [`Self::update_alert`].
    pub async fn patch_alert(&self, actor: &Actor, id: AlertId, body: &Value) -> Result<AlertDetail, ServiceError> {
        self.apply_patch(actor, id, body, None).await
    }

    /// Applies a patch request that can be undone with an `undo` id.
    pub(super) async fn apply_patch(
        &self,
        actor: &Actor,
        id: AlertId,
        body: &Value,
        undo: Option<UndoId>,
    ) -> Result<AlertDetail, ServiceError> {
        let work = self.prepare_update(actor, id, body, true, undo).await?;
        self.run_change(actor, work).await
    }

    /// Reads an update request, and collects what its transaction needs.
    pub(super) async fn prepare_update(
        &self,
        actor: &Actor,
        id: AlertId,
        body: &Value,
        is_patch: bool,
        undo: Option<UndoId>,
    ) -> Result<ChangeAlert, ServiceError> {
        require_payload_scope(actor, body)?;
        let found = self.ports.store.alert(actor.account, id).await?;
        let stored = found.ok_or_else(no_such_alert)?;
        if let Some(sent) = body
            .get("scope")
            .filter(|_| stored.scope().is_some())
            .filter(|sent| !sent.is_null())
        {
            self.require_scope_stocks(sent, &read_scope(sent)?).await?;
        }
        let alert = stored.alert;
        let condition = body["condition"].as_str().unwrap_or(alert.condition.kind().name());
        if condition == ConditionKind::Expression.name() {
            self.require_named_stocks(body, alert.symbol).await?;
        }
        let needs_price = alert.status == Status::Active && alert.initial_price.is_none();
        let price = if needs_price {
            self.prices.start_price(alert.symbol).await
        } else {
            PriceAvailability::Unknown
        };
        let request = UpdateRequest {
            body: body.clone(),
            is_patch,
            time_zone: actor.time_zone.clone(),
        };
        Ok(self.prepare_change(actor, id, RequestedChange::Update { request, price }, undo))
    }

    /// Pauses an alert.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] if the alert is not active.
    pub async fn pause_alert(&self, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
        self.pause(actor, id, None).await
    }

    /// Pauses an alert so that it can be undone with an `undo` id.
    pub(super) async fn pause(
        &self,
        actor: &Actor,
        id: AlertId,
        undo: Option<UndoId>,
    ) -> Result<AlertDetail, ServiceError> {
        let work = self.prepare_change(actor, id, RequestedChange::Pause, undo);
        let detail = self.run_change(actor, work).await?;
        let now = self.ports.clock.now();
        // Its owner may activate it again soon.
        self.interest.renew(detail.stored.alert.symbol, now);
        Ok(detail)
    }

    /// Activates an alert with a new initial price.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Forbidden`] if the plan's quota of active alerts is used up;
    /// [`ServiceError::Unavailable`] if no price is known, or only an old one and the condition is a percentage.
    pub async fn activate_alert(&self, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
        self.activate(actor, id, None).await
    }

    /// Activates an alert so that it can be undone with an `undo` id.
    pub(super) async fn activate(
        &self,
        actor: &Actor,
        id: AlertId,
        undo: Option<UndoId>,
    ) -> Result<AlertDetail, ServiceError> {
        let found = self.ports.store.alert(actor.account, id).await?;
        let alert = found.ok_or_else(no_such_alert)?.alert;
        let price = match alert.status {
            // The alert keeps its price.
            Status::Active => PriceAvailability::Unknown,
            Status::Inactive | Status::Paused | Status::Triggered => self.prices.start_price(alert.symbol).await,
        };
        let work = self.prepare_change(actor, id, RequestedChange::Activate { price }, undo);
        self.run_change(actor, work).await
    }

    fn prepare_change(&self, actor: &Actor, id: AlertId, change: RequestedChange, undo: Option<UndoId>) -> ChangeAlert {
        ChangeAlert {
            alerts: Arc::new(self.clone()),
            account: actor.account,
            id,
            change,
            undo,
            now: self.ports.clock.now(),
        }
    }

    async fn run_change(&self, actor: &Actor, work: ChangeAlert) -> Result<AlertDetail, ServiceError> {
        let alerts = Arc::clone(&work.alerts);
        let done = self
            .ports
            .transaction_then(
                work,
                |work, unit| Box::pin(work.run(unit)),
                move |done| {
                    alerts.apply_changes(&done.changes);
                },
            )
            .await?;
        self.shown(actor, done.stored).await
    }

    /// Tells the engine of committed changes.
    pub(super) fn apply_changes(&self, changes: &MemberChanges) {
        for alert in &changes.changed {
            self.evaluator.apply_change(alert);
            self.initial_prices.note(alert);
        }
        for id in &changes.removed {
            self.evaluator.remove_alert(*id);
        }
    }
}

/// An update as it was requested.
pub(super) struct UpdateRequest {
    pub(super) body: Value,
    /// Whether the body may have the member `snooze`.
    is_patch: bool,
    time_zone: TimeZone,
}

/// A requested change of an alert.
pub(super) enum RequestedChange {
    Update {
        request: UpdateRequest,
        /// The start price for an active alert that has none.
        price: PriceAvailability,
    },
    Pause,
    Activate {
        /// The start price.
        price: PriceAvailability,
    },
}

pub(super) struct ChangeAlert {
    /// Shared: the futures around the transaction move this value.
    pub(super) alerts: Arc<Alerts>,
    pub(super) account: AccountId,
    pub(super) id: AlertId,
    pub(super) change: RequestedChange,
    /// The id by which the change can be undone.
    undo: Option<UndoId>,
    pub(super) now: Timestamp,
}

pub(super) struct ChangeResult {
    pub(super) stored: StoredAlert,
    /// Whether anything was written.
    pub(super) is_changed: bool,
    /// The changes that the engine must know. It does not know notes and tags.
    pub(super) changes: MemberChanges,
}

impl ChangeResult {
    pub(super) fn unchanged(stored: StoredAlert) -> Self {
        Self {
            stored,
            is_changed: false,
            changes: MemberChanges::default(),
        }
    }
}

impl UpdateRequest {
    /// Reads the request for an alert. Returns the body in the form without `snooze`, and what it changes.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`]
    pub(super) fn read(
        &self,
        alert: &Alert,
        now: Timestamp,
        calendar: &Calendar,
    ) -> Result<(Value, AlertChange), ServiceError> {
        let context = ParseContext {
            now,
            time_zone: &self.time_zone,
            calendar,
        };
        let body = match self.is_patch {
            true => without_snooze(alert, &self.body, &context)?,
            false => self.body.clone(),
        };
        let change = parse_update(alert, &body, &context)?;
        Ok((body, change))
    }
}

impl ChangeAlert {
    /// Decides the transition. The account is locked, so its plan is the present one.
    async fn decide(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
        stored: &StoredAlert,
    ) -> Result<Transition, Abort<ServiceError>> {
        let alert = &stored.alert;
        // A deactivated account may pause its alerts.
        if !matches!(self.change, RequestedChange::Pause) {
            require_active(account)?;
        }
        let transition = match &self.change {
            RequestedChange::Update { request, price } => {
                let (body, change) = request.read(alert, self.now, &self.alerts.settings.calendar)?;
                if body.get("scope").is_some_and(|scope| !scope.is_null()) {
                    let message =
                        "cannot be given to an alert on one stock; create an alert with scope, and delete this one";
                    return Err(Abort::Refused(ServiceError::field("scope", message)));
                }
                if changes_nothing(&body) {
                    return Ok(Transition::Unchanged);
                }
                check_routing(unit, account.id, &change.routing, &alert.routing).await?;
                if change.rearms {
                    plan_limits::check(account, &change.condition, change.notification)?;
                    // A managed alert is known by its name, and may equal one that a person made.
                    if change.managed_by.as_ref().unwrap_or(&stored.managed_by).is_none() {
                        duplicates::check(unit, stored, &change, self.now).await?;
                    }
                }
                transition::update(alert, change, *price, self.now)
            }
            RequestedChange::Pause => transition::pause(alert),
            RequestedChange::Activate { price } => {
                transition::activate(alert, OwnerVerification::Verified, *price, self.now)
            }
        };
        let transition = transition.map_err(ServiceError::from)?;
        if matches!(
            (&self.change, &transition),
            (RequestedChange::Activate { .. }, Transition::Changed(_))
        ) {
            plan_limits::check(account, &alert.condition, alert.notification)?;
            plan_limits::check_active_alert_quota(unit, account).await?;
        }
        Ok(transition)
    }

    pub(super) async fn run(&self, unit: &mut UnitOfWork) -> Result<ChangeResult, Abort<ServiceError>> {
        let account = unit.lock_account(self.account).await?;
        let account = account.ok_or_else(no_such_alert)?;
        let stored = unit.lock_alert(self.account, self.id).await?;
        let stored = stored.ok_or_else(no_such_alert)?;
        if let Some(undo) = self.undo {
            unit.keep_state(undo, self.account, self.id, self.now).await?;
        }
        let before = stored.managed_by.clone();
        let mut result = match stored.scope() {
            Some(_) => self.run_scoped(unit, &account, stored).await?,
            None => self.run_single(unit, &account, stored).await?,
        };
        if let RequestedChange::Update { request, .. } = &self.change {
            self.rename(unit, request, &mut result).await?;
            self.raise_source_revisions(unit, before.as_ref(), &result).await?;
        }
        if let Some(undo) = self.undo {
            // Otherwise the next change of an unchanged alert would count as this one.
            unit.forget_unchanged(undo, self.id).await?;
        }
        Ok(result)
    }

    async fn run_single(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
        stored: StoredAlert,
    ) -> Result<ChangeResult, Abort<ServiceError>> {
        let changed = match self.decide(unit, account, &stored).await? {
            Transition::Unchanged => {
                return Ok(ChangeResult::unchanged(stored));
            }
            Transition::Changed(changed) => changed,
        };
        let details = ArmingDetails::of(&changed.alert, Some(&stored.alert), self.now).to_json();
        let written = unit.update_alert(&changed, &stored.alert, self.now, details.as_ref());
        if !written.await? {
            // It was read under its lock, so this is not expected.
            let message = "another request changed this alert at the same time; try again";
            return Err(Abort::Refused(ServiceError::Conflict(message.to_owned())));
        }
        let changes_evaluation = changed.alert.revision != stored.alert.revision;
        let stored = StoredAlert {
            alert: changed.alert,
            ..stored
        };
        let changed = changes_evaluation.then(|| stored.alert.clone());
        Ok(ChangeResult {
            stored,
            is_changed: true,
            changes: MemberChanges {
                changed: changed.into_iter().collect(),
                removed: Vec::new(),
            },
        })
    }
}
