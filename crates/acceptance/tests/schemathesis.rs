//! The machine-readable description against the program: schemathesis makes requests of it, sound and unsound, and
//! compares every answer with what the description says.
//!
//! The seed is fixed and the number of examples bounded, so the same program is sent the same requests in every run.
//! `scripts/schemathesis-nightly` runs it with other seeds and more examples: it sets `BELLWETHER_SCHEMATHESIS_SEED` and
//! `BELLWETHER_SCHEMATHESIS_EXAMPLES`.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use acceptance::market::{bars, flat};
use acceptance::{Setup, on_both_databases, tools};
use serde_json::json;
use tokio::process::Command;

on_both_databases![the_program_does_what_its_description_says];

/// How many examples each operation gets, unless the environment says otherwise.
const EXAMPLES: &str = "10";
/// The seed, unless the environment says otherwise.
const SEED: &str = "14";

async fn the_program_does_what_its_description_says(setup: Setup) {
    let program = tools::python().with_file_name("schemathesis");
    if !tools::has_file(&program, tools::INSTALL_PYTHON) {
        return;
    }
    // Its anonymous requests are counted by the address they come from.
    let setup = setup.set("limits.basic_per_hour", "100000000");
    let world = setup.set("limits.premium_per_hour", "100000000").world().await;
    world.stocks(&["AAPL", "MSFT"]).await;
    world.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 30])})).await;
    world.quote("AAPL", 100.0).await;
    let examples = std::env::var("BELLWETHER_SCHEMATHESIS_EXAMPLES").unwrap_or_else(|_| EXAMPLES.to_owned());
    let seed = std::env::var("BELLWETHER_SCHEMATHESIS_SEED");
    // Neither replays findings of an earlier run: only the seed decides which requests are sent.
    let fixed: &[&str] = if seed.is_ok() {
        &["--generation-database", "none"]
    } else {
        &["--generation-deterministic"]
    };
    let output = Command::new(program)
        .env("SCHEMATHESIS_HOOKS", tools::root().join("tests/schemathesis/hooks.py"))
        .arg("--config-file")
        .arg(tools::root().join("tests/schemathesis/schemathesis.toml"))
        .arg("run")
        .arg(format!("{}/openapi.json", world.server.origin))
        .args(["--header", &format!("X-API-Key: {}", world.me.key())])
        .args(["--max-examples", &examples])
        .args(["--seed", seed.as_deref().unwrap_or(SEED)])
        .args(fixed)
        .args(["--workers", "1"])
        // The document in YAML is larger than the part of an answer that schemathesis keeps, and parsing half of it ends the run.
        .args(["--exclude-path", "/openapi.yaml"])
        .args([
            "--suppress-health-check",
            "all",
            "--request-timeout",
            "30",
            "--no-color",
        ])
        .current_dir(world.setup.folder())
        .output()
        .await
        .unwrap();
    tools::must_succeed("schemathesis", &output);
    assert!(!world.server.log().contains("panicked"), "{}", world.server.log());
    let _ = world.me.get("/alerts").await.ok(200);
}
