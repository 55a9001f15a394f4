//! Every tool with every set of scopes: the declared scope is the required one, for API keys and OAuth tokens.

use foundation::Scope;
use serde_json::json;

use super::{AGENTS, call_of, error_code};
use crate::http::identity;
use crate::http::oauth::OAuthFixture;
use crate::http::test_server::TestServer;

const TOOLS: [(&str, Scope); 11] = [
    ("list_alerts", Scope::AlertsRead),
    ("get_alert", Scope::AlertsRead),
    ("list_alert_events", Scope::AlertsRead),
    ("create_alert", Scope::AlertsWrite),
    ("update_alert", Scope::AlertsWrite),
    ("pause_alert", Scope::AlertsWrite),
    ("resume_alert", Scope::AlertsWrite),
    ("delete_alert", Scope::AlertsWrite),
    ("list_watchlist", Scope::WatchlistRead),
    ("create_watchlist_item", Scope::WatchlistWrite),
    ("delete_watchlist_item", Scope::WatchlistWrite),
];

/// Returns all subsets of an agent's scopes, the empty one first.
fn subsets() -> impl Iterator<Item = Vec<Scope>> {
    (0..16_usize).map(|subset| {
        (0..AGENTS.len())
            .filter(|bit| subset & (1 << bit) != 0)
            .map(|bit| AGENTS[bit])
            .collect()
    })
}

/// Calls every tool with a credential that has these scopes.
async fn check_every_tool_scope(server: &TestServer, scopes: &[Scope]) {
    for (tool, scope) in TOOLS {
        let response = server.rpc(&call_of(tool, json!({}))).await;
        if scopes.contains(&scope) {
            assert_eq!(response.status, 200, "{tool} with {scopes:?}: {response:?}");
            assert!(!response.text.contains("scope"), "{tool} with {scopes:?}: {response:?}");
            continue;
        }
        assert_eq!(
            (response.status, error_code(&response)),
            (403, -32003),
            "{tool} with {scopes:?}: {response:?}"
        );
        let challenge = response.header("www-authenticate");
        let needed = format!("scope=\"{}\"", scope.name());
        assert!(
            challenge.contains("error=\"insufficient_scope\"") && challenge.contains(&needed),
            "{challenge}"
        );
    }
    let listed = server.result("tools/list", json!({})).await;
    let listed: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let allowed = TOOLS.iter().filter(|(_, scope)| scopes.contains(scope));
    let allowed: Vec<_> = allowed.map(|(tool, _)| *tool).collect();
    assert_eq!(listed, allowed, "{scopes:?}: a list shows what may be called");
}

#[tokio::test]
async fn key_needs_exactly_the_scope_of_the_tool() {
    let mut server = TestServer::new().await;
    for mut scopes in subsets() {
        // A key has at least one scope. This one permits no tool.
        scopes.push(Scope::WebhooksRead);
        server.key = server.another_key("operator@example.com", &scopes).await;
        check_every_tool_scope(&server, &scopes).await;
    }
}

#[tokio::test]
async fn oauth_client_needs_exactly_the_scope_of_the_tool() {
    let mut server = identity::start_server(testkit::Database::sqlite()).await;
    let fixture = OAuthFixture::on(&server).await;
    // A grant has at least one scope.
    for scopes in subsets().skip(1) {
        let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
        let tokens = fixture.tokens(&server, &names).await;
        assert_eq!(tokens.scope, names.join(" "));
        server.key = tokens.access;
        check_every_tool_scope(&server, &scopes).await;
    }
}
