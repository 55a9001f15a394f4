//! The example receivers in docs/webhooks.md, extracted unchanged and run on real deliveries.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use acceptance::clock::wait_for;
use acceptance::{DatabaseKind, ServiceSetup, TestEnvironment, tools};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

const PAGE: &str = include_str!("../../../../docs/webhooks.md");

/// Returns the two examples in a language: without a library and with one.
fn examples(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let blocks = PAGE.split(&fence).skip(1);
    let blocks: Vec<_> = blocks.map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2, "docs/webhooks.md has two receivers in {language}");
    blocks
}

/// A running example receiver.
struct ExampleReceiver {
    url: String,
    printed: Arc<Mutex<Vec<String>>>,
    /// Killed on drop.
    _child: Child,
}

impl ExampleReceiver {
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
        let (lines, sink) = (child.stdout.take().unwrap(), Arc::clone(&printed));
        tokio::spawn(async move {
            let mut lines = BufReader::new(lines).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                sink.lock().unwrap().push(line);
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

    /// Waits until the receiver listens, and asserts that it rejects forged and unsigned requests.
    async fn rejects_forged_requests(&self) {
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
            let response = forged().send().await.ok()?;
            Some(response.status().as_u16())
        });
        assert_eq!(status.await, 401);
        let unsigned = client.post(&self.url).body("{}").send().await.unwrap();
        assert_eq!(unsigned.status(), 401);
    }
}

/// Asserts that the receiver accepts each delivery and ignores a repeated one.
async fn accepts_each_delivery_once(env: &TestEnvironment, receiver: &ExampleReceiver, secret: &str) {
    receiver.rejects_forged_requests().await;
    let body = json!({"url": receiver.url, "events": ["alert.triggered"], "secret": secret});
    let webhook = env.operator.post("/webhooks", &body).await.expect_ok(201).id();
    for (index, price) in [150.0, 198.66].into_iter().enumerate() {
        let alert = json!({"symbol": "AAPL", "condition": "price_above", "threshold": price});
        let _ = env.operator.post("/alerts", &alert).await.expect_ok(201);
        env.quote("AAPL", price).await;
        env.quote("AAPL", 100.0).await;
        wait_for("a line", || async { receiver.printed().get(index).cloned() }).await;
        wait_for_attempts(env, &webhook, index + 1).await;
    }
    let deliveries = env
        .operator
        .get(&format!("/webhooks/{webhook}/deliveries"))
        .await
        .expect_ok(200);
    let first = deliveries.items()[1]["id"].as_str().unwrap().to_owned();
    let resend = format!("/webhooks/{webhook}/deliveries/{first}/resend");
    let _ = env.operator.post_empty(&resend).await.expect_ok(200);
    wait_for_attempts(env, &webhook, 3).await;
    assert_eq!(
        receiver.printed(),
        [
            "AAPL: price 150.00 is at or above 150.00",
            "AAPL: price 198.66 is at or above 198.66"
        ]
    );
    let _ = env
        .operator
        .delete(&format!("/webhooks/{webhook}"))
        .await
        .expect_ok(200);
    let alerts = env.operator.get("/alerts").await.expect_ok(200);
    for alert in alerts.items() {
        let path = format!("/alerts/{}", alert["id"].as_str().unwrap());
        let _ = env.operator.delete(&path).await.expect_ok(200);
    }
}

/// Waits until there were `attempts` delivery attempts, and asserts that all succeeded.
async fn wait_for_attempts(env: &TestEnvironment, webhook: &str, attempts: usize) {
    wait_for("the attempts", || async {
        let response = env
            .operator
            .get(&format!("/webhooks/{webhook}/deliveries"))
            .await
            .expect_ok(200);
        let all = response
            .items()
            .iter()
            .flat_map(|one| one["attempts"].as_array().unwrap());
        let all: Vec<_> = all.cloned().collect();
        assert!(all.iter().all(|attempt| attempt["http_status"] == 204), "{response}");
        (all.len() == attempts).then_some(())
    })
    .await;
}

async fn run_examples(language: &str, program: PathBuf, arguments: &[&str], folder: &str) {
    let setup = ServiceSetup::on(DatabaseKind::Sqlite).await;
    let env = setup
        .set("webhooks.allow_private_cidrs", "127.0.0.1")
        .set("webhooks.retry_delays", "100ms")
        .start_environment()
        .await;
    env.stock_at("AAPL", 100.0).await;
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
    for source in examples(language) {
        let folder = tools::repository_root().join(folder);
        let receiver = ExampleReceiver::start(&program, arguments, &folder, source, secret).await;
        accepts_each_delivery_once(&env, &receiver, secret).await;
    }
}

#[tokio::test]
async fn the_javascript_receivers_of_the_documentation_work() {
    let library = tools::repository_root().join("tests/clients/node/node_modules/standardwebhooks/package.json");
    let install = "install Node.js 18 or later and run `npm ci` in tests/clients/node";
    if tools::is_file_installed(&library, install) {
        run_examples("js", "node".into(), &["--input-type=module", "-"], "tests/clients/node").await;
    }
}

#[tokio::test]
async fn the_python_receivers_of_the_documentation_work() {
    let python = tools::python();
    if tools::is_file_installed(&python.with_file_name("stockalert"), tools::INSTALL_PYTHON) {
        run_examples("python", python, &["-"], "tests/clients/python").await;
    }
}
