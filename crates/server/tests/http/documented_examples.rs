//! Every request example of the document is accepted.

use std::sync::LazyLock;

use contract::{Contract, ExampleOf, Operation};
use serde_json::{Value, json};
use testkit::Database;

use crate::people::Person;
use crate::world::{Answer, World, above};

/// Operations whose examples have a mailed token or code, or the id of an agent's request, which no example can know. They
/// respond with this status, as to any unknown token.
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

static CONTRACT: LazyLock<Contract> = LazyLock::new(|| Contract::new(server::document::Document::value()).unwrap());

/// The operations of the API that take JSON, with their examples.
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

async fn world(database: Database) -> World {
    let world = World::on(database, server::Settings::default(), |service| {
        service.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let world = world.await;
    world.stock_at("AAPL", 189.2).await;
    world
}

fn id_of(answer: Answer) -> Value {
    answer.body["data"]["id"].clone()
}

/// The example with ids of what there is, and a URL that needs no name server.
async fn body(person: &Person<'_>, example: &Value) -> Value {
    let mut body = example.clone();
    if body.get("alert_id").is_some() {
        body["alert_id"] = id_of(person.post("/v1/alerts", above(500)).await.ok(201));
    }
    if body.get("item_id").is_some() {
        body["item_id"] = item(person).await;
    }
    if body.get("liked").is_some() {
        let feedback = json!({"title": "Alerts on options", "body": "Please."});
        body["id"] = id_of(person.post("/v1/feedback", feedback).await.ok(201));
    }
    if body.get("url").is_some() {
        body["url"] = json!("https://127.0.0.1:8443/hook");
    }
    body
}

async fn item(person: &Person<'_>) -> Value {
    let item = json!({"stock_symbol": "AAPL", "intention": "buy"});
    id_of(person.post("/v1/watchlist", item).await.ok(201))
}

async fn path(person: &Person<'_>, operation: &Operation) -> String {
    if !operation.path.contains("{id}") {
        return operation.path.clone();
    }
    let id = match operation.path.split('/').nth(3) {
        Some("alerts") => id_of(person.post("/v1/alerts", above(500)).await.ok(201)),
        Some("watchlist") => item(person).await,
        _ => {
            let webhook = json!({"url": "https://127.0.0.1:8443/hook", "events": ["alert.triggered"]});
            id_of(person.post("/v1/webhooks", webhook).await.ok(201))
        }
    };
    operation.path.replace("{id}", id.as_str().unwrap())
}

async fn send(world: &World, person: &Person<'_>, operation: &Operation, example: &Value) -> Answer {
    let (path, body) = (path(person, operation).await, body(person, example).await);
    let method = operation.method.to_uppercase();
    if operation.path.ends_with("/market/ingest") {
        return world.request(&method, &path).json(&body).send().await;
    }
    person.send(&method, &path, body).await
}

testkit::on_both! {
    async fn every_documented_example_is_accepted(database) {
        let is_sqlite = database.url().starts_with("sqlite");
        for (operation, examples) in documented() {
            let fresh = if is_sqlite { Database::sqlite() } else { Database::postgres().await };
            let world = world(fresh).await;
            let person = world.person("ann", alerts::Plan::Premium).await;
            let expected = UNKNOWN_TOKEN.iter().find(|(name, _)| operation.to_string() == *name);
            for example in examples {
                let answer = send(&world, &person, operation, &example).await;
                let is_unknown = expected.is_some_and(|(_, status)| answer.status == *status);
                let is_taken = is_unknown || (200..300).contains(&answer.status);
                assert!(is_taken, "{operation} {example} {answer:?}");
            }
        }
    }
}
