//! What became of deliveries, and sending them once more.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use store::model::{Delivery, DeliveryId, DeliveryStatus, Page, PageRequest, WebhookId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use tokio::sync::Notify;

use super::body::Body;
use super::{must_be_active, no_such_webhook};
use crate::identity::account::awake;
use crate::webhooks::Webhooks;
use crate::{AccountId, Actor, ServiceError};

impl Webhooks {
    /// A page of a webhook's deliveries, newest first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn deliveries(
        &self,
        actor: &Actor,
        id: WebhookId,
        status: Option<DeliveryStatus>,
        page: PageRequest,
    ) -> Result<Page<Delivery>, ServiceError> {
        self.webhook(actor, id).await?;
        Ok(self.ports.store.deliveries(id, status, page).await?)
    }

    /// Queues a delivery anew, under its id, whatever became of it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] while the webhook is switched off.
    pub async fn resend_delivery(
        &self,
        actor: &Actor,
        id: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Delivery, ServiceError> {
        let store = &self.ports.store;
        let again = Again {
            account: actor.account,
            id,
            what: What::One(delivery),
            now: self.ports.clock.now(),
            bell: store.delivery_wake_handle(),
        };
        store.write(again).await?;
        let queued = store.delivery(id, delivery).await?;
        queued.ok_or(ServiceError::NotFound("delivery"))
    }

    /// Queues those deliveries of a webhook anew that were given up and whose events are not older than the body's
    /// `since`. Answers how many.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for a body that will not do,
    /// or while the webhook is switched off.
    pub async fn recover_deliveries(&self, actor: &Actor, id: WebhookId, body: &Value) -> Result<u64, ServiceError> {
        let mut read = Body::of(body)?;
        let since = read.text("since").map(str::parse::<Timestamp>);
        match since {
            Some(Err(_)) => read.fault("since", "must be a time such as 2026-03-02T14:30:00Z"),
            None => read.missing("since"),
            Some(Ok(_)) => {}
        }
        read.finish()?;
        let again = Again {
            account: actor.account,
            id,
            what: What::FailedSince(since.and_then(Result::ok).unwrap_or(Timestamp::MAX)),
            now: self.ports.clock.now(),
            bell: self.ports.store.delivery_wake_handle(),
        };
        Ok(self.ports.store.write(again).await?)
    }
}

/// What is queued anew.
enum What {
    One(DeliveryId),
    FailedSince(Timestamp),
}

struct Again {
    account: AccountId,
    id: WebhookId,
    what: What,
    now: Timestamp,
    bell: Arc<Notify>,
}

impl Transaction for Again {
    type Output = u64;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<u64, Abort<ServiceError>>> {
        Box::pin(async move {
            awake(unit, self.account).await?;
            let found = unit.lock_webhook(self.account, self.id).await?;
            let webhook = found.ok_or_else(|| Abort::Refused(no_such_webhook()))?;
            must_be_active(&webhook).map_err(Abort::Refused)?;
            match self.what {
                What::FailedSince(since) => Ok(unit.recover_deliveries(self.id, since, self.now).await?),
                What::One(delivery) => {
                    if unit.resend_delivery(self.id, delivery, self.now).await? {
                        Ok(1)
                    } else {
                        Err(Abort::Refused(ServiceError::NotFound("delivery")))
                    }
                }
            }
        })
    }

    fn committed(&self, queued: &u64) {
        if *queued > 0 {
            self.bell.notify_one();
        }
    }
}
