//! The demo's webhook, and a local receiver that gets all firings and verifies the deliveries.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context;
use clock::Clock;
use delivery::webhooks::{EVENT, WebhookId};
use foundation::Actor;
use http::StatusCode;
use jiff::SignedDuration;
use notify::signature::SigningSecret;
use serde_json::json;
use service::Service;

use crate::listen::{ReceivedDelivery, WebhookReceiver};

/// The path of the demo's webhook at the receiver. It tells the demo's webhook from those that users create.
const WEBHOOK_PATH: &str = "/bellwether-demo";
/// The private address that the demo's service may call.
pub(super) const ALLOWED_CIDR: &str = "127.0.0.1";
/// The maximum time to wait for pending deliveries at the end.
const CATCH_UP_TIMEOUT: SignedDuration = SignedDuration::from_secs(10);
/// The interval of polling for pending deliveries.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The receiver, with the counts of its deliveries.
#[derive(Debug)]
pub(super) struct DemoWebhook {
    receiver: WebhookReceiver,
    id: WebhookId,
    received: u64,
    trusted: u64,
}

impl DemoWebhook {
    /// Starts the receiver and creates a webhook that leads there. Webhooks of an earlier demo on the same database
    /// are deleted, because their receiver is gone.
    pub(super) async fn open(service: &Service, actor: &Actor) -> anyhow::Result<Self> {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let receiver = WebhookReceiver::start(any_port, None, StatusCode::NO_CONTENT).await?;
        for webhook in service.webhooks.webhooks(actor).await? {
            if webhook.url.ends_with(WEBHOOK_PATH) {
                service.webhooks.delete_webhook(actor, webhook.id).await?;
            }
        }
        let url = format!("http://{}{WEBHOOK_PATH}", receiver.address());
        let created = service
            .webhooks
            .create_webhook(actor, &json!({"url": url, "events": [EVENT]}))
            .await;
        let created = created.context("cannot create the demo's webhook")?;
        let id = created.webhook.id;
        receiver.set_secret(SigningSecret::from_user(&created.secret).context("the webhook's secret is invalid")?);
        Ok(Self {
            receiver,
            id,
            received: 0,
            trusted: 0,
        })
    }

    /// Returns the address of the receiver.
    pub(super) const fn address(&self) -> SocketAddr {
        self.receiver.address()
    }

    /// Returns the id of the webhook.
    pub(super) const fn id(&self) -> WebhookId {
        self.id
    }

    /// Returns a line for each delivery since the last call.
    pub(super) fn received_lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(delivery) = self.receiver.try_next() {
            self.received += 1;
            self.trusted += u64::from(delivery.is_trusted());
            lines.push(line(&delivery));
        }
        lines
    }

    /// Waits until the given number of deliveries has arrived, up to [`CATCH_UP_TIMEOUT`].
    pub(super) async fn catch_up(&mut self, number: u64, clock: &dyn Clock) -> Vec<String> {
        let mut lines = self.received_lines();
        let end = clock.now().saturating_add(CATCH_UP_TIMEOUT).unwrap_or_default();
        while self.received < number && clock.now() < end {
            clock.sleep(POLL_INTERVAL).await;
            lines.extend(self.received_lines());
        }
        lines
    }

    /// Returns the number of received and of trusted deliveries.
    pub(super) const fn counts(&self) -> (u64, u64) {
        (self.received, self.trusted)
    }
}

fn line(delivery: &ReceivedDelivery) -> String {
    let time = delivery
        .at
        .to_zoned(market::calendar::new_york_time_zone())
        .strftime("%H:%M:%S");
    let result = if delivery.is_trusted() {
        "both signatures verified".to_owned()
    } else {
        format!("NOT TRUSTED: {}; {}", delivery.service, delivery.standard)
    };
    let text = |pointer: &str| {
        let found = delivery.body.pointer(pointer).and_then(serde_json::Value::as_str);
        found.unwrap_or("-").to_owned()
    };
    let delay = delivery.delay().map_or(0, |delay| delay.as_millis());
    format!(
        "{time}    {:<5} {:<22} webhook received {delay} ms after, {result}",
        text("/data/alert/symbol"),
        text("/data/alert/condition")
    )
}
