//! The machine-readable description against the program: schemathesis makes requests of it, sound and unsound, and
//! compares every answer with what the description says.
//!
//! `BELLWETHER_SCHEMATHESIS_EXAMPLES` sets how many examples each operation gets.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use acceptance::market::{bars, flat};
use acceptance::{Setup, on_both_databases, tools};
use serde_json::json;
use tokio::process::Command;

on_both_databases![the_program_does_what_its_description_says];

/// How many examples each operation gets, unless the environment says otherwise.
const EXAMPLES: &str = "25";

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
    let output = Command::new(program)
        .arg("--config-file")
        .arg(tools::root().join("tests/schemathesis/schemathesis.toml"))
        .arg("run")
        .arg(format!("{}/openapi.json", world.server.origin))
        .args(["--header", &format!("X-API-Key: {}", world.me.key())])
        .args(["--max-examples", &examples])
        // The same requests each time: what fails here fails again.
        .arg("--generation-deterministic")
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
