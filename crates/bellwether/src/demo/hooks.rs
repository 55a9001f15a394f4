//! The demo's webhook: a receiver on this machine, told of all that fires, which verifies what it gets.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use http::StatusCode;
use jiff::SignedDuration;
use notify::signature::Secret;
use serde_json::json;
use service::webhooks::{EVENT, WebhookId};
use service::{Actor, Clock, Service};

use crate::listen::{Checked, Receiver};

/// Where at the receiver the demo's own webhook leads. People who try things out make webhooks of theirs.
const PATH: &str = "/bellwether-demo";
/// What the service may call beside the public's addresses, in the demo.
pub(super) const OPENED: &str = "127.0.0.1";
/// How long is waited for what is under way at the end.
const PATIENCE: SignedDuration = SignedDuration::from_secs(10);
/// How often is looked whether it has come.
const LOOK_EVERY: SignedDuration = SignedDuration::from_millis(50);

/// The receiver, and what it has seen.
#[derive(Debug)]
pub(super) struct Hooks {
    receiver: Receiver,
    id: WebhookId,
    received: u64,
    trusted: u64,
}

impl Hooks {
    /// Listens, and makes a webhook that leads there. Those of an earlier demo on the same database are deleted: nobody
    /// listens there any more.
    pub(super) async fn open(service: &Service, actor: &Actor) -> anyhow::Result<Self> {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let receiver = Receiver::start(anywhere, None, StatusCode::NO_CONTENT).await?;
        for webhook in service.webhooks.webhooks(actor).await? {
            if webhook.url.ends_with(PATH) {
                service.webhooks.delete_webhook(actor, webhook.id).await?;
            }
        }
        let url = format!("http://{}{PATH}", receiver.address());
        let created = service
            .webhooks
            .create_webhook(actor, &json!({"url": url, "events": [EVENT]}))
            .await;
        let created = created.context("cannot make the demo's webhook")?;
        let id = created.webhook.id;
        receiver.expect(Secret::from_user(&created.secret).context("the webhook's secret is none")?);
        Ok(Self {
            receiver,
            id,
            received: 0,
            trusted: 0,
        })
    }

    /// Where it listens.
    pub(super) const fn address(&self) -> SocketAddr {
        self.receiver.address()
    }

    /// The webhook that leads there.
    pub(super) const fn id(&self) -> WebhookId {
        self.id
    }

    /// What has come since the last look, a line for each.
    pub(super) fn news(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(checked) = self.receiver.try_next() {
            self.received += 1;
            self.trusted += u64::from(checked.is_trusted());
            lines.push(line(&checked));
        }
        lines
    }

    /// Waits until so many have come, but not for ever.
    pub(super) async fn catch_up(&mut self, number: u64, clock: &dyn Clock) -> Vec<String> {
        let mut lines = self.news();
        let end = clock.now().saturating_add(PATIENCE).unwrap_or_default();
        while self.received < number && clock.now() < end {
            let next = clock.now().saturating_add(LOOK_EVERY).unwrap_or_default();
            clock.sleep_until(next).await;
            lines.extend(self.news());
        }
        lines
    }

    /// How many have come, and how many of them are to be trusted.
    pub(super) const fn counts(&self) -> (u64, u64) {
        (self.received, self.trusted)
    }
}

fn line(checked: &Checked) -> String {
    let time = checked
        .at
        .to_zoned(market::calendar::new_york_time_zone())
        .strftime("%H:%M:%S");
    let verdict = if checked.is_trusted() {
        "both signatures verified".to_owned()
    } else {
        format!("NOT TRUSTED: {}; {}", checked.service, checked.standard)
    };
    let text = |pointer: &str| {
        let found = checked.body.pointer(pointer).and_then(serde_json::Value::as_str);
        found.unwrap_or("-").to_owned()
    };
    let delay = checked.delay().map_or(0, |delay| delay.as_millis());
    format!(
        "{time}    {:<5} {:<22} webhook received {delay} ms after, {verdict}",
        text("/data/alert/symbol"),
        text("/data/alert/condition")
    )
}
