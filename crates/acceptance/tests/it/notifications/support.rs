//! Shared test support: users with an access token, and settings for mail.

use acceptance::clock::wait_for;
use acceptance::{ApiClient, CheckedResponse, MailServer, ServiceSetup, TestEnvironment};
use reqwest::Method;
use serde_json::{Value, json};

/// Configures the service to send mail over an SMTP server and to retry soon.
pub(crate) fn mail_settings(setup: ServiceSetup, server: &MailServer) -> ServiceSetup {
    setup
        .set("server.public_url", "https://alerts.example.com")
        .set("email.transport", "smtp")
        .set("email.smtp_url", &server.url(""))
        .set("email.from", "Bellwether <alerts@example.com>")
        .set("email.retry_delays", "200ms,200ms")
        .set("limits.login_per_minute", "1000")
}

/// A user with an access token.
pub(crate) struct SignedInUser {
    client: ApiClient,
    pub(crate) token: String,
}

impl SignedInUser {
    /// Signs in to an existing account.
    pub(crate) async fn sign_in(env: &TestEnvironment, email: &str, password: &str) -> Self {
        let body = json!({"email": email, "password": password});
        let client = env.server.anonymous_client();
        let response = client.post("/auth/login", &body).await.expect_ok(200);
        let token = response.text_of("access_token").to_owned();
        Self { client, token }
    }

    pub(crate) async fn get(&self, path: &str) -> CheckedResponse {
        self.request(Method::GET, path).send().await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) -> CheckedResponse {
        self.request(method, path).json(body).send().await
    }

    fn request(&self, method: Method, path: &str) -> acceptance::client::CheckedRequest {
        let token = format!("Bearer {}", self.token);
        self.client.request(method, path).header("authorization", &token)
    }

    /// Creates an alert of this user, fires it at a price and returns its id. The price is 100 before and afterwards.
    pub(crate) async fn fire(&self, env: &TestEnvironment, channel: &str, price: f64) -> String {
        let body = json!({
            "symbol": "AAPL", "condition": "price_above", "threshold": price, "notification": channel,
        });
        let id = self.send(Method::POST, "/alerts", &body).await.expect_ok(201).id();
        env.quote("AAPL", price).await;
        env.quote("AAPL", 100.0).await;
        id
    }

    /// Waits for `count` notification entries in the history of an alert, and returns them oldest first.
    pub(crate) async fn wait_for_notifications(&self, alert: &str, count: usize) -> Vec<Value> {
        wait_for(&format!("{count} notifications of {alert}"), || async {
            let history = self
                .get(&format!("/alerts/{alert}/history?limit=200"))
                .await
                .expect_ok(200);
            let is_notification = |entry: &&Value| entry["action_type"].as_str().unwrap().starts_with("notification_");
            let mut entries: Vec<Value> = history.items().iter().filter(is_notification).cloned().collect();
            entries.reverse();
            Some(entries).filter(|entries| entries.len() >= count)
        })
        .await
    }

    /// Returns the outcome of the only notification of an alert.
    pub(crate) async fn outcome(&self, alert: &str) -> Value {
        let mut entries = self.wait_for_notifications(alert, 1).await;
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.remove(0)["action_type"].take()
    }
}
