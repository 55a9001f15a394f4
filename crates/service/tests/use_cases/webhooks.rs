//! Webhooks: in which form their URLs are kept, with which secrets deliveries are signed, and on which threads they are sent.

use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use alerts::Plan;
use jiff::{SignedDuration, Timestamp};
use notify::client::WebhookOutcome;
use notify::signature::{SigningSecret, standard};
use notify::time::{Sleep, Time};
use serde_json::{Value, json};
use service::webhooks::Network;
use service::{Actor, Clock, Settings};
use sources::ManualClock;
use testkit::Database;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::support::{World, above, kind, on_each_database, settings};

on_each_database! {
    a_url_is_kept_and_shown_in_its_normal_form
    a_url_that_programs_read_differently_is_refused
    all_secrets_of_the_last_day_sign_and_five_at_most
}

fn webhook(url: &str) -> Value {
    json!({"url": url, "events": ["alert.triggered"]})
}

async fn a_url_is_kept_and_shown_in_its_normal_form(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let made = webhook("HTTPS://93.184.216.34:443/a/../hook?b=%20");
    let made = world
        .service
        .webhooks
        .create_webhook(&ann, &made)
        .await
        .unwrap()
        .webhook;
    assert_eq!(made.url, "https://93.184.216.34/hook?b=%20");
    let change = json!({"url": "https://93.184.216.34:08443"});
    let changed = world
        .service
        .webhooks
        .update_webhook(&ann, made.id, &change)
        .await
        .unwrap();
    assert_eq!(changed.url, "https://93.184.216.34:8443/");
    assert_eq!(
        world.service.webhooks.webhook(&ann, made.id).await.unwrap().url,
        changed.url
    );
}

async fn a_url_that_programs_read_differently_is_refused(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let made = webhook("https://93.184.216.34/");
    let made = world
        .service
        .webhooks
        .create_webhook(&ann, &made)
        .await
        .unwrap()
        .webhook;
    for url in [
        r"https://93.184.216.34\@127.0.0.1/",
        "https://93.184.216.34\t/",
        "https://93.184.55330/",
        "https://93.184.216.34@93.184.216.34/",
    ] {
        let created = world
            .service
            .webhooks
            .create_webhook(&ann, &webhook(url))
            .await
            .unwrap_err();
        let changed = world
            .service
            .webhooks
            .update_webhook(&ann, made.id, &json!({ "url": url }))
            .await;
        let tested = json!({"url": url, "secret": "x"});
        let tested = world.service.webhooks.test_webhook(&ann, &tested).await.unwrap_err();
        for error in [created, changed.unwrap_err(), tested] {
            assert_eq!(kind(&error), "invalid url", "{url}");
        }
    }
}

/// Settings with which this machine may be called, and alerts fire on any day.
fn local() -> Settings {
    let mut settings = settings();
    settings.calendar = settings.calendar.always_open();
    settings.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()];
    settings
}

/// A delivery as it arrived.
struct Arrived {
    headers: HashMap<String, String>,
    body: String,
}

/// Takes one delivery.
async fn arrive(listener: &TcpListener) -> Arrived {
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
            return Arrived {
                headers,
                body: body.to_owned(),
            };
        }
    };
    tokio::time::timeout(Duration::from_secs(120), take).await.unwrap()
}

impl Arrived {
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

/// Lets an alert fire that has not fired before.
async fn fire(world: &World, actor: &Actor, threshold: f64) {
    world.quote("AAPL", threshold - 1.0).await;
    let _ = world.create(actor, above("AAPL", threshold)).await;
    world.quote("AAPL", threshold).await;
}

async fn all_secrets_of_the_last_day_sign_and_five_at_most(world: World) {
    let world = world.with_settings(local()).await;
    let ann = world.ann(Plan::Premium).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let made = world
        .service
        .webhooks
        .create_webhook(&ann, &webhook(&url))
        .await
        .unwrap();
    let id = made.webhook.id;
    let mut secrets = vec![made.secret];
    let rotate = async || {
        world
            .service
            .webhooks
            .rotate_webhook_secret(&ann, id)
            .await
            .unwrap()
            .secret
    };
    let mut threshold = 200.0;
    let mut signing = async |secrets: &[String]| {
        threshold += 1.0;
        fire(&world, &ann, threshold).await;
        let arrived = arrive(&listener).await;
        let now = world.clock.now();
        let good: Vec<usize> = (0..secrets.len())
            .filter(|place| arrived.is_signed_with(&secrets[*place], now))
            .collect();
        assert_eq!(arrived.signatures(), good.len());
        good
    };

    secrets.push(rotate().await);
    world.clock.advance(SignedDuration::from_mins(24 * 60 - 1));
    secrets.push(rotate().await);
    assert_eq!(signing(&secrets).await, [0, 1, 2], "two rotations within a day");
    world.clock.advance(SignedDuration::from_mins(1));
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
    world.clock.advance(SignedDuration::from_hours(24));
    assert_eq!(signing(&secrets).await, [6]);
}

/// The clock of a world, with deadlines of the machine's.
#[derive(Debug)]
struct Deadlines(Arc<ManualClock>);

impl Time for Deadlines {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        self.0.sleep_until(at)
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A receiver on a thread of its own that takes a connection and never answers.
struct Hanging {
    address: SocketAddr,
    connected: oneshot::Receiver<()>,
    closed: std::sync::mpsc::Receiver<()>,
}

impl Hanging {
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

    /// Waits until an attempt is under way, and then lets nothing on this thread go on until it has ended.
    async fn block_until_closed(self) {
        self.connected.await.unwrap();
        let closed = self.closed.recv_timeout(Duration::from_secs(120));
        closed.expect("the deadline closes the connection");
    }
}

fn a_deadline_does_not_wait_for_the_threads_of_the_service(database: impl Future<Output = Database>) {
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
        settings.webhooks.timeout = SignedDuration::from_millis(100);
        let network = |clock: &Arc<ManualClock>| Network::of(Arc::new(Deadlines(Arc::clone(clock)))).on(handle);
        let world = World::with_network(database.await, settings, network).await;
        let ann = world.ann(Plan::Premium).await;

        let receiver = Hanging::start();
        let made = world
            .service
            .webhooks
            .create_webhook(&ann, &webhook(&receiver.url()))
            .await;
        made.unwrap();
        fire(&world, &ann, 200.0).await;
        receiver.block_until_closed().await;

        let receiver = Hanging::start();
        let body = json!({"url": receiver.url(), "secret": "x"});
        let (service, actor) = (world.service.clone(), ann.clone());
        let test = tokio::spawn(async move { service.webhooks.test_webhook(&actor, &body).await });
        receiver.block_until_closed().await;
        assert_eq!(test.await.unwrap().unwrap().attempt.outcome, WebhookOutcome::TimedOut);
        world.service.stop().await;
    });
}

#[test]
fn a_deadline_does_not_wait_for_the_threads_of_the_service_on_sqlite() {
    a_deadline_does_not_wait_for_the_threads_of_the_service(async { Database::sqlite() });
}

#[test]
fn a_deadline_does_not_wait_for_the_threads_of_the_service_on_postgresql() {
    a_deadline_does_not_wait_for_the_threads_of_the_service(Database::postgres());
}
