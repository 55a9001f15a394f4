//! Webhooks as a resource: create, read, update and delete.

use acceptance::{ApiClient, ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases![
    secret_is_shown_only_on_creation,
    given_secret_is_used_unchanged,
    invalid_field_is_400_with_field_name,
    url_must_be_public_https,
    sixth_webhook_is_403_until_one_is_deleted,
    concurrent_creation_stops_at_five,
    patch_changes_only_given_fields,
    deleted_webhook_is_404,
    webhook_of_another_account_is_404,
    malformed_id_is_404,
    routes_require_their_scope,
    rotation_returns_the_new_secret,
];

const URL: &str = "https://hooks.example.com/bellwether?x=1";

fn webhook_request() -> Value {
    json!({"url": URL, "events": ["alert.triggered"]})
}

async fn patch(client: &ApiClient, id: &str, body: Value) -> acceptance::CheckedResponse {
    let path = format!("/webhooks/{id}");
    client.request(Method::PATCH, &path).json(&body).send().await
}

async fn secret_is_shown_only_on_creation(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let created = env.operator.post("/webhooks", &webhook_request()).await.expect_ok(201);
    let secret = created.text_of("secret").to_owned();
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");
    assert_eq!(created.text_of("url"), URL);
    assert_eq!(created.data()["events"], json!(["alert.triggered"]));
    assert_eq!(created.data()["is_active"], true);
    assert_eq!(created.text_of("signature"), "timestamped");
    for field in ["user_id", "created_at"] {
        assert!(created.data()[field].is_string(), "{created}");
    }
    let mut shown = created.data().clone();
    shown.as_object_mut().unwrap().remove("secret");
    let read = env
        .operator
        .get(&format!("/webhooks/{}", created.id()))
        .await
        .expect_ok(200);
    assert_eq!(read.data(), &shown);
    let listed = env.operator.get("/webhooks").await.expect_ok(200);
    assert_eq!(listed.items(), [shown]);
    let twice = env.operator.post("/webhooks", &webhook_request()).await.expect_ok(201);
    assert_ne!((twice.id(), twice.text_of("secret")), (created.id(), secret.as_str()));
}

async fn given_secret_is_used_unchanged(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let mut body = webhook_request();
    body["secret"] = json!("  correct horse ü ");
    body["signature"] = json!("body");
    let created = env.operator.post("/webhooks", &body).await.expect_ok(201);
    assert_eq!(created.text_of("secret"), "  correct horse ü ");
    assert_eq!(created.text_of("signature"), "body");
    body["secret"] = Value::Null;
    let created = env.operator.post("/webhooks", &body).await.expect_ok(201);
    assert!(created.text_of("secret").starts_with("whsec_"), "{created}");
}

async fn invalid_field_is_400_with_field_name(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for (field, value) in [
        ("url", Value::Null),
        ("url", json!(7)),
        ("url", json!("example.com/hook")),
        ("events", Value::Null),
        ("events", json!([])),
        ("events", json!("alert.triggered")),
        ("events", json!(["alert.created"])),
        ("events", json!(["alert.triggered", "alert.deleted"])),
        ("secret", json!("")),
        ("secret", json!(7)),
        ("signature", json!("md5")),
    ] {
        let mut body = webhook_request();
        body[field] = value.clone();
        let refused = env
            .operator
            .post("/webhooks", &body)
            .await
            .expect_error(400, "VALIDATION_ERROR");
        let errors = &refused.body["error"]["details"]["fields"][field];
        assert!(errors.is_array(), "{field} = {value}: {refused}");
    }
    let everything = env
        .operator
        .post("/webhooks", &json!({}))
        .await
        .expect_error(400, "VALIDATION_ERROR");
    let errors = everything.body["error"]["details"]["fields"].as_object().unwrap();
    assert_eq!(errors.keys().collect::<Vec<_>>(), ["events", "url"]);
    assert_eq!(env.operator.get("/webhooks").await.expect_ok(200).items().len(), 0);
    let _ = env
        .operator
        .request(Method::POST, "/webhooks")
        .raw_json("[]")
        .send()
        .await
        .expect_error(400, "BAD_REQUEST");
}

async fn url_must_be_public_https(setup: ServiceSetup) {
    let env = setup
        .set("limits.webhook_test_per_minute", "1000")
        .start_environment()
        .await;
    for url in [
        "http://example.com/hook",
        "ftp://example.com/hook",
        "https://127.0.0.1/hook",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://0/",
        "https://①②⑦.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[fe80::1%25eth0]/",
        "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/",
        "https://10.1.2.3/",
        "https://localhost/",
        "https://user:password@example.com/",
        "https://example.com./",
    ] {
        let mut body = webhook_request();
        body["url"] = json!(url);
        let refused = env
            .operator
            .post("/webhooks", &body)
            .await
            .expect_error(400, "VALIDATION_ERROR");
        assert!(
            refused.body["error"]["details"]["fields"]["url"].is_array(),
            "{url}: {refused}"
        );
        let body = json!({"url": url, "secret": "x"});
        let tested = env
            .operator
            .post("/webhooks/test", &body)
            .await
            .expect_error(400, "VALIDATION_ERROR");
        assert!(tested.body.get("data").is_none(), "{url}: {tested}");
    }
    // A name that does not resolve yet is accepted.
    let mut body = webhook_request();
    body["url"] = json!("https://unresolvable.example/hook");
    let _ = env.operator.post("/webhooks", &body).await.expect_ok(201);
}

async fn sixth_webhook_is_403_until_one_is_deleted(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let mut last = String::new();
    for _ in 0..5 {
        last = env
            .operator
            .post("/webhooks", &webhook_request())
            .await
            .expect_ok(201)
            .id();
    }
    let _ = env
        .operator
        .post("/webhooks", &webhook_request())
        .await
        .expect_forbidden("limit");
    let other = env.account("basic").await;
    let _ = other.post("/webhooks", &webhook_request()).await.expect_ok(201);
    let _ = env.operator.delete(&format!("/webhooks/{last}")).await.expect_ok(200);
    let _ = env.operator.post("/webhooks", &webhook_request()).await.expect_ok(201);
}

async fn concurrent_creation_stops_at_five(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let mut creating = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let operator = env.operator.clone();
        creating.spawn(async move { operator.post("/webhooks", &webhook_request()).await.status });
    }
    let statuses = creating.join_all().await;
    assert_eq!(
        statuses.iter().filter(|status| **status == 201).count(),
        5,
        "{statuses:?}"
    );
    assert_eq!(
        statuses.iter().filter(|status| **status == 403).count(),
        7,
        "{statuses:?}"
    );
}

