//! Delivery of events to receivers, and their signatures.

use acceptance::{ScriptedServer, ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

use crate::webhooks::support::{
    create_webhook, deliveries, fire_alert, outcomes, start_environment, wait_for_delivery,
};

on_both_databases![
    firing_alert_is_posted,
    delivery_matches_the_webhooks_section_of_the_document,
    body_is_serialized_like_javascript,
    delivered_only_to_active_webhooks_of_the_account,
    interrupted_delivery_arrives_under_the_same_id,
    delivery_can_be_resent,
    failed_deliveries_can_be_recovered,
    both_secrets_sign_after_a_rotation,
];

async fn firing_alert_is_posted(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::start().await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    let alert = fire_alert(&env, 198.66).await;
    let received = receiver.wait_for_requests(1).await.remove(0);

    assert_eq!(received.line, "POST /hook HTTP/1.1");
    assert_eq!(received.header("content-type"), "application/json");
    let body = received.json();
    assert_eq!(body["event"], "alert.triggered");
    assert_eq!(body["data"]["alert"]["id"], json!(alert));
    assert_eq!(body["data"]["alert"]["threshold"], json!(198.66));
    assert_eq!(body["data"]["alert"]["status"], "triggered");
    assert_eq!(body["data"]["stock"]["symbol"], "AAPL");
    assert_eq!(body["data"]["stock"]["price"], json!(198.66));
    assert_eq!(body["data"]["company_name"], "AAPL Company");
    assert!(body["data"]["reason"].is_string());
    for prefix in ["x-service", "x-stockalert"] {
        let header = |name: &str| received.header(&format!("{prefix}-{name}")).to_owned();
        assert_eq!(header("event"), "alert.triggered");
        assert_eq!(json!(header("timestamp")), body["timestamp"]);
        assert_eq!(json!(header("delivery")), body["id"]);
        assert_eq!(header("signature").len(), "sha256=".len() + 64);
    }
    assert_eq!(json!(received.header("webhook-id")), body["id"]);

    let delivery = wait_for_delivery(&env, &webhook, "delivered").await;
    assert_eq!((&delivery["id"], &delivery["alert_id"]), (&body["id"], &json!(alert)));
    assert_eq!(
        (&delivery["event"], &delivery["next_attempt_at"]),
        (&json!("alert.triggered"), &Value::Null)
    );
    let attempt = &delivery["attempts"][0];
    assert_eq!(
        (&attempt["outcome"], &attempt["http_status"]),
        (&json!("delivered"), &json!(200))
    );
    assert_eq!(receiver.received().len(), 1);
}

async fn delivery_matches_the_webhooks_section_of_the_document(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::start().await;
    let _webhook = create_webhook(&env, &receiver, json!({})).await;
    let _alert = fire_alert(&env, 198.66).await;
    let received = receiver.wait_for_requests(1).await.remove(0);
    let contract = env.operator.contract().await;
    let section = "/webhooks/alert.triggered/post";
    let body = format!("{section}/requestBody/content/application~1json/schema");
    assert_eq!(
        contract.schema_errors(&body, &received.json()).unwrap(),
        Vec::<String>::new()
    );
    let headers = contract.document().pointer(&format!("{section}/parameters")).unwrap();
    for (index, header) in headers.as_array().unwrap().iter().enumerate() {
        let value = json!(received.header(&header["name"].as_str().unwrap().to_lowercase()));
        let schema = format!("{section}/parameters/{index}/schema");
        assert_eq!(
            contract.schema_errors(&schema, &value).unwrap(),
            Vec::<String>::new(),
            "{header}"
        );
    }
}

async fn body_is_serialized_like_javascript(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::start().await;
    let _webhook = create_webhook(&env, &receiver, json!({})).await;
    let parameters =
        json!({"tiny": 0.000_000_1, "large": 12_345_678_901_234_567_890_u64, "text": "\u{2028} \u{1F4C8} </script>"});
    for (index, (threshold, written)) in [
        (200.0, "200"),
        (198.66, "198.66"),
        (1_000_000.0, "1000000"),
        (100.1, "100.1"),
    ]
    .into_iter()
    .enumerate()
    {
        let body =
            json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "parameters": parameters});
        let _ = env.operator.post("/alerts", &body).await.expect_ok(201);
        env.quote("AAPL", threshold).await;
        env.quote("AAPL", 100.0).await;
        let body = receiver.wait_for_requests(index + 1).await.remove(index).body;
        for part in [
            &format!(r#""threshold":{written},"#),
            &format!(r#""price":{written},"#),
            r#""tiny":1e-7"#,
            r#""large":12345678901234567000"#,
            "\u{2028} \u{1F4C8} </script>",
        ] {
            assert!(body.contains(part), "{part} is not in {body}");
        }
    }
}

async fn delivered_only_to_active_webhooks_of_the_account(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receivers = [
        ScriptedServer::start().await,
        ScriptedServer::start().await,
        ScriptedServer::start().await,
    ];
    let mut webhooks = Vec::new();
    for receiver in &receivers {
        webhooks.push(create_webhook(&env, receiver, json!({})).await);
    }
    let off = env
        .operator
        .request(Method::PATCH, &format!("/webhooks/{}", webhooks[1].id));
    let _ = off.json(&json!({"is_active": false})).send().await.expect_ok(200);
    let other = env.account("premium").await;
    let others = ScriptedServer::start().await;
    let body = json!({"url": others.url(), "events": ["alert.triggered"]});
    let _ = other.post("/webhooks", &body).await.expect_ok(201);
    fire_alert(&env, 150.0).await;
    let one = receivers[0].wait_for_requests(1).await;
    let two = receivers[2].wait_for_requests(1).await;
    assert_ne!(one[0].id(), two[0].id());
    wait_for_delivery(&env, &webhooks[2], "delivered").await;
    assert!(receivers[1].received().is_empty() && others.received().is_empty());
    assert_eq!(deliveries(&env, &webhooks[1]).await, [] as [Value; 0]);
}

async fn interrupted_delivery_arrives_under_the_same_id(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::with_script(vec![acceptance::Behaviour::Hang]).await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let first = receiver.wait_for_requests(1).await.remove(0);
    let setup = env.setup.set("webhooks.retry_delays", "1s");
    env.server.kill().await;
    receiver.set_behaviour(acceptance::Behaviour::status(204));
    let server = setup.start().await;
    let operator = env.operator.with_origin(&server.origin);
    let second = receiver.wait_for_requests(2).await.remove(1);
    assert_eq!(second.id(), first.id());
    assert_eq!(second.body, first.body);
    let delivered = acceptance::clock::wait_for("the delivery", || async {
        let response = operator
            .get(&format!("/webhooks/{}/deliveries", webhook.id))
            .await
            .expect_ok(200);
        let newest = response.items().first().cloned();
        newest.filter(|delivery| delivery["status"] == "delivered")
    });
    assert_eq!(delivered.await["id"], json!(first.id()));
}

async fn delivery_can_be_resent(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::start().await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let delivery = wait_for_delivery(&env, &webhook, "delivered").await;
    let id = delivery["id"].as_str().unwrap();
    let path = format!("/webhooks/{}/deliveries/{id}/resend", webhook.id);
    let queued = env.operator.post_empty(&path).await.expect_ok(200);
    assert_eq!(queued.id(), id);
    let received = receiver.wait_for_requests(2).await;
    assert_eq!(
        (received[1].id(), &received[1].body),
        (received[0].id(), &received[0].body)
    );
    let delivery = wait_for_delivery(&env, &webhook, "delivered").await;
    assert_eq!(outcomes(&delivery), ["delivered", "delivered"]);

    let other = env.account("premium").await;
    let _ = other.post_empty(&path).await.expect_error(404, "NOT_FOUND");
    let off = env
        .operator
        .request(Method::PATCH, &format!("/webhooks/{}", webhook.id));
    let _ = off.json(&json!({"is_active": false})).send().await.expect_ok(200);
    let refused = env
        .operator
        .post_empty(&path)
        .await
        .expect_error(400, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["is_active"].is_array());
}

async fn failed_deliveries_can_be_recovered(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::with_script(vec![acceptance::Behaviour::status(500)]).await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let failed = wait_for_delivery(&env, &webhook, "failed").await;
    assert_eq!(outcomes(&failed), ["http_error"; 4]);
    let recover = format!("/webhooks/{}/recover", webhook.id);
    for body in [json!({}), json!({"since": "yesterday"}), json!({"since": 7})] {
        let _ = env
            .operator
            .post(&recover, &body)
            .await
            .expect_error(400, "VALIDATION_ERROR");
    }
    let later = env
        .operator
        .post(&recover, &json!({"since": "2999-01-01T00:00:00Z"}))
        .await
        .expect_ok(200);
    assert_eq!(later.data(), &json!({"id": webhook.id, "recovered": 0}));
    receiver.set_behaviour(acceptance::Behaviour::status(200));
    let since = json!({"since": failed["created_at"]});
    let recovered = env.operator.post(&recover, &since).await.expect_ok(200);
    assert_eq!(recovered.data()["recovered"], 1);
    let delivered = wait_for_delivery(&env, &webhook, "delivered").await;
    assert_eq!((&delivered["id"], outcomes(&delivered).len()), (&failed["id"], 5));
}

async fn both_secrets_sign_after_a_rotation(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::start().await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let before = receiver.wait_for_requests(1).await.remove(0);
    assert_eq!(before.header("webhook-signature").matches("v1,").count(), 1);
    let rotated = env
        .operator
        .post_empty(&format!("/webhooks/{}/rotate-secret", webhook.id))
        .await
        .expect_ok(200);
    assert_ne!(rotated.text_of("secret"), webhook.secret);
    fire_alert(&env, 160.0).await;
    let after = receiver.wait_for_requests(2).await.remove(1);
    assert_eq!(after.header("webhook-signature").matches("v1,").count(), 2);
}
