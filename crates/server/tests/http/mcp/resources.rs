//! The resources.

use serde_json::{Value, json};
use service::Scope;

use super::{AGENTS, error_code, message, without_aliases};
use crate::oauth::Stage;
use crate::signing;
use crate::world::{Answer, World};

const GUIDE: &str = "bellwether://guide/conditions";
const EVENTS: &str = "bellwether://events";
const APPLE: &str = "bellwether://stocks/AAPL";

async fn read(world: &World, uri: &str) -> Answer {
    world.rpc(&message("resources/read", json!({"uri": uri}))).await
}

/// The contents of a resource, which are one text.
async fn text(world: &World, uri: &str) -> String {
    let answer = read(world, uri).await.is(200);
    let contents = &answer.body["result"]["contents"][0];
    assert_eq!(contents["uri"], uri, "{answer:?}");
    contents["text"].as_str().unwrap().to_owned()
}

async fn json_of(world: &World, uri: &str) -> Value {
    serde_json::from_str(&text(world, uri).await).unwrap()
}

/// The URIs that are listed, templates last.
async fn listed(world: &World) -> Vec<String> {
    let resources = world.result("resources/list", json!({})).await;
    let templates = world.result("resources/templates/list", json!({})).await;
    let uris = |list: &Value, name: &str| -> Vec<String> {
        let entries = list.as_array().unwrap().iter();
        entries.map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
    };
    let mut all = uris(&resources["resources"], "uri");
    all.extend(uris(&templates["resourceTemplates"], "uriTemplate"));
    all
}

#[tokio::test]
async fn the_guide_explains_every_condition_with_an_example() {
    let guide = text(&World::new().await, GUIDE).await;
    for kind in alerts::ConditionKind::ALL {
        let example = format!(r#""condition":"{}""#, kind.name());
        assert!(guide.contains(&example), "{example}: {guide}");
    }
}

#[tokio::test]
async fn a_stock_is_what_rest_answers_with_fundamentals() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let rest = without_aliases(world.data("/v1/stocks/AAPL?fields=fundamentals").await);
    assert_eq!(rest["last_price"], 189.2);
    for uri in [APPLE, "bellwether://stocks/aapl"] {
        assert_eq!(json_of(&world, uri).await, rest, "{uri}");
    }
}

#[tokio::test]
async fn events_are_the_latest_firings() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    assert_eq!(json_of(&world, EVENTS).await["items"], json!([]));
    let id = world.alert(190).await;
    world.stock_at("AAPL", 191.0).await;
    let events = json_of(&world, EVENTS).await;
    assert_eq!(
        (&events["items"][0]["alert_id"], &events["pagination"]["total"]),
        (&json!(id), &json!(1))
    );
    assert_eq!(
        events["items"][0]["details"]["reason"],
        "price 191.00 is at or above 190.00"
    );
}

#[tokio::test]
async fn unknown_resources_are_not_found() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    for (uri, part) in [
        ("bellwether://stocks/APPL", "AAPL"),
        ("bellwether://stocks/", GUIDE),
        ("bellwether://moon", GUIDE),
        ("https://example.com/", GUIDE),
    ] {
        let answer = read(&world, uri).await.is(200);
        assert_eq!(error_code(&answer), -32002, "{uri}: {answer:?}");
        assert_eq!(answer.body["error"]["data"]["uri"], uri);
        assert!(
            answer.body["error"]["message"].as_str().unwrap().contains(part),
            "{answer:?}"
        );
    }
    let answer = world.rpc(&message("resources/read", json!({}))).await.is(200);
    assert_eq!(error_code(&answer), -32602, "{answer:?}");
}

#[tokio::test]
async fn a_key_lists_and_reads_what_its_scopes_allow() {
    let mut world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    for (scope, uris) in [
        (Scope::WebhooksRead, vec![GUIDE]),
        (Scope::AlertsRead, vec![GUIDE, EVENTS]),
        (Scope::StocksRead, vec![GUIDE, "bellwether://stocks/{symbol}"]),
    ] {
        world.key = world.another_key("operator@example.com", &[scope]).await;
        assert_eq!(listed(&world).await, uris, "{scope:?}");
        for (uri, listed_as) in [
            (GUIDE, GUIDE),
            (EVENTS, EVENTS),
            (APPLE, "bellwether://stocks/{symbol}"),
        ] {
            let answer = read(&world, uri).await;
            let status = if uris.contains(&listed_as) { 200 } else { 403 };
            assert_eq!(answer.status, status, "{scope:?} {uri}: {answer:?}");
            if status == 403 {
                assert!(
                    answer.header("www-authenticate").contains("insufficient_scope"),
                    "{answer:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_app_reads_stocks_with_the_scope_for_alerts() {
    let mut world = signing::world(testkit::Database::sqlite()).await;
    world.stock_at("AAPL", 189.2).await;
    let stage = Stage::on(&world).await;
    for (scope, status) in [(Scope::AlertsRead, 200), (Scope::WatchlistRead, 403)] {
        world.key = stage.tokens(&world, &[scope.name()]).await.access;
        assert_eq!(read(&world, APPLE).await.status, status, "{scope:?}");
    }
}

#[tokio::test]
async fn reading_counts_with_the_accounts_requests() {
    let mut world = World::with(server::Settings {
        limits: server::Limits {
            basic_per_hour: 1,
            ..server::Limits::default()
        },
        ..server::Settings::default()
    })
    .await;
    world.stock_at("AAPL", 189.2).await;
    let mut scopes = AGENTS.to_vec();
    scopes.push(Scope::StocksRead);
    world.key = world
        .account("ann@example.com", alerts::Plan::Basic, false, &scopes)
        .await;
    for uri in [EVENTS, APPLE, GUIDE] {
        let _ = read(&world, uri).await.is(200);
        let answer = read(&world, uri).await;
        assert_eq!((answer.status, error_code(&answer)), (429, -32005), "{uri}: {answer:?}");
    }
}
