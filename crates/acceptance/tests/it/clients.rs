//! The published clients, unchanged. The programs in `tests/clients` call every method for alerts, watchlists, stocks and users;
//! these tests run them against the service.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::path::Path;

use acceptance::clock::{days_ago, now};
use acceptance::market::{bars, flat};
use acceptance::{ServiceSetup, TestEnvironment, on_both_databases, tools};
use serde_json::json;
use tokio::process::Command;

on_both_databases![the_javascript_client_works, the_python_client_works];

/// Starts a service with AAPL (history and earnings per share) and MSFT, both with a price.
async fn start_service(setup: ServiceSetup) -> TestEnvironment {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL", "MSFT"]).await;
    env.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 210])})).await;
    let known = days_ago(1).to_string();
    env.ingest(json!({"fundamentals": [{"symbol": "AAPL", "as_of": known, "eps_ttm": 5}]}))
        .await;
    for symbol in ["AAPL", "MSFT"] {
        env.quote(symbol, 100.0).await;
    }
    env
}

/// Runs a client program under both path prefixes and asserts that it succeeds.
async fn run(env: &TestEnvironment, program: &Path, script: &str, folder: &Path) {
    for prefix in ["/api/v1", "/v1"] {
        let client = env.account("premium").await.with_prefix(prefix);
        let narrow = env.operator_with_scopes("stocks:read").await;
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
        tools::assert_success(&format!("{script} under {prefix}"), &output);
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(stdout.contains(" passed, 0 failed"), "{stdout}");
    }
    assert!(
        !env.server.log().contains("panicked"),
        "{} at {}",
        env.server.log(),
        now()
    );
}

async fn the_javascript_client_works(setup: ServiceSetup) {
    let folder = tools::repository_root().join("tests/clients/node");
    let install = "install Node.js 18 or later and run `npm ci` in tests/clients/node";
    if !tools::is_file_installed(&folder.join("node_modules/@stockalert/sdk/package.json"), install) {
        return;
    }
    let env = start_service(setup).await;
    run(&env, Path::new("node"), "client.mjs", &folder).await;
}

async fn the_python_client_works(setup: ServiceSetup) {
    let python = tools::python();
    if !tools::is_file_installed(&python.with_file_name("stockalert"), tools::INSTALL_PYTHON) {
        return;
    }
    let env = start_service(setup).await;
    run(
        &env,
        &python,
        "client.py",
        &tools::repository_root().join("tests/clients/python"),
    )
    .await;
}
