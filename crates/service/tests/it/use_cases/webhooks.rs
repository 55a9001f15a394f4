//! Webhooks: normalized URLs, signing secrets, and the runtime of deliveries.

use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use alerts::{AlertId, Plan};
use clock::{Clock, ManualClock, Sleep};
use foundation::Actor;
use foundation::Network;
use jiff::{SignedDuration, Timestamp};
use notify::client::WebhookOutcome;
use notify::signature::{SigningSecret, standard};
use serde_json::{Value, json};
use service::ServiceConfig;
use testkit::Database;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::support::{TestApp, above, kind, on_each_database, settings};

on_each_database! {
    url_is_stored_in_normalized_form
    ambiguous_url_is_rejected
    secrets_of_the_last_day_sign_up_to_five
}

fn webhook(url: &str) -> Value {
    json!({"url": url, "events": ["alert.triggered"]})
}

async fn url_is_stored_in_normalized_form(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let made = webhook("HTTPS://93.184.216.34:443/a/../hook?b=%20");
    let made = app.service.webhooks.create_webhook(&ann, &made).await.unwrap().webhook;
    assert_eq!(made.url, "https://93.184.216.34/hook?b=%20");
    let change = json!({"url": "https://93.184.216.34:08443"});
    let changed = app
        .service
        .webhooks
        .update_webhook(&ann, made.id, &change)
        .await
        .unwrap();
    assert_eq!(changed.url, "https://93.184.216.34:8443/");
    assert_eq!(
        app.service.webhooks.webhook(&ann, made.id).await.unwrap().url,
        changed.url
    );
}

async fn ambiguous_url_is_rejected(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let made = webhook("https://93.184.216.34/");
    let made = app.service.webhooks.create_webhook(&ann, &made).await.unwrap().webhook;
    for url in [
        r"https://93.184.216.34\@127.0.0.1/",
        "https://93.184.216.34\t/",
        "https://93.184.55330/",
        "https://93.184.216.34@93.184.216.34/",
    ] {
        let created = app
            .service
            .webhooks
            .create_webhook(&ann, &webhook(url))
            .await
            .unwrap_err();
        let changed = app
            .service
            .webhooks
            .update_webhook(&ann, made.id, &json!({ "url": url }))
            .await;
        let tested = json!({"url": url, "secret": "x"});
        let tested = app.service.webhooks.test_webhook(&ann, &tested).await.unwrap_err();
        for error in [created, changed.unwrap_err(), tested] {
            assert_eq!(kind(&error), "invalid url", "{url}");
        }
    }
}

/// Configuration that allows local receivers and an always open market.
fn local() -> ServiceConfig {
    let mut settings = settings();
    settings.evaluation.calendar = settings.evaluation.calendar.always_open();
    settings.delivery.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()];
    settings
}

/// A received delivery.
struct ReceivedDelivery {
    headers: HashMap<String, String>,
    body: String,
}

/// Receives one delivery.
async fn receive(listener: &TcpListener) -> ReceivedDelivery {
    let take = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut came = Vec::new();
        loop {
            stream.read_buf(&mut came).await.unwrap();
            let text = String::from_utf8(came.clone()).unwrap();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let headers = head.lines().filter_map(|line| line.split_once(": "));
            let headers: HashMap<_, _> = headers
                .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                .collect();
            if body.len() < headers["content-length"].parse().unwrap() {
                continue;
            }
            let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
            stream.write_all(answer).await.unwrap();
            return ReceivedDelivery {
                headers,
                body: body.to_owned(),
            };
        }
    };
    tokio::time::timeout(Duration::from_secs(120), take).await.unwrap()
}

impl ReceivedDelivery {
    fn signatures(&self) -> usize {
        self.headers["webhook-signature"].split(' ').count()
    }

    fn is_signed_with(&self, secret: &str, now: Timestamp) -> bool {
        let (id, timestamp) = (&self.headers["webhook-id"], &self.headers["webhook-timestamp"]);
        let signatures = &self.headers["webhook-signature"];
        let secret = SigningSecret::from_user(secret).unwrap();
        standard::verify(&secret, id, timestamp, signatures, self.body.as_bytes(), now).is_ok()
    }
}

/// Fires a new alert and returns its id.
async fn fire(app: &TestApp, actor: &Actor, threshold: f64) -> AlertId {
    app.quote("AAPL", threshold - 1.0).await;
    let created = app.create(actor, above("AAPL", threshold)).await;
    app.quote("AAPL", threshold).await;
    created.stored.alert.id
}

