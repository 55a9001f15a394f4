//! A strict third-party OAuth client, unchanged, and a browser without scripts: this test runs `tests/clients/node/oauth.mjs`
//! against the service.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use acceptance::{ServiceSetup, on_both_databases, tools};
use tokio::process::Command;

on_both_databases![strict_client_authorizes_refreshes_and_revokes];

async fn strict_client_authorizes_refreshes_and_revokes(setup: ServiceSetup) {
    let folder = tools::repository_root().join("tests/clients/node");
    let install = "install Node.js 20 or later and run `npm ci` in tests/clients/node";
    if !tools::is_file_installed(&folder.join("node_modules/oauth4webapi/package.json"), install) {
        return;
    }
    let setup = setup.set("limits.login_per_minute", "1000");
    setup.create_user("ann@example.com", "basic", &[]).await;
    let env = setup.start_environment().await;
    let output = Command::new("node")
        .arg("oauth.mjs")
        .current_dir(&folder)
        .env("ORIGIN", &env.server.origin)
        .env("EMAIL", "ann@example.com")
        .env("PASSWORD", "correct horse")
        .output()
        .await
        .unwrap();
    tools::assert_success("oauth.mjs", &output);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains(" passed, 0 failed"), "{stdout}");
    let log = env.server.log();
    assert!(!log.contains("panicked"), "{log}");
    for secret in ["mcp_at_", "mcp_rt_", "code=", "code_challenge"] {
        assert!(!log.contains(secret), "{secret} is in the log: {log}");
    }
}