async fn patch_changes_only_given_fields(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let created = env.operator.post("/webhooks", &webhook_request()).await.expect_ok(201);
    let id = created.id();
    let off = patch(&env.operator, &id, json!({"is_active": false}))
        .await
        .expect_ok(200);
    assert_eq!(off.data()["is_active"], false);
    assert_eq!(off.text_of("disabled_reason"), "owner");
    assert_eq!(off.text_of("url"), URL);
    let moved = patch(
        &env.operator,
        &id,
        json!({"url": "https://other.example/", "is_active": true}),
    )
    .await
    .expect_ok(200);
    assert_eq!(moved.text_of("url"), "https://other.example/");
    assert_eq!(
        (&moved.data()["is_active"], &moved.data()["disabled_at"]),
        (&json!(true), &Value::Null)
    );
    assert!(moved.data().get("secret").is_none(), "{moved}");
    let same = patch(&env.operator, &id, json!({"unknown": 1})).await.expect_ok(200);
    assert_eq!(same.data(), moved.data());
    for body in [
        json!({"url": "http://example.com"}),
        json!({"is_active": "yes"}),
        json!({"events": []}),
    ] {
        let _ = patch(&env.operator, &id, body)
            .await
            .expect_error(400, "VALIDATION_ERROR");
    }
}

