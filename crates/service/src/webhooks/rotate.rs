//! A new secret in the place of the current one, which stays good for a day. All secrets of the last day sign, at most
//! [`MAX_SIGNING_SECRETS`].

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use notify::signature::{MAX_SIGNING_SECRETS, SigningSecret};
use store::model::{FormerSecret, Webhook, WebhookId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::no_such_webhook;
use crate::webhooks::Webhooks;
use crate::{AccountId, Actor, ServiceError};

/// For so long `webhook-signature` is made with the old secret, too.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);

/// A webhook with its new secret: the only time that is seen.
#[derive(Clone)]
pub struct RotatedSecret {
    /// The webhook.
    pub webhook: Webhook,
    /// What its deliveries are signed with from now on.
    pub secret: String,
    /// Until when they are signed with the old one, too.
    pub previous_until: Timestamp,
}

impl fmt::Debug for RotatedSecret {
    /// Everything but the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RotatedSecret")
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}

impl Webhooks {
    /// Gives a webhook a new secret. For a day its Standard Webhooks signature is made with the former one, too, unless more
    /// than four have replaced it by then.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn rotate_webhook_secret(&self, actor: &Actor, id: WebhookId) -> Result<RotatedSecret, ServiceError> {
        let ports = &self.ports;
        let secret = SigningSecret::from_random(ports.chance.bytes());
        let now = ports.clock.now();
        let until = now.saturating_add(OVERLAP).unwrap_or(Timestamp::MAX);
        let rotate = Rotate {
            account: actor.account,
            id,
            sealed: self.delivery.seal(&ports.chance, id, &secret),
            now,
            until,
        };
        let webhook = ports.store.write(rotate).await?;
        Ok(RotatedSecret {
            webhook,
            secret: secret.expose().to_owned(),
            previous_until: until,
        })
    }
}

struct Rotate {
    account: AccountId,
    id: WebhookId,
    sealed: Vec<u8>,
    now: Timestamp,
    until: Timestamp,
}

impl Transaction for Rotate {
    type Output = Webhook;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Webhook, Abort<ServiceError>>> {
        Box::pin(async move {
            let found = unit.lock_webhook(self.account, self.id).await?;
            let mut webhook = found.ok_or_else(|| Abort::Refused(no_such_webhook()))?;
            let former = FormerSecret {
                secret: std::mem::replace(&mut webhook.secret, self.sealed.clone()),
                expires_at: self.until,
            };
            unit.insert_former_secret(webhook.id, &former, MAX_SIGNING_SECRETS - 1, self.now)
                .await?;
            unit.update_webhook(&webhook).await?;
            Ok(webhook)
        })
    }
}
