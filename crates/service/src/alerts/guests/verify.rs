//! The link of a mail makes a guest's alert active.

use alerts::equivalence::equivalent;
use alerts::plan::{BASIC_MAX_ACTIVE_ALERTS, Plan};
use alerts::transition::{self, ChangedAlert, PriceAvailability, Transition};
use alerts::{Alert, AlertId, Status};
use jiff::Timestamp;
use market::Symbol;
use serde_json::Value;
use store::model::{CodeState, StoredAlert};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use uuid::Uuid;

use super::{PURPOSE, address, as_asked, hash, payload};
use crate::ServiceError;
use crate::alerts::GuestAlerts;
use crate::body::Members;
use crate::identity::secret;

/// A guest's alert that is active now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifiedAlert {
    /// Which one.
    pub id: AlertId,
    /// Its stock.
    pub symbol: Symbol,
    /// What it is: active.
    pub status: Status,
}

impl GuestAlerts {
    /// Makes the alert active that a link was mailed for: `{token}`. It works once, for two days, for that alert.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] without a token, [`ServiceError::NotFound`] for one that never was one,
    /// [`ServiceError::Malformed`] for one that was used or whose time is over; [`ServiceError::Forbidden`] if the guest has
    /// as many active alerts as guests have, [`ServiceError::Unavailable`] for a percentage without a price. After these two
    /// the token is as good as before.
    pub async fn verify_guest_alert(&self, body: &Value) -> Result<VerifiedAlert, ServiceError> {
        let mut members = Members::of(body)?;
        let token = members.required("token").unwrap_or_default().trim();
        if token.is_empty() {
            members.missing("token");
        }
        members.finish()?;
        let unknown = || ServiceError::NotFound("token");
        if !secret::is_well_formed(token) {
            return Err(unknown());
        }
        let ports = &self.ports;
        let (hash, now) = (hash(token), ports.clock.now());
        match ports.store.code_state(hash, now).await?.ok_or_else(unknown)? {
            CodeState::Valid => {}
            CodeState::Used => return Err(used()),
            CodeState::Expired => return Err(expired()),
        }
        let about = ports
            .store
            .code_payload(hash)
            .await?
            .and_then(|id| Uuid::parse_str(&id).ok());
        let id = AlertId(about.ok_or_else(unknown)?);
        let found = ports.store.alerts_by_id(&[id]).await?.pop();
        let symbol = found.ok_or_else(expired)?.alert.symbol;
        let work = Verify {
            guest_alerts: self.clone(),
            price: self.prices.start_price(symbol).await,
            id,
            hash,
            now: ports.clock.now(),
        };
        let Done { alert, .. } = ports.store.write(work).await?;
        Ok(VerifiedAlert {
            id: alert.id,
            symbol: alert.symbol,
            status: alert.status,
        })
    }
}

fn used() -> ServiceError {
    let message = "this link was used already; if that was not you, create the alert again";
    ServiceError::Malformed(message.to_owned())
}

fn expired() -> ServiceError {
    let message = "the time of this link is over; create the alert again to be mailed another one";
    ServiceError::Malformed(message.to_owned())
}

struct Verify {
    guest_alerts: GuestAlerts,
    id: AlertId,
    hash: [u8; 32],
    price: PriceAvailability,
    now: Timestamp,
}

struct Done {
    alert: Alert,
    /// Those whose place it has taken.
    replaced: Vec<AlertId>,
}

fn refused(refusal: impl Into<ServiceError>) -> Abort<ServiceError> {
    Abort::Refused(refusal.into())
}

impl Verify {
    /// Deletes what the same guest has active already and waits for the same: nobody is told anything twice.
    async fn replace(&self, unit: &mut UnitOfWork, stored: &StoredAlert) -> Result<Vec<AlertId>, Abort<ServiceError>> {
        let asked = as_asked(&stored.alert);
        let mut replaced = Vec::new();
        for older in unit.similar_alerts(&stored.owner, &asked).await? {
            let alert = older.alert;
            if alert.id == self.id || alert.status != Status::Active || !equivalent(&alert, &asked) {
                continue;
            }
            if unit.delete_alert(&alert, self.now).await? {
                replaced.push(alert.id);
            }
        }
        Ok(replaced)
    }

    async fn activate(
        &self,
        unit: &mut UnitOfWork,
        stored: &StoredAlert,
        changed: &ChangedAlert,
    ) -> Result<(), Abort<ServiceError>> {
        let active = unit.count_active_alerts_of_guest(address(stored)).await?;
        if active >= BASIC_MAX_ACTIVE_ALERTS {
            return Err(refused(ServiceError::Forbidden {
                reason: "plan",
                required: Some(Plan::Premium.name().to_owned()),
                message: format!(
                    "at most {BASIC_MAX_ACTIVE_ALERTS} alerts of an address without an account are active; wait until one has \
                     fired, or register and take the premium or early_bird plan"
                ),
            }));
        }
        if !unit
            .update_alert(changed, stored.alert.revision, self.now, None)
            .await?
        {
            // It was read under its lock, so this is not to be expected.
            let message = "this alert was changed at the same moment; try again";
            return Err(refused(ServiceError::Conflict(message.to_owned())));
        }
        Ok(())
    }
}

impl Transaction for Verify {
    type Output = Done;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Done, Abort<ServiceError>>> {
        Box::pin(async move {
            let code = unit
                .use_code(self.hash, self.now)
                .await?
                .ok_or_else(|| refused(used()))?;
            let stored = unit.lock_guest_alert(self.id).await?;
            let stored = stored.ok_or_else(|| refused(used()))?;
            if code.payload != Some(payload(self.id)) || code.subject != address(&stored) {
                return Err(refused(ServiceError::NotFound("token")));
            }
            // Whatever else was mailed for it is of no use any more.
            unit.revoke_codes_with_payload(PURPOSE, address(&stored), &payload(self.id), self.now)
                .await?;
            let transition = transition::verify(&stored.alert, self.price, self.now);
            let changed = match transition.map_err(refused)? {
                Transition::Changed(changed) => changed,
                Transition::Unchanged => {
                    return Ok(Done {
                        alert: stored.alert,
                        replaced: Vec::new(),
                    });
                }
            };
            let replaced = self.replace(unit, &stored).await?;
            self.activate(unit, &stored, &changed).await?;
            Ok(Done {
                alert: changed.alert,
                replaced,
            })
        })
    }

    fn committed(&self, done: &Done) {
        for id in &done.replaced {
            self.guest_alerts.evaluator.forget(*id);
        }
        self.guest_alerts.evaluator.tell(&done.alert);
        self.guest_alerts.initial_prices.note(&done.alert);
    }
}