async fn secrets_of_the_last_day_sign_up_to_five(app: TestApp) {
    let app = app.with_settings(local()).await;
    let ann = app.ann(Plan::Premium).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let made = app.service.webhooks.create_webhook(&ann, &webhook(&url)).await.unwrap();
    let id = made.webhook.id;
    let mut secrets = vec![made.secret];
    let rotate = async || {
        app.service
            .webhooks
            .rotate_webhook_secret(&ann, id)
            .await
            .unwrap()
            .secret
    };
    let mut threshold = 200.0;
    let mut signing = async |secrets: &[String]| {
        threshold += 1.0;
        let alert = fire(&app, &ann, threshold).await.0.to_string();
        // A delivery whose settlement was overtaken by the clock is sent again.
        let arrived = loop {
            let arrived = receive(&listener).await;
            if arrived.body.contains(&alert) {
                break arrived;
            }
        };
        let now = app.clock.now();
        let good: Vec<usize> = (0..secrets.len())
            .filter(|place| arrived.is_signed_with(&secrets[*place], now))
            .collect();
        assert_eq!(arrived.signatures(), good.len());
        good
    };

    secrets.push(rotate().await);
    app.clock.advance(SignedDuration::from_mins(24 * 60 - 1));
    secrets.push(rotate().await);
    assert_eq!(signing(&secrets).await, [0, 1, 2], "two rotations within a day");
    app.clock.advance(SignedDuration::from_mins(1));
    assert_eq!(
        signing(&secrets).await,
        [1, 2],
        "the first secret was replaced a day ago"
    );
    for _ in 0..3 {
        secrets.push(rotate().await);
    }
    assert_eq!(signing(&secrets).await, [1, 2, 3, 4, 5]);
    secrets.push(rotate().await);
    assert_eq!(signing(&secrets).await, [2, 3, 4, 5, 6]);
    app.clock.advance(SignedDuration::from_hours(24));
    assert_eq!(signing(&secrets).await, [6]);
}

/// The manual clock, with real deadlines.
#[derive(Debug)]
struct Deadlines(Arc<ManualClock>);

impl Clock for Deadlines {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn uptime(&self) -> SignedDuration {
        self.0.uptime()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        self.0.sleep_until(at)
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A receiver on its own thread that accepts a connection and never responds.
struct HangingReceiver {
    address: SocketAddr,
    connected: oneshot::Receiver<()>,
    closed: std::sync::mpsc::Receiver<()>,
}

impl HangingReceiver {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_connected, connected) = oneshot::channel();
        let (is_closed, closed) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut piece = [0; 4096];
            assert!(stream.read(&mut piece).unwrap() > 0);
            let _ = is_connected.send(());
            while stream.read(&mut piece).is_ok_and(|count| count > 0) {}
            let _ = is_closed.send(());
        });
        Self {
            address,
            connected,
            closed,
        }
    }

    fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Waits until an attempt is running, then blocks this thread until it has ended.
    async fn block_until_closed(self) {
        self.connected.await.unwrap();
        let closed = self.closed.recv_timeout(Duration::from_secs(120));
        closed.expect("the deadline closes the connection");
    }
}

fn deadline_is_independent_of_service_threads(database: impl Future<Output = Database>) {
    let deliveries = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let rest = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let handle = deliveries.handle().clone();
    rest.block_on(async {
        let mut settings = local();
        settings.delivery.webhooks.timeout = SignedDuration::from_millis(100);
        let network =
            |clock: &Arc<ManualClock>| Network::new(Arc::new(Deadlines(Arc::clone(clock)))).on_runtime(handle);
        let app = TestApp::with_network(database.await, settings, network).await;
        let ann = app.ann(Plan::Premium).await;

        let receiver = HangingReceiver::start();
        let made = app
            .service
            .webhooks
            .create_webhook(&ann, &webhook(&receiver.url()))
            .await;
        made.unwrap();
        fire(&app, &ann, 200.0).await;
        receiver.block_until_closed().await;

        let receiver = HangingReceiver::start();
        let body = json!({"url": receiver.url(), "secret": "x"});
        let (service, actor) = (app.service.clone(), ann.clone());
        let test = tokio::spawn(async move { service.webhooks.test_webhook(&actor, &body).await });
        receiver.block_until_closed().await;
        assert_eq!(test.await.unwrap().unwrap().attempt.outcome, WebhookOutcome::TimedOut);
        app.service.stop().await;
    });
}

#[test]
fn deadline_is_independent_of_service_threads_on_sqlite() {
    deadline_is_independent_of_service_threads(async { Database::sqlite() });
}

#[test]
fn deadline_is_independent_of_service_threads_on_postgresql() {
    deadline_is_independent_of_service_threads(Database::postgres());
}
