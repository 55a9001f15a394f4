//! A test: an event that looks like any other is sent at once, and whoever asked is told what the receiver answered.
//!
//! Nothing is told of an address that is not open: neither what it resolves to nor what it would have answered.

use notify::client::{Signing, WebhookAttempt, WebhookJob, WebhookOutcome};
use notify::message::{self, slack};
use notify::signature::{SignatureFormat, SigningSecrets};
use serde_json::Value;

use super::EVENT;
use super::body::Body;
use crate::identity::account::{account_of, must_be_awake};
use crate::webhooks::Webhooks;
use crate::{Actor, ServiceError};

/// What came of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestAnswer {
    /// What was tried.
    pub attempt: WebhookAttempt,
}

impl Webhooks {
    /// Sends a test event by a body `{url, secret?, signature?}`, and answers what came of it. To Slack it goes in Slack's
    /// format and unsigned.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for a body that will not do, and for a URL of an address
    /// that is not open; [`ServiceError::Forbidden`] while the account is deactivated.
    pub async fn test_webhook(&self, actor: &Actor, body: &Value) -> Result<TestAnswer, ServiceError> {
        let (ports, webhooks) = (&self.ports, &self.delivery);
        let mut read = Body::of(body)?;
        let url = read.url(&webhooks.rules);
        let (secret, signature) = (read.secret(), read.signature());
        if url.is_none() {
            read.missing("url");
        }
        let is_slack = url.is_some_and(|url| webhooks.rules.check(url).is_ok_and(|target| target.is_slack()));
        if secret.is_none() && !is_slack {
            read.missing("secret");
        }
        read.finish()?;
        must_be_awake(&account_of(&self.ports.store, actor).await?)?;
        let target = webhooks.check(actor.account, url.unwrap_or_default()).await?;
        let now = webhooks.network.time.now();
        let id = ports.chance.uuid();
        let data = message::test_event_data(ports.chance.uuid(), now);
        let (body, signing) = match secret.filter(|_| !target.is_slack()) {
            None => (slack::body(EVENT, &data), Signing::Unsigned),
            Some(secret) => {
                let format = signature.map_or(SignatureFormat::default(), super::body::signed);
                let secrets = SigningSecrets::from(secret);
                (
                    message::webhook_body(id, EVENT, now, &data),
                    Signing::Signed { secrets, format },
                )
            }
        };
        let job = WebhookJob {
            account: actor.account.0,
            url: target.url().to_owned(),
            event: EVENT,
            generated_at: now,
            body,
            signing,
        };
        let transport = webhooks.transport.clone();
        let deliver = async move { transport.deliver(id, &job).await };
        let attempt = webhooks.network.run(deliver).await;
        if attempt.outcome == WebhookOutcome::AddressRefused {
            return Err(ServiceError::field(
                "url",
                "must have a host that resolves to public addresses only",
            ));
        }
        Ok(TestAnswer { attempt })
    }
}
