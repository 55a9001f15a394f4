//! Listing and resending of deliveries.

use alerts::AlertId;
use foundation::account::lock_active_account;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use serde_json::Value;
use store::model::{AccountId, Delivery, DeliveryId, DeliveryStatus, ListRequest, Page, Webhook, WebhookId};
use store::{Abort, UnitOfWork};

use super::request_body::RecoverDeliveriesRequest;
use super::{Webhooks, no_such_webhook};

/// A delivery with the body that its attempts send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryDetail {
    /// The webhook.
    pub webhook: Webhook,
    /// The delivery.
    pub delivery: Delivery,
    /// The body of the request as text.
    pub body: String,
}

impl Webhooks {
    /// Returns a delivery with its body.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delivery(
        &self,
        actor: &Actor,
        id: WebhookId,
        delivery: DeliveryId,
    ) -> Result<DeliveryDetail, ServiceError> {
        let no_such_delivery = || ServiceError::NotFound("delivery");
        let store = &self.ports.store;
        let webhook = self.webhook(actor, id).await?;
        let data = store.delivery_data(id, delivery).await?.ok_or_else(no_such_delivery)?;
        let delivery = store.delivery(id, delivery).await?.ok_or_else(no_such_delivery)?;
        let template = store.payload_template(id, delivery.id).await?;
        // A template that fails has the default body.
        let payload = self
            .delivery
            .payload(template.as_ref(), &webhook.url, &data)
            .ok()
            .flatten();
        let default = || {
            let context = &self.delivery;
            context.body(&webhook.url, delivery.id, delivery.created_at, &data)
        };
        let body = payload.unwrap_or_else(default);
        Ok(DeliveryDetail {
            webhook,
            delivery,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    /// Returns a page of a webhook's deliveries, newest first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] if the webhook has no delivery `after`.
    pub async fn deliveries(
        &self,
        actor: &Actor,
        id: WebhookId,
        status: Option<DeliveryStatus>,
        request: impl Into<ListRequest<DeliveryId>>,
    ) -> Result<Page<Delivery>, ServiceError> {
        self.webhook(actor, id).await?;
        Ok(self.ports.store.deliveries(id, status, request).await?)
    }

    /// Returns the deliveries of the latest firings of an alert, at most `limit` firings, newest first, each with its webhook.
    pub async fn deliveries_of_alert(
        &self,
        actor: &Actor,
        alert: AlertId,
        limit: u32,
    ) -> Result<Vec<(Webhook, Delivery)>, ServiceError> {
        let store = &self.ports.store;
        let events = store.events_of_alert(actor.account, alert, limit).await?;
        let mut found = Vec::new();
        for webhook in self.webhooks(actor).await? {
            let deliveries = store.deliveries_of_events(webhook.id, &events).await?;
            found.extend(deliveries.into_iter().map(|delivery| (webhook.clone(), delivery)));
        }
        found.sort_by_key(|(_, delivery)| std::cmp::Reverse(delivery.created_at));
        Ok(found)
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
        let inputs = (actor.account, id, delivery, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, id, delivery, now), unit| {
            Box::pin(async move {
                lock_active_webhook(unit, account, id).await?;
                if unit.resend_delivery(id, delivery, now).await? {
                    Ok(())
                } else {
                    Err(Abort::Refused(ServiceError::NotFound("delivery")))
                }
            })
        });
        transaction.await?;
        let queued = self.ports.store.delivery(id, delivery).await?;
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
        let inputs = (actor.account, id, since, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, id, since, now), unit| {
            Box::pin(async move {
                lock_active_webhook(unit, account, id).await?;
                Ok(unit.recover_deliveries(id, since, now).await?)
            })
        });
        transaction.await
    }
}

/// Locks an account and its webhook until the end of the transaction, and checks that both are active. Deliveries of a
/// disabled webhook are not queued.
async fn lock_active_webhook(
    unit: &mut UnitOfWork,
    account: AccountId,
    id: WebhookId,
) -> Result<(), Abort<ServiceError>> {
    lock_active_account(unit, account).await?;
    let webhook = unit.lock_webhook(account, id).await?.ok_or_else(no_such_webhook)?;
    if webhook.is_active {
        return Ok(());
    }
    let error = "is false, so nothing is sent; first set it to true with PATCH";
    Err(ServiceError::field("is_active", error).into())
}
