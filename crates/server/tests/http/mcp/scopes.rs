//! Every tool by every set of scopes: what is declared is what is asked for, of keys and of what people allowed alike.

use serde_json::json;
use service::Scope;

use super::{AGENTS, call_of, error_code};
use crate::oauth::Stage;
use crate::signing;
use crate::world::World;

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

/// All sets of an agent's scopes, the empty one first.
fn subsets() -> impl Iterator<Item = Vec<Scope>> {
    (0..16_usize).map(|subset| {
        (0..AGENTS.len())
            .filter(|bit| subset & (1 << bit) != 0)
            .map(|bit| AGENTS[bit])
            .collect()
    })
}

/// Calls every tool with what the world shows, which has these scopes.
async fn every_tool_asks_for_its_own(world: &World, scopes: &[Scope]) {
    for (tool, scope) in TOOLS {
        let answer = world.rpc(&call_of(tool, json!({}))).await;
        if scopes.contains(&scope) {
            assert_eq!(answer.status, 200, "{tool} with {scopes:?}: {answer:?}");
            assert!(!answer.text.contains("scope"), "{tool} with {scopes:?}: {answer:?}");
            continue;
        }
        assert_eq!(
            (answer.status, error_code(&answer)),
            (403, -32003),
            "{tool} with {scopes:?}: {answer:?}"
        );
        let challenge = answer.header("www-authenticate");
        let needed = format!("scope=\"{}\"", scope.name());
        assert!(
            challenge.contains("error=\"insufficient_scope\"") && challenge.contains(&needed),
            "{challenge}"
        );
    }
    let listed = world.result("tools/list", json!({})).await;
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
async fn a_key_needs_the_very_scope_of_the_tool_and_no_other() {
    let mut world = World::new().await;
    for mut scopes in subsets() {
        // A key has at least one scope; this one opens nothing here.
        scopes.push(Scope::WebhooksRead);
        world.key = world.another_key("operator@example.com", &scopes).await;
        every_tool_asks_for_its_own(&world, &scopes).await;
    }
}

#[tokio::test]
async fn a_program_needs_the_very_scope_of_the_tool_and_no_other() {
    let mut world = signing::world(testkit::Database::sqlite()).await;
    let stage = Stage::on(&world).await;
    // Nobody allows nothing.
    for scopes in subsets().skip(1) {
        let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
        let tokens = stage.tokens(&world, &names).await;
        assert_eq!(tokens.scope, names.join(" "));
        world.key = tokens.access;
        every_tool_asks_for_its_own(&world, &scopes).await;
    }
}
