//! The processor time from a quote to a settled delivery, compared with bare hyper that signs and posts the same bytes.
//!
//! 20,000 alerts fire at once. Each firing is stored, delivered to one webhook and settled; its email is stored as well.

use std::time::Duration;

use serde_json::json;

use crate::bare_sender;
use crate::goal::at_most;
use crate::load::Load;
use crate::program::Program;
use crate::receiver::Receiver;

const ACCOUNTS: usize = 25;
const ALERTS_PER_ACCOUNT: usize = 800;
const ALERTS: usize = ACCOUNTS * ALERTS_PER_ACCOUNT;

/// Measures one firing of all alerts.
pub(crate) async fn deliveries(program: &Program) {
    let receiver = Receiver::start().await;
    program
        .deliver(&json!({"quotes": [{"symbol": "SEND", "price": 100}]}))
        .await;
    let accounts: Vec<Program> = (0..ACCOUNTS)
        .map(|number| program.account(&format!("webhooks{number}@example.com")))
        .collect();
    for account in &accounts {
        let webhook = json!({"url": receiver.url(), "events": ["alert.triggered"]});
        account.post("/api/v1/webhooks", &webhook).await;
    }
    let load = Load {
        connections: 64,
        requests: ALERTS,
    };
    load.run(0, |number| {
        let body = json!({"symbol": "SEND", "condition": "price_above", "threshold": 200.0 + number as f64 / 1e3});
        accounts[number % ACCOUNTS].post("/api/v1/alerts", &body)
    })
    .await;
    let kept_before = kept(program).await;
    let ours = program
        .cpu_micros_per_request(async {
            program
                .deliver(&json!({"quotes": [{"symbol": "SEND", "price": 1_000}]}))
                .await;
            receiver.wait_for(ALERTS).await;
            while kept(program).await < kept_before + ALERTS as u64 {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            for account in &accounts {
                until_delivered(account).await;
            }
            ALERTS
        })
        .await;
    let theirs = bare_sender::micros_per_delivery(receiver.port(), receiver.body_bytes(), ALERTS);
    println!("deliveries: {ours:.1} µs of processor time a firing, bare {theirs:.1} µs");
    let what = "fired, stored, signed, delivered and settled, with its email";
    let detail = "processor time against bare hyper that signs and posts";
    at_most(6.0, ours / theirs, what, detail);
}

/// Returns the number of emails that are kept instead of sent.
async fn kept(program: &Program) -> u64 {
    program.count("/api/v1/outbox?limit=1").await
}

async fn until_delivered(account: &Program) {
    let webhooks = account.get_json("/api/v1/webhooks").await;
    let webhook = webhooks["data"][0]["id"].as_str().unwrap();
    let path = format!("/api/v1/webhooks/{webhook}/deliveries?status=delivered&limit=1");
    while account.count(&path).await < ALERTS_PER_ACCOUNT as u64 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
