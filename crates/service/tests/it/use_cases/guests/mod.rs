//! Alerts of guests: requested, verified, attached to an account.

mod attaching;
mod requesting;
mod verifying;

use alerts::{Alert, AlertId};
use delivery::messages::{OutboxFilter, OutboxMessage};
use foundation::ServiceError;
use serde_json::{Value, json};
use service::alerts::{AlertDetail, Created, VerifiedAlert};
use service::cron::Job;
use store::model::{MessageChannel, StoredAlert};

use crate::support::{ALL, TestApp};

const GUEST: &str = "guest@example.com";

/// Returns the body of a guest's request for a price alert on AAPL.
fn price_request(email: &str, threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "email": email})
}

async fn ask(app: &TestApp, body: &Value) -> Result<Created, ServiceError> {
    let price_request = app.service.guest_alerts.guest_alert_request(body)?;
    app.service.guest_alerts.create_guest_alert(price_request).await
}

/// Creates a guest's alert; it must be new.
async fn make(app: &TestApp, body: &Value) -> AlertDetail {
    match ask(app, body).await.unwrap() {
        Created::New(detail) => *detail,
        Created::Existing(detail) => panic!("there was one already: {detail:?}"),
    }
}

async fn verify(app: &TestApp, token: &str) -> Result<VerifiedAlert, ServiceError> {
    app.service
        .guest_alerts
        .verify_guest_alert(&json!({"token": token}))
        .await
}

/// Creates a guest's alert and verifies it.
async fn verified(app: &TestApp, email: &str, threshold: u32) -> AlertId {
    let id = make(app, &price_request(email, threshold)).await.stored.alert.id;
    let token = token(app.mailed(email).await.last().unwrap());
    assert_eq!(verify(app, &token).await.unwrap().id, id);
    id
}

/// Returns the token of the link in an email.
fn token(email: &OutboxMessage) -> String {
    let text = &email.text;
    let link = "https://alerts.example.com/verify-alert?token=";
    let start = text.find(link).unwrap_or_else(|| panic!("no link in {text}")) + link.len();
    let token: String = text[start..].chars().take_while(|c| !c.is_whitespace()).collect();
    assert_eq!(token.len(), 43, "{text}");
    token
}

/// Returns whether an email asks to verify an alert.
fn is_verification_email(email: &OutboxMessage) -> bool {
    email.text.contains("/verify-alert?")
}

impl TestApp {
    /// Returns the messages to an address or number, oldest first, once none is pending.
    pub(crate) async fn mailed(&self, to: &str) -> Vec<OutboxMessage> {
        let store = self.store().await;
        let waits = async |channel| !store.pending_endpoints(channel, i64::MIN, 1).await.unwrap().is_empty();
        let empty = async {
            while waits(MessageChannel::Email).await || waits(MessageChannel::Sms).await {
                // Messages of another process are claimed on the clock's time, which stands still.
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
        let mut emails = page.items;
        emails.reverse();
        emails
    }

    /// Returns a stored alert of any owner.
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
