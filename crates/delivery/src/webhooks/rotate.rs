//! Rotation of a webhook's secret. The previous secret stays valid for a day. All secrets of the last day sign, at most
//! [`MAX_SIGNING_SECRETS`].

use std::fmt;

use foundation::{Actor, ServiceError};
use jiff::{SignedDuration, Timestamp};
use notify::signature::{MAX_SIGNING_SECRETS, SigningSecret};
use store::model::{FormerSecret, Webhook, WebhookId};

use super::{Webhooks, no_such_webhook};

/// Time in which the previous secret also signs `webhook-signature`.
const PREVIOUS_SECRET_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// A webhook with its new secret, which is available only now.
#[derive(Clone)]
pub struct RotatedSecret {
    /// The webhook.
    pub webhook: Webhook,
    /// New signing secret.
    pub secret: String,
    /// Time until which the previous secret also signs.
    pub previous_until: Timestamp,
}

impl fmt::Debug for RotatedSecret {
    /// Formats all fields except the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RotatedSecret")
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}

impl Webhooks {
    /// Replaces a webhook's secret. For a day the Standard Webhooks signature also contains one by the previous secret,
    /// unless more than four newer secrets have replaced it by then.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn rotate_webhook_secret(&self, actor: &Actor, id: WebhookId) -> Result<RotatedSecret, ServiceError> {
        let ports = &self.ports;
        let secret = SigningSecret::from_random(ports.random.bytes());
        let now = ports.clock.now();
        let until = now.saturating_add(PREVIOUS_SECRET_LIFETIME).unwrap_or(Timestamp::MAX);
        let inputs = (
            actor.account,
            id,
            self.delivery.seal(&ports.random, id, &secret),
            now,
            until,
        );
        let transaction = ports.transaction(inputs, |&(account, id, ref sealed, now, until), unit| {
            Box::pin(async move {
                let found = unit.lock_webhook(account, id).await?;
                let mut webhook = found.ok_or_else(no_such_webhook)?;
                let former = FormerSecret {
                    secret: std::mem::replace(&mut webhook.secret, sealed.clone()),
                    expires_at: until,
                };
                unit.insert_former_secret(webhook.id, &former, MAX_SIGNING_SECRETS - 1, now)
                    .await?;
                unit.update_webhook(&webhook, now).await?;
                Ok(webhook)
            })
        });
        let webhook = transaction.await?;
        Ok(RotatedSecret {
            webhook,
            secret: secret.expose().to_owned(),
            previous_until: until,
        })
    }
}
