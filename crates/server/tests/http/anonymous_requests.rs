//! `Idempotency-Key` without an account.

use serde_json::{Value, json};
use server::Settings;
use testkit::Database;

use crate::people::PASSWORD;
use crate::world::{Answer, World};

const GUEST: &str = "guest@example.com";
const HERE: &str = "192.0.2.1";
const ELSEWHERE: &str = "192.0.2.2";

fn guest_alert(threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "email": GUEST})
}

async fn post(world: &World, address: &str, path: &str, key: &str, body: &Value) -> Answer {
    let request = world.stranger("POST", path).at_address(address);
    request.header("idempotency-key", key).json(body).send().await
}

async fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    for database in testkit::fresh_databases().await {
        worlds.push(world(database).await);
    }
    worlds
}

async fn world(database: Database) -> World {
    let world = World::on(database, Settings::default(), |_| ()).await;
    world.stock_at("AAPL", 100.0).await;
    world
}

fn is_replayed(answer: &Answer) -> bool {
    answer.headers.contains_key("idempotent-replayed")
}

#[tokio::test]
async fn repeated_guest_alert_is_created_once_and_gets_the_first_answer() {
    for world in worlds().await {
        let first = post(&world, HERE, "/v1/alerts", "one", &guest_alert(200)).await.ok(201);
        assert!(!is_replayed(&first));
        let world = world.restarted().await;
        let repeat = post(&world, HERE, "/api/v1/alerts", "one", &guest_alert(200))
            .await
            .ok(201);
        assert!(is_replayed(&repeat));
        assert_eq!(repeat.body["data"], first.body["data"]);
        let other = post(&world, HERE, "/v1/alerts", "one", &guest_alert(201)).await;
        let _ = other.refused(422, "VALIDATION_ERROR");
    }
}

#[tokio::test]
async fn key_of_another_address_or_account_is_another_key() {
    for world in worlds().await {
        let first = post(&world, HERE, "/v1/alerts", "one", &guest_alert(200)).await.ok(201);
        let elsewhere = post(&world, ELSEWHERE, "/v1/alerts", "one", &guest_alert(201))
            .await
            .ok(201);
        assert!(!is_replayed(&elsewhere));
        assert_ne!(first.body["data"]["id"], elsewhere.body["data"]["id"]);
        let known = world.request("POST", "/v1/alerts").header("idempotency-key", "one");
        let known = known.json(&guest_alert(202)).send().await.ok(201);
        assert!(!is_replayed(&known));
    }
}

#[tokio::test]
async fn repeated_login_gets_the_same_session_with_its_cookie() {
    for world in worlds().await {
        let ann = world.person("ann", alerts::Plan::Basic).await;
        let body = json!({"email": ann.email, "password": PASSWORD});
        let first = post(&world, HERE, "/v1/auth/login", "one", &body).await.ok(200);
        let repeat = post(&world, HERE, "/v1/auth/login", "one", &body).await.ok(200);
        assert!(is_replayed(&repeat));
        assert_eq!(repeat.body["data"], first.body["data"]);
        assert_eq!(repeat.header("set-cookie"), first.header("set-cookie"));
        assert_eq!(repeat.header("cache-control"), "no-store");
    }
}

#[tokio::test]
async fn repeated_login_with_an_invalid_cookie_gets_the_same_session() {
    for world in worlds().await {
        let ann = world.person("ann", alerts::Plan::Basic).await;
        let body = json!({"email": ann.email, "password": PASSWORD});
        let login = async || {
            let request = world.stranger("POST", "/v1/auth/login").at_address(HERE).json(&body);
            let request = request.header("cookie", "bellwether_session=expired");
            request.header("idempotency-key", "one").send().await.ok(200)
        };
        let first = login().await;
        let repeat = login().await;
        assert!(is_replayed(&repeat));
        assert_eq!(repeat.body["data"], first.body["data"]);
    }
}

#[tokio::test]
async fn first_answer_is_not_given_without_the_password_or_from_another_address() {
    for world in worlds().await {
        let ann = world.person("ann", alerts::Plan::Basic).await;
        let body = json!({"email": ann.email, "password": PASSWORD});
        let first = post(&world, HERE, "/v1/auth/login", "one", &body).await.ok(200);
        let wrong = json!({"email": ann.email, "password": "another horse"});
        let refused = post(&world, HERE, "/v1/auth/login", "one", &wrong).await;
        let _ = refused.refused(422, "VALIDATION_ERROR");
        let elsewhere = post(&world, ELSEWHERE, "/v1/auth/login", "one", &body).await.ok(200);
        assert!(!is_replayed(&elsewhere));
        assert_ne!(
            elsewhere.body["data"]["access_token"],
            first.body["data"]["access_token"]
        );
    }
}

#[tokio::test]
async fn failed_login_may_be_repeated_with_the_same_key() {
    for world in worlds().await {
        let body = json!({"email": "ann@example.com", "password": PASSWORD});
        let refused = post(&world, HERE, "/v1/auth/login", "one", &body).await;
        let _ = refused.refused(401, "UNAUTHORIZED");
        let _ann = world.person("ann", alerts::Plan::Basic).await;
        let accepted = post(&world, HERE, "/v1/auth/login", "one", &body).await.ok(200);
        assert!(!is_replayed(&accepted));
    }
}
