//! Moves a guest's alert to an account.

use alerts::equivalence::equivalent;
use alerts::plan;
use alerts::transition::{self, ChangedAlert, PriceAvailability, Transition};
use alerts::{Alert, AlertId, Status};
use jiff::Timestamp;
use serde_json::{Map, Value};
use store::model::{Account, AlertOwner, StoredAlert};
use store::{Abort, UnitOfWork};

use super::{VERIFY_PURPOSE, address, as_new_alert, payload};
use crate::alerts::{AlertDetail, GuestAlerts, no_such_alert};
use foundation::account::lock_active_account;
use foundation::plan_limits;
use foundation::request;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

request! {
    /// The guest alert to attach.
    AttachAlertRequest as "AttachAlert" {
        /// Alert id.
        alert_id: AlertId,
    }
}

impl GuestAlerts {
    /// Moves a guest's alert to the actor's account: `{alert_id}`. The guest's email address must be the account's
    /// confirmed address. An unverified alert becomes active. An alert that belongs to the account already is
    /// unchanged. If the account has an equivalent alert, that one is returned and the guest's is deleted.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] without an id; [`ServiceError::NotFound`] for any other alert;
    /// [`ServiceError::Forbidden`] if the address is not confirmed or the quota of active alerts is used up;
    /// [`ServiceError::Unavailable`] for a percentage without a price.
    pub async fn attach_guest_alert(&self, actor: &Actor, body: &Value) -> Result<AlertDetail, ServiceError> {
        let id = AttachAlertRequest::read(body)?.alert_id;
        let ports = &self.ports;
        let found = ports.store.alerts_by_id(&[id]).await?.pop();
        // Only an inactive alert needs a price.
        let inactive = found.filter(|found| found.alert.status == Status::Inactive);
        let price = match inactive {
            Some(found) => self.prices.start_price(found.alert.symbol).await,
            None => PriceAvailability::Unknown,
        };
        let guest_alerts = self.clone();
        let work = AttachGuestAlert {
            account: actor.account,
            price,
            id,
            now: ports.clock.now(),
        };
        let stored = match ports
            .transaction_then(
                work,
                |work, unit| Box::pin(work.run(unit)),
                move |done| match done {
                    AttachResult::Unchanged(_) => {}
                    AttachResult::Attached(stored) => {
                        guest_alerts.evaluator.apply_change(&stored.alert);
                        guest_alerts.initial_prices.note(&stored.alert);
                    }
                    AttachResult::Merged(_) => guest_alerts.evaluator.remove_alert(id),
                },
            )
            .await?
        {
            AttachResult::Unchanged(stored) | AttachResult::Attached(stored) | AttachResult::Merged(stored) => stored,
        };
        Ok(self.alerts.detail(stored))
    }
}

struct AttachGuestAlert {
    account: AccountId,
    id: AlertId,
    price: PriceAvailability,
    now: Timestamp,
}

enum AttachResult {
    /// It belonged to the account before.
    Unchanged(StoredAlert),
    Attached(StoredAlert),
    /// The account's equivalent alert.
    Merged(StoredAlert),
}

fn not_confirmed() -> ServiceError {
    ServiceError::Forbidden {
        reason: "email_confirmation",
        required: Some("confirmed_email".to_owned()),
        message:
            "this account's email address is not confirmed; open the link that was sent to it, or sign in with a link \
                  (type magic_link)"
                .to_owned(),
    }
}

impl AttachGuestAlert {
    /// Returns the account's alert that is equivalent to `alert`, unless `alert` has fired.
    async fn find_equivalent(
        &self,
        unit: &mut UnitOfWork,
        alert: &Alert,
    ) -> Result<Option<StoredAlert>, Abort<ServiceError>> {
        if alert.status == Status::Triggered {
            return Ok(None);
        }
        let new_alert = as_new_alert(alert);
        let similar = unit
            .similar_alerts(&AlertOwner::Account(self.account), &new_alert)
            .await?;
        Ok(similar
            .into_iter()
            .find(|own| equivalent(&own.alert, &new_alert, self.now)))
    }

    async fn delete(&self, unit: &mut UnitOfWork, alert: &Alert) -> Result<(), Abort<ServiceError>> {
        if unit.delete_alert(alert, self.now).await? {
            Ok(())
        } else {
            Err(Abort::Refused(concurrent_change()))
        }
    }

    /// Decides the transition, within the limits of the plan.
    async fn decide(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
        alert: &Alert,
    ) -> Result<ChangedAlert, Abort<ServiceError>> {
        plan::check_alert_features(account.plan, &alert.condition, alert.notification).map_err(ServiceError::from)?;
        let changed = match transition::attach(alert, self.price, self.now).map_err(ServiceError::from)? {
            Transition::Changed(changed) => changed,
            Transition::Unchanged => return Err(Abort::Refused(concurrent_change())),
        };
        if changed.alert.status == Status::Active {
            plan_limits::check_active_alert_quota(unit, account).await?;
        }
        Ok(*changed)
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<AttachResult, Abort<ServiceError>> {
        let account = lock_active_account(unit, self.account).await?;
        if let Some(own) = unit.lock_alert(self.account, self.id).await? {
            return Ok(AttachResult::Unchanged(own));
        }
        // An account with somebody else's unconfirmed address must not learn about alerts of that address.
        if !account.is_verified {
            return Err(Abort::Refused(not_confirmed()));
        }
        let found = unit.lock_guest_alert(self.id).await?;
        let stored = found.filter(|stored| address(stored) == account.email);
        let stored = stored.ok_or_else(no_such_alert)?;
        let alert = &stored.alert;
        let equal = self.find_equivalent(unit, alert).await?;
        let done = if let Some(own) = equal {
            self.delete(unit, alert).await?;
            AttachResult::Merged(own)
        } else {
            let changed = self.decide(unit, &account, alert).await?;
            let details = Map::from_iter([("attached".to_owned(), Value::Bool(true))]);
            let is_given = unit.assign_guest_alert(self.id, self.account).await?;
            if !is_given || !unit.update_alert(&changed, alert, self.now, Some(&details)).await? {
                return Err(Abort::Refused(concurrent_change()));
            }
            AttachResult::Attached(StoredAlert {
                alert: changed.alert,
                owner: AlertOwner::Account(self.account),
                created_by: stored.created_by.clone(),
                role: stored.role.clone(),
                managed_by: None,
            })
        };
        // Other links for this alert are of no use any more.
        unit.revoke_codes_with_payload(VERIFY_PURPOSE, &account.email, &payload(self.id), self.now)
            .await?;
        Ok(done)
    }
}

/// It was read under its lock, so this is not expected.
fn concurrent_change() -> ServiceError {
    ServiceError::Conflict("another request changed this alert at the same time; try again".to_owned())
}
