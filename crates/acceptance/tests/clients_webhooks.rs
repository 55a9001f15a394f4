//! The published clients' webhooks, unchanged, and the verifiers of Standard Webhooks: every method, and every verifier on
//! deliveries that were really sent. The projects in `tests/clients` are started here with the address of a program that may
//! call this machine.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::path::Path;

use acceptance::market::{bars, flat};
use acceptance::{Setup, World, on_both_databases, tools};
use serde_json::json;
use tokio::process::Command;

on_both_databases![
    the_javascript_client_and_verifiers_take_deliveries,
    the_python_client_and_verifiers_take_deliveries,
];

/// AAPL with history, at 100.
async fn market(setup: Setup) -> World {
    let setup = setup
        .set("webhooks.allow_private_cidrs", "127.0.0.1")
        .set("limits.webhook_test_per_minute", "1000");
    let world = setup.world().await;
    world.stocks(&["AAPL"]).await;
    world.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 210])})).await;
    world.quote("AAPL", 100.0).await;
    world
}

async fn run(world: &World, program: &Path, script: &str, folder: &Path) {
    let client = world.account("premium").await;
    let output = Command::new(program)
        .arg(script)
        .current_dir(folder)
        .env("BASE_URL", client.base())
        .env("API_KEY", client.key())
        .env("OPERATOR_KEY", world.me.key())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .await
        .unwrap();
    tools::must_succeed(script, &output);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains(" passed, 0 failed"), "{told}");
    assert!(!world.server.log().contains("panicked"), "{}", world.server.log());
}

async fn the_javascript_client_and_verifiers_take_deliveries(setup: Setup) {
    let folder = tools::root().join("tests/clients/node");
    let install = "install Node.js 18 or later and run `npm ci` in tests/clients/node";
    if !tools::has_file(&folder.join("node_modules/standardwebhooks/package.json"), install) {
        return;
    }
    let world = market(setup).await;
    run(&world, Path::new("node"), "webhooks.mjs", &folder).await;
}

async fn the_python_client_and_verifiers_take_deliveries(setup: Setup) {
    let python = tools::python();
    if !tools::has_file(&python.with_file_name("stockalert"), tools::INSTALL_PYTHON) {
        return;
    }
    let world = market(setup).await;
    run(
        &world,
        &python,
        "webhooks.py",
        &tools::root().join("tests/clients/python"),
    )
    .await;
}