async fn deleted_webhook_is_404(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = env
        .operator
        .post("/webhooks", &webhook_request())
        .await
        .expect_ok(201)
        .id();
    let deleted = env.operator.delete(&format!("/webhooks/{id}")).await.expect_ok(200);
    assert_eq!(deleted.data(), &json!({"id": id, "deleted": true}));
    for path in [format!("/webhooks/{id}"), format!("/webhooks/{id}/deliveries")] {
        let _ = env.operator.get(&path).await.expect_error(404, "NOT_FOUND");
    }
    let _ = env
        .operator
        .delete(&format!("/webhooks/{id}"))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = patch(&env.operator, &id, json!({}))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = env
        .operator
        .post_empty(&format!("/webhooks/{id}/rotate-secret"))
        .await
        .expect_error(404, "NOT_FOUND");
}

async fn webhook_of_another_account_is_404(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let other = env.account("premium").await;
    let id = env
        .operator
        .post("/webhooks", &webhook_request())
        .await
        .expect_ok(201)
        .id();
    let _ = other
        .get(&format!("/webhooks/{id}"))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = other
        .get(&format!("/webhooks/{id}/deliveries"))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = other
        .delete(&format!("/webhooks/{id}"))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = patch(&other, &id, json!({"is_active": false}))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = other
        .post_empty(&format!("/webhooks/{id}/rotate-secret"))
        .await
        .expect_error(404, "NOT_FOUND");
    let since = json!({"since": "2026-01-01T00:00:00Z"});
    let _ = other
        .post(&format!("/webhooks/{id}/recover"), &since)
        .await
        .expect_error(404, "NOT_FOUND");
    assert_eq!(other.get("/webhooks").await.expect_ok(200).items().len(), 0);
    assert_eq!(
        env.operator.get(&format!("/webhooks/{id}")).await.expect_ok(200).data()["is_active"],
        true
    );
}

async fn malformed_id_is_404(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for path in [
        "/webhooks/7",
        "/webhooks/7/deliveries",
        "/webhooks/0b9c7c2e8f0e4d5e9a523f1f6f0c8d11",
    ] {
        let _ = env.operator.get(path).await.expect_error(404, "NOT_FOUND");
    }
    let id = env
        .operator
        .post("/webhooks", &webhook_request())
        .await
        .expect_ok(201)
        .id();
    let path = format!("/webhooks/{id}/deliveries/7/resend");
    let _ = env.operator.post_empty(&path).await.expect_error(404, "NOT_FOUND");
    let path = format!("/webhooks/{id}/deliveries/{id}/resend");
    let _ = env.operator.post_empty(&path).await.expect_error(404, "NOT_FOUND");
}

async fn routes_require_their_scope(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let reader = env.operator_with_scopes("webhooks:read").await;
    let writer = env.operator_with_scopes("webhooks:write").await;
    let id = writer.post("/webhooks", &webhook_request()).await.expect_ok(201).id();
    let _ = reader.get(&format!("/webhooks/{id}")).await.expect_ok(200);
    let _ = writer.get("/webhooks").await.expect_forbidden("scope");
    let _ = reader
        .post("/webhooks", &webhook_request())
        .await
        .expect_forbidden("scope");
    let _ = reader
        .delete(&format!("/webhooks/{id}"))
        .await
        .expect_forbidden("scope");
    let _ = reader
        .post("/webhooks/test", &json!({}))
        .await
        .expect_forbidden("scope");
    let anonymous = env.server.anonymous_client();
    let _ = anonymous.get("/webhooks").await.expect_error(401, "UNAUTHORIZED");
    let _ = anonymous
        .post("/webhooks", &webhook_request())
        .await
        .expect_error(401, "UNAUTHORIZED");
}

async fn rotation_returns_the_new_secret(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let created = env.operator.post("/webhooks", &webhook_request()).await.expect_ok(201);
    let rotated = env
        .operator
        .post_empty(&format!("/webhooks/{}/rotate-secret", created.id()))
        .await
        .expect_ok(200);
    assert_eq!(rotated.id(), created.id());
    assert!(rotated.text_of("secret").starts_with("whsec_"), "{rotated}");
    assert_ne!(rotated.text_of("secret"), created.text_of("secret"));
    assert!(rotated.data()["previous_secret_until"].is_string(), "{rotated}");
}
