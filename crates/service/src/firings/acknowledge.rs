//! Acknowledgement of a firing.

use alerts::HistoryAction;
use alerts::transition::{HistoryStatus, StatusChange};
use foundation::account::lock_active_account;
use foundation::{Actor, ServiceError};
use serde_json::json;
use store::model::{AccountId, Acknowledgement, EventId, HistoryRow};
use store::{Abort, UnitOfWork};

use super::{FiringWithMessages, Firings, no_such_firing};

/// Maximum number of firings that are acknowledged in one transaction.
const MAX_IN_TRANSACTION: usize = 200;

impl Firings {
    /// Acknowledges a firing of the actor, and returns it. The first acknowledgement counts, and is in the alert's history; a later
    /// one changes nothing. `via` is `api`, or the type of the channel.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Forbidden`] if the account is deactivated.
    pub async fn acknowledge(&self, actor: &Actor, id: EventId, via: &str) -> Result<FiringWithMessages, ServiceError> {
        self.acknowledge_as(actor, &[id], &actor.email, via).await?;
        self.firing(actor, id).await
    }

    /// Acknowledges firings of the actor in the name of a person. Returns whether one of them was not acknowledged before.
    pub(super) async fn acknowledge_as(
        &self,
        actor: &Actor,
        firings: &[EventId],
        by: &str,
        via: &str,
    ) -> Result<bool, ServiceError> {
        let acknowledgement = Acknowledgement {
            at: self.ports.clock.now(),
            by: by.to_owned(),
            via: via.to_owned(),
        };
        let mut is_first = false;
        for firings in firings.chunks(MAX_IN_TRANSACTION) {
            let inputs = (actor.account, firings.to_vec(), acknowledgement.clone());
            let transaction = self
                .ports
                .transaction(inputs, |&(account, ref firings, ref acknowledgement), unit| {
                    Box::pin(async move {
                        lock_active_account(unit, account).await?;
                        let mut is_first = false;
                        for id in firings {
                            is_first |= acknowledge(unit, account, *id, acknowledgement).await?;
                        }
                        Ok(is_first)
                    })
                });
            is_first |= transaction.await?;
        }
        Ok(is_first)
    }
}

/// Acknowledges a firing, and records that in the history of its alert. Returns `false` if it was acknowledged before.
async fn acknowledge(
    unit: &mut UnitOfWork,
    account: AccountId,
    id: EventId,
    acknowledgement: &Acknowledgement,
) -> Result<bool, Abort<ServiceError>> {
    let fired = unit.acknowledge_firing(account, id, acknowledgement).await?;
    let fired = fired.ok_or_else(|| Abort::Refused(no_such_firing()))?;
    if !fired.is_first {
        return Ok(false);
    }
    let details = json!({
        "firing_id": id.0,
        "by": acknowledgement.by,
        "via": acknowledgement.via,
    });
    let entry = HistoryRow {
        alert: fired.alert,
        symbol: fired.symbol,
        entry: StatusChange {
            action: HistoryAction::Acknowledged,
            previous_status: match fired.status {
                HistoryStatus::Of(status) => Some(status),
                HistoryStatus::Deleted => None,
            },
            new_status: fired.status,
        },
        at: acknowledgement.at,
        price: None,
        details: details.as_object().cloned(),
    };
    unit.append_history(&entry).await?;
    Ok(true)
}
