//! The resources.

use foundation::Scope;
use serde_json::{Value, json};

use super::{AGENTS, error_code, message, without_aliases};
use crate::http::identity;
use crate::http::oauth::OAuthFixture;
use crate::http::test_server::{TestResponse, TestServer};

const GUIDE: &str = "bellwether://guide/conditions";
const EVENTS: &str = "bellwether://events";
const APPLE: &str = "bellwether://stocks/AAPL";

async fn read(server: &TestServer, uri: &str) -> TestResponse {
    server.rpc(&message("resources/read", json!({"uri": uri}))).await
}

/// Returns the text of a resource.
async fn text(server: &TestServer, uri: &str) -> String {
    let response = read(server, uri).await.is(200);
    let contents = &response.body["result"]["contents"][0];
    assert_eq!(contents["uri"], uri, "{response:?}");
    contents["text"].as_str().unwrap().to_owned()
}

async fn json_of(server: &TestServer, uri: &str) -> Value {
    serde_json::from_str(&text(server, uri).await).unwrap()
}

/// Returns the listed URIs, templates last.
async fn listed(server: &TestServer) -> Vec<String> {
    let resources = server.result("resources/list", json!({})).await;
    let templates = server.result("resources/templates/list", json!({})).await;
    let uris = |list: &Value, name: &str| -> Vec<String> {
        let entries = list.as_array().unwrap().iter();
        entries.map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
    };
    let mut all = uris(&resources["resources"], "uri");
    all.extend(uris(&templates["resourceTemplates"], "uriTemplate"));
    all
}

#[tokio::test]
async fn guide_has_an_example_for_every_condition() {
    let guide = text(&TestServer::new().await, GUIDE).await;
    for kind in alerts::ConditionKind::ALL {
        let example = format!(r#""condition":"{}""#, kind.name());
        assert!(guide.contains(&example), "{example}: {guide}");
    }
}

#[tokio::test]
async fn stock_matches_the_rest_data_with_fundamentals() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let rest = without_aliases(server.data("/v1/stocks/AAPL?fields=fundamentals").await);
    assert_eq!(rest["last_price"], 189.2);
    for uri in [APPLE, "bellwether://stocks/aapl"] {
        assert_eq!(json_of(&server, uri).await, rest, "{uri}");
    }
}

#[tokio::test]
async fn events_are_the_latest_firings() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    assert_eq!(json_of(&server, EVENTS).await["items"], json!([]));
    let id = server.create_alert(190).await;
    server.set_price("AAPL", 191.0).await;
    let events = json_of(&server, EVENTS).await;
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
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    for (uri, part) in [
        ("bellwether://stocks/APPL", "AAPL"),
        ("bellwether://stocks/", GUIDE),
        ("bellwether://moon", GUIDE),
        ("https://example.com/", GUIDE),
    ] {
        let response = read(&server, uri).await.is(200);
        assert_eq!(error_code(&response), -32002, "{uri}: {response:?}");
        assert_eq!(response.body["error"]["data"]["uri"], uri);
        assert!(
            response.body["error"]["message"].as_str().unwrap().contains(part),
            "{response:?}"
        );
    }
    let response = server.rpc(&message("resources/read", json!({}))).await.is(200);
    assert_eq!(error_code(&response), -32602, "{response:?}");
}

#[tokio::test]
async fn key_lists_and_reads_resources_of_its_scopes() {
    let mut server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    for (scope, uris) in [
        (Scope::WebhooksRead, vec![GUIDE]),
        (Scope::AlertsRead, vec![GUIDE, EVENTS]),
        (Scope::StocksRead, vec![GUIDE, "bellwether://stocks/{symbol}"]),
    ] {
        server.key = server.another_key("operator@example.com", &[scope]).await;
        assert_eq!(listed(&server).await, uris, "{scope:?}");
        for (uri, listed_as) in [
            (GUIDE, GUIDE),
            (EVENTS, EVENTS),
            (APPLE, "bellwether://stocks/{symbol}"),
        ] {
            let response = read(&server, uri).await;
            let status = if uris.contains(&listed_as) { 200 } else { 403 };
            assert_eq!(response.status, status, "{scope:?} {uri}: {response:?}");
            if status == 403 {
                assert!(
                    response.header("www-authenticate").contains("insufficient_scope"),
                    "{response:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn oauth_client_reads_stocks_with_the_alerts_scope() {
    let mut server = identity::start_server(testkit::Database::sqlite()).await;
    server.set_price("AAPL", 189.2).await;
    let fixture = OAuthFixture::on(&server).await;
    for (scope, status) in [(Scope::AlertsRead, 200), (Scope::WatchlistRead, 403)] {
        server.key = fixture.tokens(&server, &[scope.name()]).await.access;
        assert_eq!(read(&server, APPLE).await.status, status, "{scope:?}");
    }
}

#[tokio::test]
async fn reading_counts_toward_the_accounts_rate_limit() {
    let mut server = TestServer::with_config(server::HttpConfig {
        limits: server::RateLimits {
            basic_per_hour: 1,
            ..server::RateLimits::default()
        },
        ..server::HttpConfig::default()
    })
    .await;
    server.set_price("AAPL", 189.2).await;
    let mut scopes = AGENTS.to_vec();
    scopes.push(Scope::StocksRead);
    server.key = server
        .account("ann@example.com", alerts::Plan::Basic, false, &scopes)
        .await;
    for uri in [EVENTS, APPLE, GUIDE] {
        let _ = read(&server, uri).await.is(200);
        let response = read(&server, uri).await;
        assert_eq!(
            (response.status, error_code(&response)),
            (429, -32005),
            "{uri}: {response:?}"
        );
    }
}
