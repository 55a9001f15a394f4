//! The receivers of docs/webhooks.md: taken from there as they stand, and run on deliveries that are really sent.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use acceptance::clock::wait_for;
use acceptance::{Database, Setup, World, tools};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

const PAGE: &str = include_str!("../../../docs/webhooks.md");

/// The examples in a language: the one without a library, and the one with.
fn examples(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let blocks = PAGE.split(&fence).skip(1);
    let blocks: Vec<_> = blocks.map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2, "docs/webhooks.md has two receivers in {language}");
    blocks
}

/// An example at work.
struct Receiver {
    url: String,
    printed: Arc<Mutex<Vec<String>>>,
    /// Ends with it.
    _child: Child,
}

impl Receiver {
    async fn start(program: &Path, arguments: &[&str], folder: &Path, source: &str, secret: &str) -> Self {
        let port = {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            listener.local_addr().unwrap().port()
        };
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .env("WEBHOOK_SECRET", secret)
            .env("PORT", port.to_string())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(source.as_bytes()).await.unwrap();
        drop(input);
        let printed = Arc::new(Mutex::new(Vec::new()));
        let (lines, into) = (child.stdout.take().unwrap(), Arc::clone(&printed));
        tokio::spawn(async move {
            let mut lines = BufReader::new(lines).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                into.lock().unwrap().push(line);
            }
        });
        let url = format!("http://127.0.0.1:{port}/");
        Self {
            url,
            printed,
            _child: child,
        }
    }

    fn printed(&self) -> Vec<String> {
        self.printed.lock().unwrap().clone()
    }

    /// Waits until it listens, and sees that it takes nothing from strangers.
    async fn refuses_strangers(&self) {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let forged = || {
            let request = client
                .post(&self.url)
                .header("X-Service-Timestamp", "2026-03-02T15:04:00.000Z");
            let request = request.header("X-Service-Signature", format!("sha256={}", "0".repeat(64)));
            let request = request
                .header("webhook-id", "1")
                .header("webhook-timestamp", "1772463840");
            request.header("webhook-signature", "v1,AAAA").body(r#"{"id":"1"}"#)
        };
        let status = wait_for("the receiver", || async {
            let answer = forged().send().await.ok()?;
            Some(answer.status().as_u16())
        });
        assert_eq!(status.await, 401);
        let unsigned = client.post(&self.url).body("{}").send().await.unwrap();
        assert_eq!(unsigned.status(), 401);
    }
}

/// It takes what fires, and nothing twice.
async fn takes_deliveries_once(world: &World, receiver: &Receiver, secret: &str) {
    receiver.refuses_strangers().await;
    let body = json!({"url": receiver.url, "events": ["alert.triggered"], "secret": secret});
    let hook = world.me.post("/webhooks", &body).await.ok(201).id();
    for (place, price) in [150.0, 198.66].into_iter().enumerate() {
        let alert = json!({"symbol": "AAPL", "condition": "price_above", "threshold": price});
        let _ = world.me.post("/alerts", &alert).await.ok(201);
        world.quote("AAPL", price).await;
        world.quote("AAPL", 100.0).await;
        wait_for("a line", || async { receiver.printed().get(place).cloned() }).await;
        delivered(world, &hook, place + 1).await;
    }
    let deliveries = world.me.get(&format!("/webhooks/{hook}/deliveries")).await.ok(200);
    let first = deliveries.items()[1]["id"].as_str().unwrap().to_owned();
    let resend = format!("/webhooks/{hook}/deliveries/{first}/resend");
    let _ = world.me.post_empty(&resend).await.ok(200);
    delivered(world, &hook, 3).await;
    assert_eq!(
        receiver.printed(),
        [
            "AAPL: price 150.00 is at or above 150.00",
            "AAPL: price 198.66 is at or above 198.66"
        ]
    );
    let _ = world.me.delete(&format!("/webhooks/{hook}")).await.ok(200);
    let alerts = world.me.get("/alerts").await.ok(200);
    for alert in alerts.items() {
        let path = format!("/alerts/{}", alert["id"].as_str().unwrap());
        let _ = world.me.delete(&path).await.ok(200);
    }
}

/// Waits until there were so many attempts, and all of them good.
async fn delivered(world: &World, hook: &str, attempts: usize) {
    wait_for("the attempts", || async {
        let answer = world.me.get(&format!("/webhooks/{hook}/deliveries")).await.ok(200);
        let all = answer
            .items()
            .iter()
            .flat_map(|one| one["attempts"].as_array().unwrap());
        let all: Vec<_> = all.cloned().collect();
        assert!(all.iter().all(|attempt| attempt["http_status"] == 204), "{answer}");
        (all.len() == attempts).then_some(())
    })
    .await;
}

async fn work(language: &str, program: PathBuf, arguments: &[&str], folder: &str) {
    let setup = Setup::on(Database::Sqlite).await;
    let world = setup
        .set("webhooks.allow_private_cidrs", "127.0.0.1")
        .set("webhooks.retry_delays", "100ms")
        .world()
        .await;
    world.stock_at("AAPL", 100.0).await;
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
    for source in examples(language) {
        let folder = tools::root().join(folder);
        let receiver = Receiver::start(&program, arguments, &folder, source, secret).await;
        takes_deliveries_once(&world, &receiver, secret).await;
    }
}

#[tokio::test]
async fn the_javascript_receivers_of_the_documentation_work() {
    let library = tools::root().join("tests/clients/node/node_modules/standardwebhooks/package.json");
    let install = "install Node.js 18 or later and run `npm ci` in tests/clients/node";
    if tools::has_file(&library, install) {
        work("js", "node".into(), &["--input-type=module", "-"], "tests/clients/node").await;
    }
}

#[tokio::test]
async fn the_python_receivers_of_the_documentation_work() {
    let python = tools::python();
    if tools::has_file(&python.with_file_name("stockalert"), tools::INSTALL_PYTHON) {
        work("python", python, &["-"], "tests/clients/python").await;
    }
}
