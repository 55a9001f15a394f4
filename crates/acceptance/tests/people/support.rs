//! Somebody who signs in, and worlds that send mail.

use acceptance::clock::wait_for;
use acceptance::{Answer, Client, MailServer, Setup, World};
use reqwest::Method;
use serde_json::{Value, json};

/// A world that hands mail to a server, and tries again soon.
pub(crate) fn mailing(setup: Setup, server: &MailServer) -> Setup {
    setup
        .set("server.public_url", "https://alerts.example.com")
        .set("email.transport", "smtp")
        .set("email.smtp_url", &server.url(""))
        .set("email.from", "Bellwether <alerts@example.com>")
        .set("email.retry_delays", "200ms,200ms")
        .set("limits.login_per_minute", "1000")
}

/// Somebody who has signed in.
pub(crate) struct Person {
    client: Client,
    pub(crate) token: String,
}

impl Person {
    /// With an account that was made by an administrator.
    pub(crate) async fn sign_in(world: &World, email: &str, password: &str) -> Self {
        let body = json!({"email": email, "password": password});
        let client = world.server.anybody();
        let answer = client.post("/auth/login", &body).await.ok(200);
        let token = answer.text_of("access_token").to_owned();
        Self { client, token }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path).send().await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) -> Answer {
        self.request(method, path).json(body).send().await
    }

    fn request(&self, method: Method, path: &str) -> acceptance::client::Request {
        let token = format!("Bearer {}", self.token);
        self.client.request(method, path).header("authorization", &token)
    }

    /// Lets a new alert of theirs fire at a price, and answers its id. Before and after, the price is 100.
    pub(crate) async fn fire(&self, world: &World, channel: &str, price: f64) -> String {
        let body = json!({
            "symbol": "AAPL", "condition": "price_above", "threshold": price, "notification": channel,
        });
        let id = self.send(Method::POST, "/alerts", &body).await.ok(201).id();
        world.quote("AAPL", price).await;
        world.quote("AAPL", 100.0).await;
        id
    }

    /// What the history of an alert says of notifications, oldest first, once there is so much.
    pub(crate) async fn notified(&self, alert: &str, count: usize) -> Vec<Value> {
        wait_for(&format!("{count} notifications of {alert}"), || async {
            let history = self.get(&format!("/alerts/{alert}/history?limit=200")).await.ok(200);
            let is_told = |entry: &&Value| entry["action_type"].as_str().unwrap().starts_with("notification_");
            let mut told: Vec<Value> = history.items().iter().filter(is_told).cloned().collect();
            told.reverse();
            Some(told).filter(|told| told.len() >= count)
        })
        .await
    }

    /// What the only notification of an alert came to.
    pub(crate) async fn outcome(&self, alert: &str) -> Value {
        let mut told = self.notified(alert, 1).await;
        assert_eq!(told.len(), 1, "{told:?}");
        told.remove(0)["action_type"].take()
    }
}
