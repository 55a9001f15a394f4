//! Listing and resending of deliveries.

use jiff::Timestamp;
use serde_json::Value;
use store::model::{Delivery, DeliveryId, DeliveryStatus, Page, PageRequest, WebhookId};
use store::{Abort, UnitOfWork};

use super::request_body::RecoverDeliveriesRequest;
use super::{no_such_webhook, require_active_webhook};
use crate::webhooks::Webhooks;
use foundation::account::lock_active_account;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl Webhooks {
    /// Returns a page of a webhook's deliveries, newest first.
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

    /// Queues a delivery again, under its id, in any state.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] while the webhook is disabled.
    pub async fn resend_delivery(
        &self,
        actor: &Actor,
        id: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Delivery, ServiceError> {
        let store = &self.ports.store;
        let requeue = RequeueDeliveries {
            account: actor.account,
            id,
            scope: RequeueScope::One(delivery),
            now: self.ports.clock.now(),
        };
        self.ports
            .transaction(requeue, |requeue, unit| Box::pin(requeue.run(unit)))
            .await?;
        let queued = store.delivery(id, delivery).await?;
        queued.ok_or(ServiceError::NotFound("delivery"))
    }

    /// Queues the failed deliveries of a webhook again whose events are not older than the body's `since`. Returns
    /// their number.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, or
    /// while the webhook is disabled.
    pub async fn recover_deliveries(&self, actor: &Actor, id: WebhookId, body: &Value) -> Result<u64, ServiceError> {
        let since = RecoverDeliveriesRequest::read(body)?.since;
        let requeue = RequeueDeliveries {
            account: actor.account,
            id,
            scope: RequeueScope::FailedSince(since),
            now: self.ports.clock.now(),
        };
        self.ports
            .transaction(requeue, |requeue, unit| Box::pin(requeue.run(unit)))
            .await
    }
}

/// Deliveries to queue again.
enum RequeueScope {
    One(DeliveryId),
    FailedSince(Timestamp),
}

struct RequeueDeliveries {
    account: AccountId,
    id: WebhookId,
    scope: RequeueScope,
    now: Timestamp,
}

impl RequeueDeliveries {
    async fn run(&self, unit: &mut UnitOfWork) -> Result<u64, Abort<ServiceError>> {
        lock_active_account(unit, self.account).await?;
        let found = unit.lock_webhook(self.account, self.id).await?;
        let webhook = found.ok_or_else(no_such_webhook)?;
        require_active_webhook(&webhook)?;
        match self.scope {
            RequeueScope::FailedSince(since) => Ok(unit.recover_deliveries(self.id, since, self.now).await?),
            RequeueScope::One(delivery) => {
                if unit.resend_delivery(self.id, delivery, self.now).await? {
                    Ok(1)
                } else {
                    Err(Abort::Refused(ServiceError::NotFound("delivery")))
                }
            }
        }
    }
}
