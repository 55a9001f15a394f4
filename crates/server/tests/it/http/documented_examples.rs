//! Every request example of the document is accepted.

use std::sync::LazyLock;

use contract::{Contract, DocumentCache, ExampleOf, Operation};
use serde_json::{Value, json};
use testkit::Database;

use crate::http::test_server::{TestResponse, TestServer, above};
use crate::http::test_user::TestUser;

/// Operations whose examples have an emailed token or code, or the id of an approval, which an example cannot know. They
/// respond with this status, as for any unknown token.
const UNKNOWN_TOKEN: &[(&str, u16)] = &[
    ("POST /api/v1/alerts/verify", 404),
    ("POST /api/v1/approvals", 404),
    ("POST /api/v1/auth/confirm", 400),
    ("POST /api/v1/auth/magic-link", 400),
    ("POST /api/v1/auth/refresh", 401),
    ("POST /api/v1/auth/reset-confirm", 400),
    ("POST /api/v1/user/account/email/confirm", 400),
    ("POST /api/v1/user/account/phone/verify", 400),
];

static CONTRACT: LazyLock<Contract> = LazyLock::new(|| {
    let document = DocumentCache::of_this_program(server::document::generate);
    Contract::new(document).unwrap()
});

/// Returns the API operations with JSON bodies, and their examples.
fn documented() -> Vec<(&'static Operation, Vec<Value>)> {
    let examples = CONTRACT.examples().into_iter();
    examples
        .filter(|example| example.content_type == "application/json")
        .filter_map(|example| match example.of {
            ExampleOf::Request(operation) if operation.path.starts_with("/api/") => Some((operation, example.values)),
            _ => None,
        })
        .collect()
}

async fn start_server(database: Database) -> TestServer {
    let server = TestServer::with_database(database, server::HttpConfig::default(), |service| {
        service.delivery.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let server = server.await;
    server.set_price("AAPL", 189.2).await;
    server
}

fn id_of(response: TestResponse) -> Value {
    response.body["data"]["id"].clone()
}

/// Returns the example with existing ids, and a URL that needs no DNS.
async fn body(user: &TestUser<'_>, example: &Value) -> Value {
    let mut body = example.clone();
    if body.get("alert_id").is_some() {
        body["alert_id"] = id_of(user.post("/v1/alerts", above(500)).await.ok(201));
    }
    if body.get("item_id").is_some() {
        body["item_id"] = item(user).await;
    }
    if body.get("liked").is_some() {
        let feedback = json!({"title": "Alerts on options", "body": "Please."});
        body["id"] = id_of(user.post("/v1/feedback", feedback).await.ok(201));
    }
    if let Some(url) = body.get_mut("config").and_then(|config| config.get_mut("url")) {
        *url = json!("https://127.0.0.1:8443/hook");
    }
    if body.get("url").is_some() {
        body["url"] = json!("https://127.0.0.1:8443/hook");
    }
    body
}

async fn item(user: &TestUser<'_>) -> Value {
    let item = json!({"stock_symbol": "AAPL", "intention": "buy"});
    id_of(user.post("/v1/watchlist", item).await.ok(201))
}

async fn path(user: &TestUser<'_>, operation: &Operation) -> String {
    if !operation.path.contains("{id}") {
        return operation.path.clone();
    }
    let id = match operation.path.split('/').nth(3) {
        Some("alerts") => id_of(user.post("/v1/alerts", above(500)).await.ok(201)),
        Some("watchlist") => item(user).await,
        Some("notification-channels") => {
            let channel = json!({"type": "slack", "config": {"url": "https://127.0.0.1:8443/hook"}});
            id_of(user.post("/v1/notification-channels", channel).await.ok(201))
        }
        _ => {
            let webhook = json!({"url": "https://127.0.0.1:8443/hook", "events": ["alert.triggered"]});
            id_of(user.post("/v1/webhooks", webhook).await.ok(201))
        }
    };
    operation.path.replace("{id}", id.as_str().unwrap())
}

async fn send(server: &TestServer, user: &TestUser<'_>, operation: &Operation, example: &Value) -> TestResponse {
    let (path, body) = (path(user, operation).await, body(user, example).await);
    let method = operation.method.to_uppercase();
    if operation.path.ends_with("/market/ingest") {
        return server.request(&method, &path).json(&body).send().await;
    }
    user.send(&method, &path, body).await
}

testkit::on_both_databases! {
    async fn every_documented_example_is_accepted(database) {
        let is_sqlite = database.url().starts_with("sqlite");
        for (operation, examples) in documented() {
            let fresh = if is_sqlite { Database::sqlite() } else { Database::postgres().await };
            let server = start_server(fresh).await;
            let user = server.create_user("ann", alerts::Plan::Premium).await;
            let expected = UNKNOWN_TOKEN.iter().find(|(name, _)| operation.to_string() == *name);
            for example in examples {
                let response = send(&server, &user, operation, &example).await;
                let is_unknown = expected.is_some_and(|(_, status)| response.status == *status);
                let is_taken = is_unknown || (200..300).contains(&response.status);
                assert!(is_taken, "{operation} {example} {response:?}");
            }
        }
    }
}
