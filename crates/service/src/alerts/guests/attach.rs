//! An account takes over what its owner asked for as a guest.

use alerts::equivalence::equivalent;
use alerts::plan;
use alerts::transition::{self, ChangedAlert, PriceAvailability, Transition};
use alerts::{Alert, AlertId, Status};
use jiff::Timestamp;
use serde_json::{Map, Value};
use store::model::{Account, AlertOwner, StoredAlert};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use uuid::Uuid;

use super::{PURPOSE, address, as_asked, payload};
use crate::alerts::{AlertDetail, GuestAlerts, no_such_alert, terms};
use crate::body::Members;
use crate::identity::account::awake;
use crate::{AccountId, Actor, ServiceError};

impl GuestAlerts {
    /// Gives a guest's alert to the actor's account: `{alert_id}`. The guest's address has to be the account's, and the
    /// account's owner to have shown that it is theirs. An alert that was not verified is active then. Once it is the
    /// account's, it stays as it is; and if the account has an equivalent one, that is answered and the guest's deleted.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] without an id, [`ServiceError::NotFound`] for any other alert than those,
    /// [`ServiceError::Forbidden`] for an address that was not confirmed and for an active alert too many,
    /// [`ServiceError::Unavailable`] for a percentage without a price.
    pub async fn attach_guest_alert(&self, actor: &Actor, body: &Value) -> Result<AlertDetail, ServiceError> {
        let mut members = Members::of(body)?;
        let id = members.required("alert_id").and_then(|id| Uuid::parse_str(id).ok());
        if id.is_none() && members.value("alert_id").is_some_and(Value::is_string) {
            members.fault("alert_id", "must be the id of an alert, a UUID");
        }
        members.finish()?;
        let id = AlertId(id.unwrap_or_default());
        let ports = &self.ports;
        let found = ports.store.alerts_by_id(&[id]).await?.pop();
        // Any other than an inactive one stays as it is.
        let inactive = found.filter(|found| found.alert.status == Status::Inactive);
        let price = match inactive {
            Some(found) => self.prices.start_price(found.alert.symbol).await,
            None => PriceAvailability::Unknown,
        };
        let work = Attach {
            guest_alerts: self.clone(),
            account: actor.account,
            price,
            id,
            now: ports.clock.now(),
        };
        let stored = match ports.store.write(work).await? {
            Done::Unchanged(stored) | Done::Attached(stored) | Done::Merged(stored) => stored,
        };
        Ok(self.alerts.detail(stored))
    }
}

struct Attach {
    guest_alerts: GuestAlerts,
    account: AccountId,
    id: AlertId,
    price: PriceAvailability,
    now: Timestamp,
}

enum Done {
    /// It was the account's before.
    Unchanged(StoredAlert),
    Attached(StoredAlert),
    /// The account has this one, which does the same.
    Merged(StoredAlert),
}

fn refused(refusal: impl Into<ServiceError>) -> Abort<ServiceError> {
    Abort::Refused(refusal.into())
}

fn not_confirmed() -> ServiceError {
    ServiceError::Forbidden {
        reason: "email_confirmation",
        required: Some("confirmed_email".to_owned()),
        message:
            "the address of this account is not confirmed; open the link that was mailed to it, or sign in by a link \
                  (type magic_link)"
                .to_owned(),
    }
}

impl Attach {
    /// What the account has already that does the same as an alert that can fire yet.
    async fn equal(&self, unit: &mut UnitOfWork, alert: &Alert) -> Result<Option<StoredAlert>, Abort<ServiceError>> {
        if alert.status == Status::Triggered {
            return Ok(None);
        }
        let asked = as_asked(alert);
        let similar = unit.similar_alerts(&AlertOwner::Account(self.account), &asked).await?;
        Ok(similar.into_iter().find(|own| equivalent(&own.alert, &asked)))
    }

    async fn delete(&self, unit: &mut UnitOfWork, alert: &Alert) -> Result<(), Abort<ServiceError>> {
        if unit.delete_alert(alert, self.now).await? {
            Ok(())
        } else {
            Err(refused(at_the_same_moment()))
        }
    }

    /// What becomes of it, if the plan has room for it.
    async fn decide(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
        alert: &Alert,
    ) -> Result<ChangedAlert, Abort<ServiceError>> {
        plan::check_alert_features(account.plan, alert.condition.kind(), alert.notification).map_err(refused)?;
        let changed = match transition::attach(alert, self.price, self.now).map_err(refused)? {
            Transition::Changed(changed) => changed,
            Transition::Unchanged => return Err(refused(at_the_same_moment())),
        };
        if changed.alert.status == Status::Active {
            terms::require_room(unit, account).await?;
        }
        Ok(*changed)
    }
}

/// It was read under its lock, so this is not to be expected.
fn at_the_same_moment() -> ServiceError {
    ServiceError::Conflict("this alert was changed at the same moment; try again".to_owned())
}

impl Transaction for Attach {
    type Output = Done;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Done, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = awake(unit, self.account).await?;
            if let Some(own) = unit.lock_alert(self.account, self.id).await? {
                return Ok(Done::Unchanged(own));
            }
            // Whoever registered with somebody else's address is not told what there is under it.
            if !account.is_verified {
                return Err(refused(not_confirmed()));
            }
            let found = unit.lock_guest_alert(self.id).await?;
            let stored = found.filter(|stored| address(stored) == account.email);
            let stored = stored.ok_or_else(|| refused(no_such_alert()))?;
            let alert = &stored.alert;
            let equal = self.equal(unit, alert).await?;
            let done = if let Some(own) = equal {
                self.delete(unit, alert).await?;
                Done::Merged(own)
            } else {
                let changed = self.decide(unit, &account, alert).await?;
                let details = Map::from_iter([("attached".to_owned(), Value::Bool(true))]);
                let is_given = unit.assign_guest_alert(self.id, self.account).await?;
                if !is_given
                    || !unit
                        .update_alert(&changed, alert.revision, self.now, Some(&details))
                        .await?
                {
                    return Err(refused(at_the_same_moment()));
                }
                Done::Attached(StoredAlert {
                    alert: changed.alert,
                    owner: AlertOwner::Account(self.account),
                    created_by: stored.created_by.clone(),
                })
            };
            // What was mailed for it is of no use any more.
            unit.revoke_codes_with_payload(PURPOSE, &account.email, &payload(self.id), self.now)
                .await?;
            Ok(done)
        })
    }

    fn committed(&self, done: &Done) {
        match done {
            Done::Unchanged(_) => {}
            Done::Attached(stored) => {
                self.guest_alerts.evaluator.tell(&stored.alert);
                self.guest_alerts.initial_prices.note(&stored.alert);
            }
            Done::Merged(_) => self.guest_alerts.evaluator.forget(self.id),
        }
    }
}
