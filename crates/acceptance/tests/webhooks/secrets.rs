//! Secrets: in nobody's hands but the owner's and the service's.

use std::path::Path;

use acceptance::{Database, Receiver, Setup, on_both_databases};
use serde_json::json;
use sqlx::{Connection, PgConnection};

use crate::support::{Hook, fire, hook, world};

on_both_databases![
    a_secret_is_noise_in_the_database_and_good_after_a_restart,
    the_headers_are_called_as_the_operator_says,
];

/// All that a database holds of webhooks, with bytes also as hexadecimal digits.
async fn dump(setup: &Setup) -> Vec<u8> {
    match setup.database() {
        Database::Postgres => {
            let mut link = PgConnection::connect(setup.database_url()).await.unwrap();
            let rows = "SELECT CAST(webhooks AS TEXT) || encode(secret, 'escape') FROM webhooks";
            let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&mut link).await.unwrap();
            assert_eq!(rows.len(), 2);
            rows.concat().into_bytes()
        }
        Database::Sqlite => {
            let file = setup.database_url().trim_start_matches("sqlite://");
            // What was written last is in the log beside it.
            let parts = ["", "-wal"].map(|end| std::fs::read(format!("{file}{end}")).unwrap_or_default());
            assert!(!parts[0].is_empty(), "{file} is empty");
            parts.concat()
        }
    }
}

fn contains(all: &[u8], part: &str) -> bool {
    all.windows(part.len()).any(|window| window == part.as_bytes())
}

/// The file with the key of secrets at rest.
fn key_file(setup: &Setup) -> std::path::PathBuf {
    let folder = match setup.database() {
        Database::Sqlite => Path::new(setup.database_url().trim_start_matches("sqlite://")).parent(),
        Database::Postgres => Some(setup.folder()),
    };
    folder.unwrap().join("bellwether.key")
}

async fn a_secret_is_noise_in_the_database_and_good_after_a_restart(setup: Setup) {
    let world = world(setup).await;
    let mut receiver = world.setup.launch_with(&[
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
    let _ = world.me.post("/webhooks", &own).await.ok(201);
    let elsewhere = Receiver::start().await;
    let Hook { secret, .. } = hook(&world, &elsewhere, json!({})).await;
    fire(&world, 150.0).await;

    let all = dump(&world.setup).await;
    assert!(
        contains(&all, &elsewhere.url()),
        "the webhooks are not where they are looked for"
    );
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    for secret in ["an unmistakable secret", &secret, secret.trim_start_matches("whsec_")] {
        assert!(!contains(&all, secret) && !contains(&all, &hex(secret)), "{secret}");
    }
    let file = key_file(&world.setup);
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
    assert_eq!(mode & 0o777, 0o600, "{}", file.display());

    let world = world.restart().await;
    world.quote("AAPL", 100.0).await;
    fire(&world, 160.0).await;
    let (code, told) = receiver.end().await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told.matches("right, over timestamp.body").count(), 2, "{told}");
    assert_eq!(told.matches("right, over id.timestamp.body").count(), 2, "{told}");
}

async fn the_headers_are_called_as_the_operator_says(setup: Setup) {
    let setup = setup
        .set("webhooks.header_prefixes", "X-Acme")
        .set("webhooks.timestamp_format", "epoch_ms");
    let world = world(setup).await;
    let receiver = Receiver::start().await;
    let _hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let received = receiver.wait_for(1).await.remove(0);
    assert_eq!(received.header("x-acme-event"), "alert.triggered");
    assert!(received.header("x-acme-signature").starts_with("sha256="));
    let at: jiff::Timestamp = received.json()["timestamp"].as_str().unwrap().parse().unwrap();
    assert_eq!(received.header("x-acme-timestamp"), at.as_millisecond().to_string());
    assert_eq!(received.header("x-acme-delivery"), received.header("webhook-id"));
    let others = |name: &str| name.starts_with("x-service") || name.starts_with("x-stockalert");
    assert!(!received.headers.iter().any(|(name, _)| others(name)), "{received:?}");
}
