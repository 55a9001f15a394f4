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

const ALERTS: usize = 20_000;

/// Measures one firing of all alerts.
pub(crate) async fn deliveries(program: &Program) {
    let receiver = Receiver::start().await;
    let account = program.account("webhooks@example.com");
    account
        .post(
            "/api/v1/webhooks",
            &json!({"url": receiver.url(), "events": ["alert.triggered"]}),
        )
        .await;
    program
        .deliver(&json!({"quotes": [{"symbol": "SEND", "price": 100}]}))
        .await;
    let load = Load {
        connections: 64,
        requests: ALERTS,
    };
    load.run(0, |number| {
        let body = json!({"symbol": "SEND", "condition": "price_above", "threshold": 200.0 + number as f64 / 1e3});
        account.post("/api/v1/alerts", &body)
    })
    .await;
    let webhook = account.get_json("/api/v1/webhooks").await["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let settled = format!("/api/v1/webhooks/{webhook}/deliveries?status=delivered&limit=1");
    let ours = program
        .cpu_micros_per_request(async {
            program
                .deliver(&json!({"quotes": [{"symbol": "SEND", "price": 1_000}]}))
                .await;
            receiver.wait_for(ALERTS).await;
            while account.count(&settled).await < ALERTS as u64
                || program.count("/api/v1/outbox?limit=1").await < ALERTS as u64
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            ALERTS
        })
        .await;
    let theirs = bare_sender::micros_per_delivery(receiver.port(), receiver.body_bytes(), ALERTS);
    println!("deliveries: {ours:.1} µs of processor time a firing, bare {theirs:.1} µs");
    let what = "fired, stored, signed, delivered and settled, with its email";
    at_most(
        6.0,
        ours / theirs,
        what,
        "processor time against bare hyper that signs and posts",
    );
}
