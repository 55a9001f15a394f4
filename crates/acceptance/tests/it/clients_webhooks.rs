//! Webhooks with the published clients and the verifiers of Standard Webhooks, unchanged. The programs in `tests/clients` call
//! every method and verify real deliveries; these tests run them against a service that may call this machine.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::path::Path;

use acceptance::market::{bars, flat};
use acceptance::{ServiceSetup, TestEnvironment, on_both_databases, tools};
use serde_json::json;
use tokio::process::Command;

on_both_databases![
    the_javascript_client_and_verifiers_take_deliveries,
    the_python_client_and_verifiers_take_deliveries,
];

/// Starts a service with AAPL at 100, with history.
async fn start_service(setup: ServiceSetup) -> TestEnvironment {
    let setup = setup
        .set("webhooks.allow_private_cidrs", "127.0.0.1")
        .set("limits.webhook_test_per_minute", "1000");
    let env = setup.start_environment().await;
    env.stocks(&["AAPL"]).await;
    env.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 210])})).await;
    env.quote("AAPL", 100.0).await;
    env
}

async fn run(env: &TestEnvironment, program: &Path, script: &str, folder: &Path) {
    let client = env.account("premium").await;
    let output = Command::new(program)
        .arg(script)
        .current_dir(folder)
        .env("BASE_URL", client.base())
        .env("API_KEY", client.key())
        .env("OPERATOR_KEY", env.operator.key())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .await
        .unwrap();
    tools::assert_success(script, &output);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains(" passed, 0 failed"), "{stdout}");
    assert!(!env.server.log().contains("panicked"), "{}", env.server.log());
}

async fn the_javascript_client_and_verifiers_take_deliveries(setup: ServiceSetup) {
    let folder = tools::repository_root().join("tests/clients/node");
    let install = "install Node.js 18 or later and run `npm ci` in tests/clients/node";
    if !tools::is_file_installed(&folder.join("node_modules/standardwebhooks/package.json"), install) {
        return;
    }
    let env = start_service(setup).await;
    run(&env, Path::new("node"), "webhooks.mjs", &folder).await;
}

async fn the_python_client_and_verifiers_take_deliveries(setup: ServiceSetup) {
    let python = tools::python();
    if !tools::is_file_installed(&python.with_file_name("stockalert"), tools::INSTALL_PYTHON) {
        return;
    }
    let env = start_service(setup).await;
    run(
        &env,
        &python,
        "webhooks.py",
        &tools::repository_root().join("tests/clients/python"),
    )
    .await;
}
