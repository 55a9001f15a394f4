//! Alerts of people without an account: asked for, verified, taken over.

mod asking;
mod attaching;
mod verifying;

use alerts::{Alert, AlertId};
use serde_json::{Value, json};
use service::ServiceError;
use service::alerts::{AlertDetail, Created, VerifiedAlert};
use service::cron::Job;
use service::messages::{OutboxFilter, OutboxMessage};
use store::model::{MessageChannel, StoredAlert};

use crate::support::{ALL, World};

const GUEST: &str = "guest@example.com";

/// The body of a guest's request for a price alert on AAPL.
fn wish(email: &str, threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "email": email})
}

async fn ask(world: &World, body: &Value) -> Result<Created, ServiceError> {
    let wish = world.service.guest_alerts.guest_wish(body)?;
    world.service.guest_alerts.create_guest_alert(wish).await
}

/// A guest's new alert; it has to be one.
async fn make(world: &World, body: &Value) -> AlertDetail {
    match ask(world, body).await.unwrap() {
        Created::New(detail) => *detail,
        Created::Existing(detail) => panic!("there was one already: {detail:?}"),
    }
}

async fn verify(world: &World, token: &str) -> Result<VerifiedAlert, ServiceError> {
    world
        .service
        .guest_alerts
        .verify_guest_alert(&json!({"token": token}))
        .await
}

/// A guest's new alert that was verified.
async fn verified(world: &World, email: &str, threshold: u32) -> AlertId {
    let id = make(world, &wish(email, threshold)).await.stored.alert.id;
    let token = token(world.mailed(email).await.last().unwrap());
    assert_eq!(verify(world, &token).await.unwrap().id, id);
    id
}

/// The token of the link in a letter.
fn token(letter: &OutboxMessage) -> String {
    let text = &letter.text;
    let link = "https://alerts.example.com/verify-alert?token=";
    let start = text.find(link).unwrap_or_else(|| panic!("no link in {text}")) + link.len();
    let token: String = text[start..].chars().take_while(|c| !c.is_whitespace()).collect();
    assert_eq!(token.len(), 43, "{text}");
    token
}

/// Whether a letter asks to verify an alert.
fn asks(letter: &OutboxMessage) -> bool {
    letter.text.contains("/verify-alert?")
}

impl World {
    /// All that was sent to an address or a number, oldest first, once nothing more is on its way.
    pub(crate) async fn mailed(&self, to: &str) -> Vec<OutboxMessage> {
        let store = self.store().await;
        let waits = async |channel| {
            !store
                .pending_message_endpoints(channel, i64::MIN, 1)
                .await
                .unwrap()
                .is_empty()
        };
        let empty = async {
            while waits(MessageChannel::Email).await || waits(MessageChannel::Sms).await {
                // What another process leaves is looked for when the clock says so, which stands still.
                self.service.jobs.run_job(Job::Deliveries).await.unwrap();
            }
        };
        let sent = tokio::time::timeout(testkit::HANG_LIMIT, empty).await;
        assert!(sent.is_ok(), "mail is not sent");
        store.close().await;
        let filter = OutboxFilter {
            to: Some(to.to_owned()),
            ..OutboxFilter::default()
        };
        let page = self.service.outbox.outbox(self.operator(), filter, ALL).await.unwrap();
        let mut letters = page.items;
        letters.reverse();
        letters
    }

    /// An alert as it lies in the database, whoever owns it.
    async fn stored(&self, id: AlertId) -> Option<StoredAlert> {
        let store = self.store().await;
        let found = store.alerts_by_id(&[id]).await.unwrap().pop();
        store.close().await;
        found
    }

    async fn alert_now(&self, id: AlertId) -> Alert {
        self.stored(id).await.unwrap().alert
    }
}
