//! A strict OAuth client of other people's, unchanged, and a browser without scripts: `tests/clients/node/oauth.mjs` is started
//! here with the address of a program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use acceptance::{Setup, on_both_databases, tools};
use tokio::process::Command;

on_both_databases![a_strict_client_connects_renews_and_gives_back];

async fn a_strict_client_connects_renews_and_gives_back(setup: Setup) {
    let folder = tools::root().join("tests/clients/node");
    let install = "install Node.js 20 or later and run `npm ci` in tests/clients/node";
    if !tools::has_file(&folder.join("node_modules/oauth4webapi/package.json"), install) {
        return;
    }
    let setup = setup.set("limits.login_per_minute", "1000");
    setup.create_user("ann@example.com", "basic", &[]).await;
    let world = setup.world().await;
    let output = Command::new("node")
        .arg("oauth.mjs")
        .current_dir(&folder)
        .env("ORIGIN", &world.server.origin)
        .env("EMAIL", "ann@example.com")
        .env("PASSWORD", "correct horse")
        .output()
        .await
        .unwrap();
    tools::must_succeed("oauth.mjs", &output);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains(" passed, 0 failed"), "{told}");
    let log = world.server.log();
    assert!(!log.contains("panicked"), "{log}");
    for secret in ["mcp_at_", "mcp_rt_", "code=", "code_challenge"] {
        assert!(!log.contains(secret), "{secret} is in the log: {log}");
    }
}
