//! Activates a guest's alert by the link in the email.

use alerts::equivalence::equivalent;
use alerts::plan::{BASIC_MAX_ACTIVE_ALERTS, Plan};
use alerts::transition::{self, ChangedAlert, PriceAvailability, Transition};
use alerts::{Alert, AlertId, Status};
use jiff::Timestamp;
use market::Symbol;
use serde_json::Value;
use store::model::{CodeState, StoredAlert};
use store::{Abort, UnitOfWork};
use uuid::Uuid;

use super::{VERIFY_PURPOSE, address, as_new_alert, hash, payload};
use crate::alerts::GuestAlerts;
use foundation::ServiceError;
use foundation::request;
use foundation::request::{PlainText, Request};
use foundation::secret;

request! {
    /// The token of a guest's verification link.
    VerifyAlertRequest as "VerifyAlert" {
        /// The token from the link in the email.
        token: PlainText = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A",
    }
}

/// A guest's active alert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifiedAlert {
    /// The alert.
    pub id: AlertId,
    /// Its stock.
    pub symbol: Symbol,
    /// Its status: active.
    pub status: Status,
}

impl GuestAlerts {
    /// Activates the alert for which a link was sent: `{token}`. The token is valid once, for two days, for that alert.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] without a token; [`ServiceError::NotFound`] for an unknown one;
    /// [`ServiceError::Malformed`] for a used or expired one; [`ServiceError::Forbidden`] if the guest has the maximum
    /// number of active alerts; [`ServiceError::Unavailable`] for a percentage without a price. After the last two
    /// errors the token is still valid.
    pub async fn verify_guest_alert(&self, body: &Value) -> Result<VerifiedAlert, ServiceError> {
        let token = VerifyAlertRequest::read(body)?.token.0;
        let token = token.trim();
        if token.is_empty() {
            return Err(ServiceError::field("token", "is required"));
        }
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
        let guest_alerts = self.clone();
        let work = VerifyGuestAlert {
            price: self.prices.start_price(symbol).await,
            id,
            hash,
            now: ports.clock.now(),
        };
        let VerifyResult { alert, .. } = ports
            .transaction_then(
                work,
                |work, unit| Box::pin(work.run(unit)),
                move |done| {
                    for id in &done.replaced {
                        guest_alerts.evaluator.remove_alert(*id);
                    }
                    guest_alerts.evaluator.apply_change(&done.alert);
                    guest_alerts.initial_prices.note(&done.alert);
                },
            )
            .await?;
        Ok(VerifiedAlert {
            id: alert.id,
            symbol: alert.symbol,
            status: alert.status,
        })
    }
}

fn used() -> ServiceError {
    let message = "this link has been used already; if that was not you, create the alert again";
    ServiceError::Malformed(message.to_owned())
}

fn expired() -> ServiceError {
    let message = "this link has expired; create the alert again to get a new one";
    ServiceError::Malformed(message.to_owned())
}

struct VerifyGuestAlert {
    id: AlertId,
    hash: [u8; 32],
    price: PriceAvailability,
    now: Timestamp,
}

struct VerifyResult {
    alert: Alert,
    /// The alerts that it has replaced.
    replaced: Vec<AlertId>,
}

impl VerifyGuestAlert {
    /// Deletes the guest's equivalent active alerts, so that there are no duplicate notifications.
    async fn replace(&self, unit: &mut UnitOfWork, stored: &StoredAlert) -> Result<Vec<AlertId>, Abort<ServiceError>> {
        let new_alert = as_new_alert(&stored.alert);
        let mut replaced = Vec::new();
        for older in unit.similar_alerts(&stored.owner, &new_alert).await? {
            let alert = older.alert;
            if alert.id == self.id || alert.status != Status::Active || !equivalent(&alert, &new_alert, self.now) {
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
            return Err(Abort::Refused(ServiceError::Forbidden {
                reason: "plan",
                required: Some(Plan::Premium.name().to_owned()),
                message: format!(
                    "an address without an account can have at most {BASIC_MAX_ACTIVE_ALERTS} active alerts; wait until one \
                     has fired, or register and choose the premium or early_bird plan"
                ),
            }));
        }
        if !unit.update_alert(changed, &stored.alert, self.now, None).await? {
            // It was read under its lock, so this is not expected.
            let message = "another request changed this alert at the same time; try again";
            return Err(Abort::Refused(ServiceError::Conflict(message.to_owned())));
        }
        Ok(())
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<VerifyResult, Abort<ServiceError>> {
        let code = unit.use_code(self.hash, self.now).await?.ok_or_else(used)?;
        let stored = unit.lock_guest_alert(self.id).await?;
        let stored = stored.ok_or_else(used)?;
        if code.payload != Some(payload(self.id)) || code.subject != address(&stored) {
            return Err(Abort::Refused(ServiceError::NotFound("token")));
        }
        // Other links for this alert are of no use any more.
        unit.revoke_codes_with_payload(VERIFY_PURPOSE, address(&stored), &payload(self.id), self.now)
            .await?;
        let transition = transition::verify(&stored.alert, self.price, self.now);
        let changed = match transition.map_err(ServiceError::from)? {
            Transition::Changed(changed) => changed,
            Transition::Unchanged => {
                return Ok(VerifyResult {
                    alert: stored.alert,
                    replaced: Vec::new(),
                });
            }
        };
        let replaced = self.replace(unit, &stored).await?;
        self.activate(unit, &stored, &changed).await?;
        Ok(VerifyResult {
            alert: changed.alert,
            replaced,
        })
    }
}
