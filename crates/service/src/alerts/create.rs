//! Creating an alert.

use alerts::equivalence::equivalent;
use alerts::plan;
use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{AlertId, NewAlert};
use jiff::Timestamp;
use serde_json::Value;
use store::model::{AlertOwner, HistoryRow, StoredAlert};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{AlertDetail, MadeBy, terms};
use crate::alerts::Alerts;
use crate::identity::account::awake;
use crate::{AccountId, Actor, ServiceError};

/// What a create request came to.
#[derive(Clone, PartialEq, Debug)]
pub enum Created {
    /// A new alert.
    New(Box<AlertDetail>),
    /// There was an equivalent one already; it is unchanged.
    Existing(Box<AlertDetail>),
}

impl Alerts {
    /// Creates an alert from the body of a create request (interface 2.1, decisions 2.15, 2.16, 2.22).
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`]; [`ServiceError::UnknownStock`] for an unknown symbol,
    /// [`ServiceError::Forbidden`] for what the plan does not have, [`ServiceError::Unavailable`] for a percentage
    /// without a current price, and if no source answers for an unknown symbol.
    pub async fn create_alert(&self, actor: &Actor, body: &Value) -> Result<Created, ServiceError> {
        self.create_alert_as(actor, body, &MadeBy::of(actor)).await
    }

    /// The same for something that was asked by somebody else before.
    pub(crate) async fn create_alert_as(
        &self,
        actor: &Actor,
        body: &Value,
        made_by: &MadeBy,
    ) -> Result<Created, ServiceError> {
        let now = self.ports.clock.now();
        let context = ParseContext {
            now,
            time_zone: &actor.time_zone,
            calendar: &self.settings.calendar,
        };
        let asked = parse_create(body, &context)?;
        plan::check_alert_features(actor.plan, asked.condition.kind(), asked.notification)?;
        self.prices.require_stock(asked.symbol).await?;
        let work = Create {
            alerts: self.clone(),
            account: actor.account,
            id: AlertId(self.ports.chance.uuid()),
            created_by: Some(made_by.to_text()),
            price: self.prices.start_price(asked.symbol).await,
            asked,
            now: self.ports.clock.now(),
        };
        Ok(match self.ports.store.write(work).await? {
            Done::Inserted(stored) => Created::New(Box::new(self.detail(stored))),
            Done::Found(stored) => Created::Existing(Box::new(self.detail(stored))),
        })
    }
}

struct Create {
    alerts: Alerts,
    account: AccountId,
    asked: NewAlert,
    id: AlertId,
    created_by: Option<String>,
    price: PriceAvailability,
    now: Timestamp,
}

enum Done {
    Inserted(StoredAlert),
    Found(StoredAlert),
}

impl Transaction for Create {
    type Output = Done;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Done, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = awake(unit, self.account).await?;
            let owner = AlertOwner::Account(self.account);
            let similar = unit.similar_alerts(&owner, &self.asked).await?;
            if let Some(found) = similar
                .into_iter()
                .find(|similar| equivalent(&similar.alert, &self.asked))
            {
                return Ok(Done::Found(found));
            }
            // The plan as it is now: the actor's may be a few seconds old.
            let (kind, channel) = (self.asked.condition.kind(), self.asked.notification);
            terms::check(&account, kind, channel).map_err(Abort::Refused)?;
            terms::require_room(unit, &account).await?;
            let made = transition::create(
                self.asked.clone(),
                self.id,
                OwnerVerification::Verified,
                self.price,
                self.now,
            );
            let made = made.map_err(|refused| Abort::Refused(refused.into()))?;
            let row = HistoryRow {
                alert: self.id,
                symbol: made.alert.symbol,
                entry: made.entry,
                at: self.now,
                price: None,
                details: None,
            };
            let stored = StoredAlert {
                alert: made.alert,
                owner,
                created_by: self.created_by.clone(),
            };
            unit.insert_alert(&stored, &row).await?;
            Ok(Done::Inserted(stored))
        })
    }

    fn committed(&self, done: &Done) {
        if let Done::Inserted(stored) = done {
            self.alerts.evaluator.tell(&stored.alert);
            self.alerts.initial_prices.note(&stored.alert);
        }
    }
}
