//! Stored responses of idempotent requests are encrypted in the database.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::model::{IdempotencyClaimResult, IdempotencyKey, NewIdempotencyClaim, StoredResponse};
use store::{Store, StoreOptions};

use crate::http::test_server::{TestResponse, TestServer, above};

const URL: &str = "https://93.184.215.14/hooks/of-ann";

async fn post(server: &TestServer, path: &str, body: &Value) -> TestResponse {
    let request = server.request("POST", path).header("idempotency-key", "one");
    request.json(body).send().await
}

fn secret(response: &TestResponse) -> &str {
    response.body["data"]["secret"].as_str().unwrap()
}

/// Returns `true` if the database files contain a text unencrypted.
fn is_in_database(server: &TestServer, text: &str) -> bool {
    let file = server.database.file().unwrap();
    let mut files = std::fs::read_dir(file.parent().unwrap()).unwrap();
    files.any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[tokio::test]
async fn secret_in_a_stored_response_is_encrypted() {
    let server = TestServer::new().await;
    let body = json!({"url": URL, "events": ["alert.triggered"]});
    let created = post(&server, "/v1/webhooks", &body).await.ok(201);
    let rotate = format!(
        "/v1/webhooks/{}/rotate-secret",
        created.body["data"]["id"].as_str().unwrap()
    );
    let rotated = post(&server, &rotate, &json!({})).await.ok(200);
    assert_ne!(secret(&created), secret(&rotated));
    assert!(is_in_database(&server, URL), "unencrypted data is found");
    let server = server.restarted().await;
    for (first, path, body) in [(&created, "/v1/webhooks", &body), (&rotated, &rotate, &json!({}))] {
        assert!(!is_in_database(&server, secret(first)), "{path}");
        let repeat = post(&server, path, body).await.ok(first.status);
        assert_eq!(repeat.header("idempotent-replayed"), "true");
        assert_eq!(secret(&repeat), secret(first));
    }
}

/// Stores an unencrypted response, as older versions of this program did.
async fn store_unencrypted(store: &Store, request: IdempotencyKey) {
    let stored = store.commit(request, |request, unit| {
        Box::pin(async move {
            let new = NewIdempotencyClaim {
                key: *request,
                process: None,
                now: crate::http::test_server::OPEN.parse().unwrap(),
                abandoned: jiff::Timestamp::UNIX_EPOCH,
                forgotten: jiff::Timestamp::UNIX_EPOCH,
            };
            let claimed = unit.claim_idempotency_key(&new).await?;
            let IdempotencyClaimResult::First(claim) = claimed else {
                panic!("it was claimed before");
            };
            let response = StoredResponse {
                status: 201,
                body: br#"{"success":true,"data":{"secret":"whsec_open"},"meta":{}}"#.to_vec(),
            };
            unit.store_response(&claim, &response).await
        })
    });
    assert!(stored.await.unwrap());
}

#[tokio::test]
async fn undecryptable_stored_response_is_409() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let body = above(200);
    let actor = server
        .service
        .authenticator
        .authenticate_key(&server.key)
        .await
        .unwrap();
    let key = server.service.accounts.api_keys(&actor).await.unwrap()[0].id;
    let kept = IdempotencyKey {
        requester: actor.account.into(),
        key_hash: Sha256::digest([key.0.as_bytes(), &b"/v1/alerts\0one"[..]].concat()).into(),
        body_hash: Sha256::digest(body.to_string()).into(),
    };
    let store = Store::open(StoreOptions::new(server.database.url())).await.unwrap();
    store_unencrypted(&store, kept).await;
    store.close().await;
    let refused = post(&server, "/v1/alerts", &body).await.refused(409, "CONFLICT");
    assert!(!refused.text.contains("whsec_open"));
    assert_eq!(server.get("/v1/alerts").await.ok(200).body["data"], json!([]));
    // The API key still works for other requests.
    let _ = post(&server, "/v1/alerts", &above(201))
        .await
        .refused(422, "VALIDATION_ERROR");
    let other = server.request("POST", "/v1/alerts").header("idempotency-key", "two");
    let _ = other.json(&body).send().await.ok(201);
}
