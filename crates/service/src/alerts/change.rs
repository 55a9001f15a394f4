//! Changing an alert: updating, pausing, activating.

use alerts::AlertId;
use alerts::request::{Context, parse_update};
use alerts::transition::{self, Owner as Verification, Transition};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::Price;
use serde_json::Value;
use store::model::{Account, StoredAlert};
use store::{Abort, BoxFuture, Unit, Work};

use super::{AlertDetail, no_such_alert, terms};
use crate::identity::account::must_be_awake;
use crate::{AccountId, Actor, Service, ServiceError};

impl Service {
    /// Takes over what an update request asks for.
    ///
    /// # Errors
    /// As [`Service::create_alert`], and [`ServiceError::NotFound`] for an alert the actor does not have.
    pub async fn update_alert(&self, actor: &Actor, id: AlertId, body: &Value) -> Result<AlertDetail, ServiceError> {
        let how = How::Update {
            body: body.clone(),
            time_zone: actor.time_zone.clone(),
        };
        self.change_alert(actor, id, how).await
    }

    /// Puts an alert aside.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] for one that is not judged anyway.
    pub async fn pause_alert(&self, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
        self.change_alert(actor, id, How::Pause).await
    }

    /// Makes an alert active with a new initial price.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], [`ServiceError::Forbidden`] for an alert too many,
    /// [`ServiceError::Unavailable`] without a price.
    pub async fn activate_alert(&self, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
        let found = self.0.ports.store.alert(actor.account, id).await?;
        let symbol = found.ok_or_else(no_such_alert)?.alert.symbol;
        let price = self.0.evaluator.last_price(symbol);
        self.change_alert(actor, id, How::Activate { price }).await
    }

    async fn change_alert(&self, actor: &Actor, id: AlertId, how: How) -> Result<AlertDetail, ServiceError> {
        let work = Change {
            service: self.clone(),
            account: actor.account,
            id,
            how,
            now: self.0.ports.clock.now(),
        };
        let done = self.0.ports.store.write(work).await?;
        Ok(self.detail(done.stored))
    }
}

/// What is to be done with an alert.
enum How {
    Update {
        body: Value,
        time_zone: TimeZone,
    },
    Pause,
    Activate {
        /// The price to begin with.
        price: Option<Price>,
    },
}

struct Change {
    service: Service,
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
        unit: &mut Unit,
        account: &Account,
        stored: &StoredAlert,
    ) -> Result<Transition, Abort<ServiceError>> {
        let alert = &stored.alert;
        // What is put aside goes nowhere.
        if !matches!(self.how, How::Pause) {
            must_be_awake(account).map_err(Abort::Refused)?;
        }
        let transition = match &self.how {
            How::Update { body, time_zone } => {
                let context = Context {
                    now: self.now,
                    time_zone,
                    calendar: &self.service.0.settings.calendar,
                };
                let change = parse_update(alert, body, &context).map_err(refused)?;
                terms::check(account, change.condition.kind(), change.notification).map_err(Abort::Refused)?;
                transition::update(alert, change, self.now)
            }
            How::Pause => transition::pause(alert),
            How::Activate { price } => transition::activate(alert, Verification::Verified, *price, self.now),
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

impl Work for Change {
    type Done = Done;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<Done, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = unit.lock_account(self.account).await?;
            let account = account.ok_or_else(|| refused(no_such_alert()))?;
            let stored = unit.alert_to_change(self.account, self.id).await?;
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
            self.service.0.evaluator.tell(&done.stored.alert);
        }
    }
}
