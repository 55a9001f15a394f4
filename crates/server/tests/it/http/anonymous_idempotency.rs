//! `Idempotency-Key` without an account.

use serde_json::{Value, json};
use server::HttpConfig;
use testkit::Database;

use crate::http::test_server::{TestResponse, TestServer};
use crate::http::test_user::PASSWORD;

const GUEST: &str = "guest@example.com";
const HERE: &str = "192.0.2.1";
const ELSEWHERE: &str = "192.0.2.2";

fn guest_alert(threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "email": GUEST})
}

async fn post(server: &TestServer, address: &str, path: &str, key: &str, body: &Value) -> TestResponse {
    let request = server.anonymous("POST", path).at_address(address);
    request.header("idempotency-key", key).json(body).send().await
}

async fn start_servers() -> Vec<TestServer> {
    let mut servers = Vec::new();
    for database in testkit::fresh_databases().await {
        servers.push(start_server(database).await);
    }
    servers
}

async fn start_server(database: Database) -> TestServer {
    let server = TestServer::with_database(database, HttpConfig::default(), |_| ()).await;
    server.set_price("AAPL", 100.0).await;
    server
}

fn is_replayed(response: &TestResponse) -> bool {
    response.headers.contains_key("idempotent-replayed")
}

#[tokio::test]
async fn repeated_guest_alert_gets_the_first_response() {
    for server in start_servers().await {
        let first = post(&server, HERE, "/v1/alerts", "one", &guest_alert(200))
            .await
            .ok(201);
        assert!(!is_replayed(&first));
        let server = server.restarted().await;
        let repeat = post(&server, HERE, "/api/v1/alerts", "one", &guest_alert(200))
            .await
            .ok(201);
        assert!(is_replayed(&repeat));
        assert_eq!(repeat.body["data"], first.body["data"]);
        let other = post(&server, HERE, "/v1/alerts", "one", &guest_alert(201)).await;
        let _ = other.refused(422, "VALIDATION_ERROR");
    }
}

#[tokio::test]
async fn key_is_scoped_to_its_address_or_account() {
    for server in start_servers().await {
        let first = post(&server, HERE, "/v1/alerts", "one", &guest_alert(200))
            .await
            .ok(201);
        let elsewhere = post(&server, ELSEWHERE, "/v1/alerts", "one", &guest_alert(201))
            .await
            .ok(201);
        assert!(!is_replayed(&elsewhere));
        assert_ne!(first.body["data"]["id"], elsewhere.body["data"]["id"]);
        let known = server.request("POST", "/v1/alerts").header("idempotency-key", "one");
        let known = known.json(&guest_alert(202)).send().await.ok(201);
        assert!(!is_replayed(&known));
    }
}

#[tokio::test]
async fn repeated_login_gets_the_same_session_with_its_cookie() {
    for server in start_servers().await {
        let ann = server.create_user("ann", alerts::Plan::Basic).await;
        let body = json!({"email": ann.email, "password": PASSWORD});
        let first = post(&server, HERE, "/v1/auth/login", "one", &body).await.ok(200);
        let repeat = post(&server, HERE, "/v1/auth/login", "one", &body).await.ok(200);
        assert!(is_replayed(&repeat));
        assert_eq!(repeat.body["data"], first.body["data"]);
        assert_eq!(repeat.header("set-cookie"), first.header("set-cookie"));
        assert_eq!(repeat.header("cache-control"), "no-store");
    }
}

#[tokio::test]
async fn repeated_login_with_an_invalid_cookie_gets_the_same_session() {
    for server in start_servers().await {
        let ann = server.create_user("ann", alerts::Plan::Basic).await;
        let body = json!({"email": ann.email, "password": PASSWORD});
        let login = async || {
            let request = server.anonymous("POST", "/v1/auth/login").at_address(HERE).json(&body);
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
async fn first_response_requires_the_same_password_and_address() {
    for server in start_servers().await {
        let ann = server.create_user("ann", alerts::Plan::Basic).await;
        let body = json!({"email": ann.email, "password": PASSWORD});
        let first = post(&server, HERE, "/v1/auth/login", "one", &body).await.ok(200);
        let wrong = json!({"email": ann.email, "password": "another horse"});
        let refused = post(&server, HERE, "/v1/auth/login", "one", &wrong).await;
        let _ = refused.refused(422, "VALIDATION_ERROR");
        let elsewhere = post(&server, ELSEWHERE, "/v1/auth/login", "one", &body).await.ok(200);
        assert!(!is_replayed(&elsewhere));
        assert_ne!(
            elsewhere.body["data"]["access_token"],
            first.body["data"]["access_token"]
        );
    }
}

#[tokio::test]
async fn failed_login_can_be_retried_with_the_same_key() {
    for server in start_servers().await {
        let body = json!({"email": "ann@example.com", "password": PASSWORD});
        let refused = post(&server, HERE, "/v1/auth/login", "one", &body).await;
        let _ = refused.refused(401, "UNAUTHORIZED");
        let _ann = server.create_user("ann", alerts::Plan::Basic).await;
        let accepted = post(&server, HERE, "/v1/auth/login", "one", &body).await.ok(200);
        assert!(!is_replayed(&accepted));
    }
}
