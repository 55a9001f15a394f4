//! Changing an alert: updating, pausing, activating.

use alerts::request::{ParseContext, changes_nothing, parse_update};
use alerts::transition::{self, OwnerVerification, PriceAvailability, Transition};
use alerts::{AlertId, Status};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use store::model::{Account, StoredAlert};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{AlertDetail, no_such_alert, repeat, terms};
use crate::alerts::Alerts;
use crate::identity::account::must_be_awake;
use crate::{AccountId, Actor, ServiceError};

impl Alerts {
    /// Takes over what an update request asks for.
    ///
    /// # Errors
    /// As [`Service::create_alert`], [`ServiceError::NotFound`] for an alert the actor does not have, and
    /// [`ServiceError::Conflict`] if another alert of the actor equals the changed one.
    pub async fn update_alert(&self, actor: &Actor, id: AlertId, body: &Value) -> Result<AlertDetail, ServiceError> {
        let found = self.ports.store.alert(actor.account, id).await?;
        let alert = found.ok_or_else(no_such_alert)?.alert;
        let needs_price = alert.status == Status::Active && alert.initial_price.is_none();
        let price = if needs_price {
            self.prices.start_price(alert.symbol).await
        } else {
            PriceAvailability::Unknown
        };
        let how = How::Update {
            body: body.clone(),
            time_zone: actor.time_zone.clone(),
            price,
        };
        self.change_alert(actor, id, how).await
    }

    /// Puts an alert aside.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] for one that is not judged anyway.
    pub async fn pause_alert(&self, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
        let detail = self.change_alert(actor, id, How::Pause).await?;
        let now = self.ports.clock.now();
        // Its owner may make it active again soon.
        self.interest.renew(detail.stored.alert.symbol, now);
        Ok(detail)
    }

    /// Makes an alert active with a new initial price.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], [`ServiceError::Forbidden`] for an alert too many,
    /// [`ServiceError::Unavailable`] if no price is known, or only an old one and the condition is a percentage.
    pub async fn activate_alert(&self, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
        let found = self.ports.store.alert(actor.account, id).await?;
        let alert = found.ok_or_else(no_such_alert)?.alert;
        let price = match alert.status {
            // It stays as it is.
            Status::Active => PriceAvailability::Unknown,
            Status::Inactive | Status::Paused | Status::Triggered => self.prices.start_price(alert.symbol).await,
        };
        self.change_alert(actor, id, How::Activate { price }).await
    }

    async fn change_alert(&self, actor: &Actor, id: AlertId, how: How) -> Result<AlertDetail, ServiceError> {
        let work = Change {
            alerts: self.clone(),
            account: actor.account,
            id,
            how,
            now: self.ports.clock.now(),
        };
        let done = self.ports.store.write(work).await?;
        Ok(self.detail(done.stored))
    }
}

/// What is to be done with an alert.
enum How {
    Update {
        body: Value,
        time_zone: TimeZone,
        /// The price for an active alert that has none.
        price: PriceAvailability,
    },
    Pause,
    Activate {
        /// The price to begin with.
        price: PriceAvailability,
    },
}

struct Change {
    alerts: Alerts,
    account: AccountId,
    id: AlertId,
    how: How,
    now: Timestamp,
}

struct Done {
    stored: StoredAlert,
    has_changed: bool,
}

impl Change {
    /// What becomes of the alert. The account is locked and its plan the present one.
    async fn decide(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
        stored: &StoredAlert,
    ) -> Result<Transition, Abort<ServiceError>> {
        let alert = &stored.alert;
        // What is put aside goes nowhere.
        if !matches!(self.how, How::Pause) {
            must_be_awake(account).map_err(Abort::Refused)?;
        }
        let transition = match &self.how {
            How::Update { body, time_zone, price } => {
                let context = ParseContext {
                    now: self.now,
                    time_zone,
                    calendar: &self.alerts.settings.calendar,
                };
                let change = parse_update(alert, body, &context).map_err(refused)?;
                if changes_nothing(body) {
                    return Ok(Transition::Unchanged);
                }
                terms::check(account, change.condition.kind(), change.notification).map_err(Abort::Refused)?;
                repeat::refuse(unit, stored, &change).await?;
                transition::update(alert, change, *price, self.now)
            }
            How::Pause => transition::pause(alert),
            How::Activate { price } => transition::activate(alert, OwnerVerification::Verified, *price, self.now),
        };
        let transition = transition.map_err(refused)?;
        if matches!((&self.how, &transition), (How::Activate { .. }, Transition::Changed(_))) {
            terms::check(account, alert.condition.kind(), alert.notification).map_err(Abort::Refused)?;
            terms::require_room(unit, account).await?;
        }
        Ok(transition)
    }
}

fn refused(refusal: impl Into<ServiceError>) -> Abort<ServiceError> {
    Abort::Refused(refusal.into())
}

impl Transaction for Change {
    type Output = Done;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Done, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = unit.lock_account(self.account).await?;
            let account = account.ok_or_else(|| refused(no_such_alert()))?;
            let stored = unit.lock_alert(self.account, self.id).await?;
            let stored = stored.ok_or_else(|| refused(no_such_alert()))?;
            let changed = match self.decide(unit, &account, &stored).await? {
                Transition::Unchanged => {
                    return Ok(Done {
                        stored,
                        has_changed: false,
                    });
                }
                Transition::Changed(changed) => changed,
            };
            if !unit
                .update_alert(&changed, stored.alert.revision, self.now, None)
                .await?
            {
                // It was read under its lock, so this is not to be expected.
                let message = "this alert was changed by somebody else at the same moment; try again";
                return Err(refused(ServiceError::Conflict(message.to_owned())));
            }
            let stored = StoredAlert {
                alert: changed.alert,
                ..stored
            };
            Ok(Done {
                stored,
                has_changed: true,
            })
        })
    }

    fn committed(&self, done: &Done) {
        if done.has_changed {
            self.alerts.evaluator.tell(&done.stored.alert);
            self.alerts.initial_prices.note(&done.stored.alert);
        }
    }
}
