//! Changes an alert: update, pause, activation.

use alerts::request::{ParseContext, changes_nothing, parse_update, without_snooze};
use alerts::transition::{self, OwnerVerification, PriceAvailability, Transition};
use alerts::{AlertId, ConditionKind, Status};
use foundation::plan_limits;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use store::model::{Account, StoredAlert};
use store::{Abort, UnitOfWork};

use super::{AlertDetail, duplicates, no_such_alert};
use crate::alerts::Alerts;
use foundation::account::require_active;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl Alerts {
    /// Applies an update request.
    ///
    /// # Errors
    /// As [`Self::create_alert`]; [`ServiceError::NotFound`] if the actor does not have the alert;
    /// [`ServiceError::Conflict`] if another alert of the actor equals the changed one.
    pub async fn update_alert(&self, actor: &Actor, id: AlertId, body: &Value) -> Result<AlertDetail, ServiceError> {
        self.apply_update(actor, id, body, false).await
    }

    /// Applies a patch request: an update that may have the member `snooze`.
    ///
    /// # Errors
    /// As [`Self::update_alert`].
    pub async fn patch_alert(&self, actor: &Actor, id: AlertId, body: &Value) -> Result<AlertDetail, ServiceError> {
        self.apply_update(actor, id, body, true).await
    }

    async fn apply_update(
        &self,
        actor: &Actor,
        id: AlertId,
        body: &Value,
        is_patch: bool,
    ) -> Result<AlertDetail, ServiceError> {
        let found = self.ports.store.alert(actor.account, id).await?;
        let alert = found.ok_or_else(no_such_alert)?.alert;
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
        let change = RequestedChange::Update {
            body: body.clone(),
            is_patch,
            time_zone: actor.time_zone.clone(),
            price,
        };
        self.change_alert(actor, id, change).await
    }

    /// Pauses an alert.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] if the alert is not active.
    pub async fn pause_alert(&self, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
        let detail = self.change_alert(actor, id, RequestedChange::Pause).await?;
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
        let found = self.ports.store.alert(actor.account, id).await?;
        let alert = found.ok_or_else(no_such_alert)?.alert;
        let price = match alert.status {
            // The alert keeps its price.
            Status::Active => PriceAvailability::Unknown,
            Status::Inactive | Status::Paused | Status::Triggered => self.prices.start_price(alert.symbol).await,
        };
        self.change_alert(actor, id, RequestedChange::Activate { price }).await
    }

    async fn change_alert(
        &self,
        actor: &Actor,
        id: AlertId,
        change: RequestedChange,
    ) -> Result<AlertDetail, ServiceError> {
        let alerts = self.clone();
        let work = ChangeAlert {
            alerts: alerts.clone(),
            account: actor.account,
            id,
            change,
            now: self.ports.clock.now(),
        };
        let done = self
            .ports
            .transaction_then(
                work,
                |work, unit| Box::pin(work.run(unit)),
                move |done| {
                    if done.changes_evaluation {
                        alerts.evaluator.apply_change(&done.stored.alert);
                        alerts.initial_prices.note(&done.stored.alert);
                    }
                },
            )
            .await?;
        Ok(self.detail(done.stored))
    }
}

/// A requested change of an alert.
enum RequestedChange {
    Update {
        body: Value,
        /// Whether the body may have the member `snooze`.
        is_patch: bool,
        time_zone: TimeZone,
        /// The start price for an active alert that has none.
        price: PriceAvailability,
    },
    Pause,
    Activate {
        /// The start price.
        price: PriceAvailability,
    },
}

struct ChangeAlert {
    alerts: Alerts,
    account: AccountId,
    id: AlertId,
    change: RequestedChange,
    now: Timestamp,
}

struct ChangeResult {
    stored: StoredAlert,
    /// Whether the engine must know the change. It does not know notes and tags.
    changes_evaluation: bool,
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
            RequestedChange::Update {
                body,
                is_patch,
                time_zone,
                price,
            } => {
                let context = ParseContext {
                    now: self.now,
                    time_zone,
                    calendar: &self.alerts.settings.calendar,
                };
                let body = if *is_patch {
                    &without_snooze(alert, body, &context).map_err(ServiceError::from)?
                } else {
                    body
                };
                let change = parse_update(alert, body, &context).map_err(ServiceError::from)?;
                if changes_nothing(body) {
                    return Ok(Transition::Unchanged);
                }
                if change.rearms {
                    plan_limits::check(account, &change.condition, change.notification)?;
                    duplicates::check(unit, stored, &change).await?;
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

    async fn run(&self, unit: &mut UnitOfWork) -> Result<ChangeResult, Abort<ServiceError>> {
        let account = unit.lock_account(self.account).await?;
        let account = account.ok_or_else(no_such_alert)?;
        let stored = unit.lock_alert(self.account, self.id).await?;
        let stored = stored.ok_or_else(no_such_alert)?;
        let changed = match self.decide(unit, &account, &stored).await? {
            Transition::Unchanged => {
                return Ok(ChangeResult {
                    stored,
                    changes_evaluation: false,
                });
            }
            Transition::Changed(changed) => changed,
        };
        if !unit.update_alert(&changed, &stored.alert, self.now, None).await? {
            // It was read under its lock, so this is not expected.
            let message = "another request changed this alert at the same time; try again";
            return Err(Abort::Refused(ServiceError::Conflict(message.to_owned())));
        }
        let changes_evaluation = changed.alert.revision != stored.alert.revision;
        let stored = StoredAlert {
            alert: changed.alert,
            ..stored
        };
        Ok(ChangeResult {
            stored,
            changes_evaluation,
        })
    }
}
