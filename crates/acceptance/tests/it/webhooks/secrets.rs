//! Webhook secrets are visible to their owner only.

use std::path::Path;

use acceptance::{DatabaseKind, ScriptedServer, ServiceSetup, on_both_databases};
use serde_json::json;
use sqlx::{Connection, PgConnection};

use crate::webhooks::support::{CreatedWebhook, create_webhook, fire_alert, start_environment};

on_both_databases![
    secrets_are_encrypted_at_rest_and_work_after_restart,
    header_names_and_timestamp_format_are_configurable,
];

/// Returns the stored webhooks, with binary columns also as hexadecimal digits.
async fn dump(setup: &ServiceSetup) -> Vec<u8> {
    match setup.database() {
        DatabaseKind::Postgres => {
            let mut connection = PgConnection::connect(setup.database_url()).await.unwrap();
            let rows = "SELECT CAST(webhooks AS TEXT) || encode(secret, 'escape') FROM webhooks";
            let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&mut connection).await.unwrap();
            assert_eq!(rows.len(), 2);
            rows.concat().into_bytes()
        }
        DatabaseKind::Sqlite => {
            let file = setup.database_url().trim_start_matches("sqlite://");
            // The latest writes are in the write-ahead log.
            let parts = ["", "-wal"].map(|end| std::fs::read(format!("{file}{end}")).unwrap_or_default());
            assert!(!parts[0].is_empty(), "{file} is empty");
            parts.concat()
        }
    }
}

fn contains(stored: &[u8], part: &str) -> bool {
    stored.windows(part.len()).any(|window| window == part.as_bytes())
}

/// Returns the path of the encryption key for secrets at rest.
fn key_file(setup: &ServiceSetup) -> std::path::PathBuf {
    let folder = match setup.database() {
        DatabaseKind::Sqlite => Path::new(setup.database_url().trim_start_matches("sqlite://")).parent(),
        DatabaseKind::Postgres => Some(setup.folder()),
    };
    folder.unwrap().join("bellwether.key")
}

async fn secrets_are_encrypted_at_rest_and_work_after_restart(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let mut receiver = env.setup.launch_with(&[
        "listen",
        "--port",
        "0",
        "--count",
        "2",
        "--json",
        "--secret",
        "an unmistakable secret",
    ]);
    let url = format!("http://{}/", receiver.address().await);
    let own = json!({"url": url, "events": ["alert.triggered"], "secret": "an unmistakable secret"});
    let _ = env.operator.post("/webhooks", &own).await.expect_ok(201);
    let elsewhere = ScriptedServer::start().await;
    let CreatedWebhook { secret, .. } = create_webhook(&env, &elsewhere, json!({})).await;
    fire_alert(&env, 150.0).await;

    let stored = dump(&env.setup).await;
    assert!(
        contains(&stored, &elsewhere.url()),
        "the dump does not contain the webhooks"
    );
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    for secret in ["an unmistakable secret", &secret, secret.trim_start_matches("whsec_")] {
        assert!(
            !contains(&stored, secret) && !contains(&stored, &hex(secret)),
            "{secret}"
        );
    }
    let file = key_file(&env.setup);
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
    assert_eq!(mode & 0o777, 0o600, "{}", file.display());

    let env = env.restart().await;
    env.quote("AAPL", 100.0).await;
    fire_alert(&env, 160.0).await;
    let (code, output) = receiver.wait_for_exit().await;
    assert_eq!(code, Some(0), "{output}");
    assert_eq!(output.matches("right, over timestamp.body").count(), 2, "{output}");
    assert_eq!(output.matches("right, over id.timestamp.body").count(), 2, "{output}");
}

async fn header_names_and_timestamp_format_are_configurable(setup: ServiceSetup) {
    let setup = setup
        .set("webhooks.header_prefixes", "X-Acme")
        .set("webhooks.timestamp_format", "epoch_ms");
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::start().await;
    let _webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let received = receiver.wait_for_requests(1).await.remove(0);
    assert_eq!(received.header("x-acme-event"), "alert.triggered");
    assert!(received.header("x-acme-signature").starts_with("sha256="));
    let at: jiff::Timestamp = received.json()["timestamp"].as_str().unwrap().parse().unwrap();
    assert_eq!(received.header("x-acme-timestamp"), at.as_millisecond().to_string());
    assert_eq!(received.header("x-acme-delivery"), received.header("webhook-id"));
    let others = |name: &str| name.starts_with("x-service") || name.starts_with("x-stockalert");
    assert!(!received.headers.iter().any(|(name, _)| others(name)), "{received:?}");
}
