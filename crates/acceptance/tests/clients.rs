//! The published clients, unchanged: every method of theirs for alerts, stocks and users is called by the projects in
//! `tests/clients`, which are started here with the address of a program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::path::Path;

use acceptance::clock::{days_ago, now};
use acceptance::market::{bars, flat};
use acceptance::{Setup, World, on_both_databases, tools};
use serde_json::json;
use tokio::process::Command;

on_both_databases![the_javascript_client_works, the_python_client_works];

/// AAPL with history and earnings, MSFT, both with a price.
async fn market(setup: Setup) -> World {
    let world = setup.world().await;
    world.stocks(&["AAPL", "MSFT"]).await;
    world.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 210])})).await;
    let known = days_ago(1).to_string();
    world
        .ingest(json!({"fundamentals": [{"symbol": "AAPL", "as_of": known, "eps_ttm": 5}]}))
        .await;
    for symbol in ["AAPL", "MSFT"] {
        world.quote(symbol, 100.0).await;
    }
    world
}

/// Runs a client's project against the world and shows what it printed if it failed.
async fn run(world: &World, program: &Path, script: &str, folder: &Path) {
    for prefix in ["/api/v1", "/v1"] {
        let client = world.account("premium").await.under(prefix);
        let narrow = world.me_with("stocks:read").await;
        let output = Command::new(program)
            .arg(script)
            .current_dir(folder)
            .env("BASE_URL", client.base())
            .env("API_KEY", client.key())
            .env("NARROW_KEY", narrow.key())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .await
            .unwrap();
        tools::must_succeed(&format!("{script} under {prefix}"), &output);
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains(" passed, 0 failed"), "{told}");
    }
    assert!(
        !world.server.log().contains("panicked"),
        "{} at {}",
        world.server.log(),
        now()
    );
}

async fn the_javascript_client_works(setup: Setup) {
    let folder = tools::root().join("tests/clients/node");
    let install = "install Node.js 18 or later and run `npm ci` in tests/clients/node";
    if !tools::has_file(&folder.join("node_modules/@stockalert/sdk/package.json"), install) {
        return;
    }
    let world = market(setup).await;
    run(&world, Path::new("node"), "client.mjs", &folder).await;
}

async fn the_python_client_works(setup: Setup) {
    let python = tools::python();
    if !tools::has_file(&python.with_file_name("stockalert"), tools::INSTALL_PYTHON) {
        return;
    }
    let world = market(setup).await;
    run(
        &world,
        &python,
        "client.py",
        &tools::root().join("tests/clients/python"),
    )
    .await;
}
