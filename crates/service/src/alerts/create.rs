//! Creates an alert.

use alerts::Routing;
use alerts::equivalence::equivalent;
use alerts::plan;
use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, ArmingDetails, OwnerVerification};
use alerts::{AlertId, Condition};
use foundation::MadeBy;
use foundation::plan_limits;
use foundation::route_check::check_routing;
use foundation::template_check::require_payload_scope;
use serde_json::Value;
use store::model::{AlertOwner, HistoryRow, ScopeRole, StoredAlert};

use super::AlertDetail;
use crate::alerts::Alerts;
use foundation::account::lock_active_account;
use foundation::{Actor, ServiceError};

/// The result of a create request.
#[derive(Clone, PartialEq, Debug)]
pub enum Created {
    /// A new alert.
    New(Box<AlertDetail>),
    /// An equivalent alert, which existed already and is unchanged.
    Existing(Box<AlertDetail>),
}

impl Alerts {
    /// Creates an alert from the body of a create request (interface 2.1, decisions 2.15, 2.16, 2.22).
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`]; [`ServiceError::UnknownStock`] for an unknown symbol;
    /// [`ServiceError::Forbidden`] if the plan does not include the alert, or the actor lacks
    /// the scope for a payload template; [`ServiceError::Unavailable`] for a
    /// percentage without a current price, and if no source answers for an unknown symbol.
    pub async fn create_alert(&self, actor: &Actor, body: &Value) -> Result<Created, ServiceError> {
        self.create_alert_as(actor, body, &MadeBy::of(actor)).await
    }

    /// Creates an alert with an explicit author, for a request that was made before.
    pub(crate) async fn create_alert_as(
        &self,
        actor: &Actor,
        body: &Value,
        made_by: &MadeBy,
    ) -> Result<Created, ServiceError> {
        require_payload_scope(actor, body)?;
        if let Some(scope) = body.get("scope").filter(|scope| !scope.is_null()) {
            return self.create_scoped_alert(actor, scope, body, made_by).await;
        }
        let now = self.ports.clock.now();
        let context = ParseContext {
            now,
            time_zone: &actor.time_zone,
            calendar: &self.settings.calendar,
        };
        let new_alert = parse_create(body, &context)?;
        plan::check_alert_features(actor.plan, &new_alert.condition, new_alert.notification)?;
        self.prices.require_stock(new_alert.symbol).await?;
        if matches!(new_alert.condition, Condition::Expression(_)) {
            self.require_named_stocks(body, new_alert.symbol).await?;
        }
        let price = self.prices.start_price(new_alert.symbol).await;
        let alerts = self.clone();
        let inputs = (
            actor.account,
            new_alert,
            AlertId(self.ports.random.uuid()),
            made_by.to_text(),
            price,
            self.ports.clock.now(),
        );
        let transaction = self.ports.transaction_then(
            inputs,
            |&(account, ref new_alert, id, ref created_by, price, now), unit| {
                Box::pin(async move {
                    let account = lock_active_account(unit, account).await?;
                    let owner = AlertOwner::Account(account.id);
                    let similar = unit.similar_alerts(&owner, new_alert).await?;
                    if let Some(found) = similar
                        .into_iter()
                        .find(|similar| equivalent(&similar.alert, new_alert, now))
                    {
                        return Ok(InsertResult::Found(found));
                    }
                    // The present plan: the actor's may be a few seconds old.
                    plan_limits::check(&account, &new_alert.condition, new_alert.notification)?;
                    plan_limits::check_active_alert_quota(unit, &account).await?;
                    check_routing(unit, account.id, &new_alert.routing, &Routing::default()).await?;
                    let made = transition::create(new_alert.clone(), id, OwnerVerification::Verified, price, now);
                    let made = made.map_err(ServiceError::from)?;
                    let details = ArmingDetails::of(&made.alert, None, now).to_json();
                    let row = HistoryRow {
                        alert: id,
                        symbol: made.alert.symbol,
                        entry: made.entry,
                        at: now,
                        price: None,
                        details,
                    };
                    let stored = StoredAlert {
                        alert: made.alert,
                        owner,
                        created_by: Some(created_by.clone()),
                        role: ScopeRole::Single,
                    };
                    unit.insert_alert(&stored, &row).await?;
                    Ok(InsertResult::Inserted(stored))
                })
            },
            move |done| {
                if let InsertResult::Inserted(stored) = done {
                    alerts.evaluator.apply_change(&stored.alert);
                    alerts.initial_prices.note(&stored.alert);
                }
            },
        );
        Ok(match transaction.await? {
            InsertResult::Inserted(stored) => Created::New(Box::new(self.detail(stored))),
            InsertResult::Found(stored) => Created::Existing(Box::new(self.detail(stored))),
        })
    }
}

enum InsertResult {
    Inserted(StoredAlert),
    Found(StoredAlert),
}
