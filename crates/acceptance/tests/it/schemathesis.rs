//! Comparison of the service with its OpenAPI document: schemathesis generates valid and invalid requests from the document and
//! compares every response with it.
//!
//! The seed is fixed and the number of examples is bounded, so every run sends the same requests to the same version. On PostgreSQL it
//! sends random requests only, unless the seed is set.
//! `scripts/schemathesis-nightly` runs it with other seeds and more examples: it sets `BELLWETHER_SCHEMATHESIS_SEED` and
//! `BELLWETHER_SCHEMATHESIS_EXAMPLES`.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use acceptance::market::{bars, flat};
use acceptance::{DatabaseKind, ServiceSetup, on_both_databases, tools};
use serde_json::json;
use tokio::process::Command;

on_both_databases![service_conforms_to_its_openapi_document];

/// Examples for each operation, unless the environment overrides it.
const DEFAULT_EXAMPLES: &str = "10";
/// Random seed, unless the environment overrides it.
const DEFAULT_SEED: &str = "14";

async fn service_conforms_to_its_openapi_document(setup: ServiceSetup) {
    let program = tools::python().with_file_name("schemathesis");
    if !tools::is_file_installed(&program, tools::INSTALL_PYTHON) {
        return;
    }
    let setup_database = setup.database();
    // The service counts anonymous requests by client address.
    let setup = setup.set("limits.basic_per_hour", "100000000");
    let env = setup
        .set("limits.premium_per_hour", "100000000")
        // Otherwise the answer to a request would depend on how many there were within a minute.
        .set("limits.webhook_test_per_minute", "1000000")
        .start_environment()
        .await;
    env.stocks(&["AAPL", "MSFT"]).await;
    env.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 30])})).await;
    env.quote("AAPL", 100.0).await;
    let examples = std::env::var("BELLWETHER_SCHEMATHESIS_EXAMPLES").unwrap_or_else(|_| DEFAULT_EXAMPLES.to_owned());
    let seed = std::env::var("BELLWETHER_SCHEMATHESIS_SEED");
    // Both options prevent the replay of earlier findings: only the seed decides which requests are sent.
    let fixed: &[&str] = if seed.is_ok() {
        &["--generation-database", "none"]
    } else {
        &["--generation-deterministic"]
    };
    // The other phases send the same requests each time, most of which are refused before the database is asked.
    let phases = match (&seed, setup_database) {
        (Err(_), DatabaseKind::Postgres) => "fuzzing",
        _ => "examples,coverage,fuzzing,stateful",
    };
    let folder = tools::repository_root().join("tests/schemathesis");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let mut config = read("schemathesis.toml");
    if seed.is_err() {
        config += &read("short.toml");
    }
    let config_file = env.setup.folder().join("schemathesis.toml");
    std::fs::write(&config_file, config).unwrap();
    let output = Command::new(program)
        .env("SCHEMATHESIS_HOOKS", folder.join("hooks.py"))
        .arg("--config-file")
        .arg(config_file)
        .arg("run")
        .arg(format!("{}/openapi.json", env.server.origin))
        .args(["--header", &format!("X-API-Key: {}", env.operator.key())])
        .args(["--phases", phases])
        .args(["--max-examples", &examples])
        .args(["--seed", seed.as_deref().unwrap_or(DEFAULT_SEED)])
        .args(fixed)
        .args(["--workers", "1"])
        // The YAML document is larger than the part of a response that schemathesis keeps; parsing a part of it aborts the run.
        .args(["--exclude-path", "/openapi.yaml"])
        .args([
            "--suppress-health-check",
            "all",
            "--request-timeout",
            "30",
            "--no-color",
        ])
        .current_dir(env.setup.folder())
        .output()
        .await
        .unwrap();
    tools::assert_success("schemathesis", &output);
    assert!(!env.server.log().contains("panicked"), "{}", env.server.log());
    let _ = env.operator.get("/alerts").await.expect_ok(200);
}
