//! What arrives, and how a receiver knows whom it is from.

use acceptance::{Receiver, Setup, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{deliveries, fire, hook, outcomes, settled, world};

on_both_databases![
    an_alert_that_fires_is_posted,
    delivery_matches_the_webhooks_section_of_the_document,
    its_body_is_as_javascript_would_write_it,
    each_active_webhook_of_the_account_gets_it_and_no_other,
    what_was_under_way_when_the_program_died_arrives_under_the_same_id,
    a_delivery_can_be_sent_again,
    what_failed_is_recovered,
    after_a_rotation_both_secrets_are_good,
];

async fn an_alert_that_fires_is_posted(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::start().await;
    let hook = hook(&world, &receiver, json!({})).await;
    let alert = fire(&world, 198.66).await;
    let received = receiver.wait_for(1).await.remove(0);

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

    let delivery = settled(&world, &hook, "delivered").await;
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

async fn delivery_matches_the_webhooks_section_of_the_document(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::start().await;
    let _hook = hook(&world, &receiver, json!({})).await;
    let _alert = fire(&world, 198.66).await;
    let received = receiver.wait_for(1).await.remove(0);
    let contract = world.me.contract().await;
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

async fn its_body_is_as_javascript_would_write_it(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::start().await;
    let _hook = hook(&world, &receiver, json!({})).await;
    let parameters =
        json!({"tiny": 0.000_000_1, "large": 12_345_678_901_234_567_890_u64, "text": "\u{2028} \u{1F4C8} </script>"});
    for (place, (threshold, written)) in [
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
        let _ = world.me.post("/alerts", &body).await.ok(201);
        world.quote("AAPL", threshold).await;
        world.quote("AAPL", 100.0).await;
        let body = receiver.wait_for(place + 1).await.remove(place).body;
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

async fn each_active_webhook_of_the_account_gets_it_and_no_other(setup: Setup) {
    let world = world(setup).await;
    let receivers = [
        Receiver::start().await,
        Receiver::start().await,
        Receiver::start().await,
    ];
    let mut hooks = Vec::new();
    for receiver in &receivers {
        hooks.push(hook(&world, receiver, json!({})).await);
    }
    let off = world.me.request(Method::PATCH, &format!("/webhooks/{}", hooks[1].id));
    let _ = off.json(&json!({"is_active": false})).send().await.ok(200);
    let other = world.account("premium").await;
    let others = Receiver::start().await;
    let body = json!({"url": others.url(), "events": ["alert.triggered"]});
    let _ = other.post("/webhooks", &body).await.ok(201);
    fire(&world, 150.0).await;
    let one = receivers[0].wait_for(1).await;
    let two = receivers[2].wait_for(1).await;
    assert_ne!(one[0].id(), two[0].id());
    settled(&world, &hooks[2], "delivered").await;
    assert!(receivers[1].received().is_empty() && others.received().is_empty());
    assert_eq!(deliveries(&world, &hooks[1]).await, [] as [Value; 0]);
}

async fn what_was_under_way_when_the_program_died_arrives_under_the_same_id(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::that(vec![acceptance::Behaviour::Hangs]).await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let first = receiver.wait_for(1).await.remove(0);
    let setup = world.setup.set("webhooks.retry_delays", "1s");
    world.server.kill().await;
    receiver.becomes(acceptance::Behaviour::status(204));
    let server = setup.start().await;
    let me = world.me.at(&server.origin);
    let second = receiver.wait_for(2).await.remove(1);
    assert_eq!(second.id(), first.id());
    assert_eq!(second.body, first.body);
    let delivered = acceptance::clock::wait_for("the delivery", || async {
        let answer = me.get(&format!("/webhooks/{}/deliveries", hook.id)).await.ok(200);
        let newest = answer.items().first().cloned();
        newest.filter(|delivery| delivery["status"] == "delivered")
    });
    assert_eq!(delivered.await["id"], json!(first.id()));
}

async fn a_delivery_can_be_sent_again(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::start().await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let delivery = settled(&world, &hook, "delivered").await;
    let id = delivery["id"].as_str().unwrap();
    let path = format!("/webhooks/{}/deliveries/{id}/resend", hook.id);
    let queued = world.me.post_empty(&path).await.ok(200);
    assert_eq!(queued.id(), id);
    let received = receiver.wait_for(2).await;
    assert_eq!(
        (received[1].id(), &received[1].body),
        (received[0].id(), &received[0].body)
    );
    let delivery = settled(&world, &hook, "delivered").await;
    assert_eq!(outcomes(&delivery), ["delivered", "delivered"]);

    let other = world.account("premium").await;
    let _ = other.post_empty(&path).await.refused(404, "NOT_FOUND");
    let off = world.me.request(Method::PATCH, &format!("/webhooks/{}", hook.id));
    let _ = off.json(&json!({"is_active": false})).send().await.ok(200);
    let refused = world.me.post_empty(&path).await.refused(400, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["is_active"].is_array());
}

async fn what_failed_is_recovered(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::that(vec![acceptance::Behaviour::status(500)]).await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let failed = settled(&world, &hook, "failed").await;
    assert_eq!(outcomes(&failed), ["http_error"; 4]);
    let recover = format!("/webhooks/{}/recover", hook.id);
    for body in [json!({}), json!({"since": "yesterday"}), json!({"since": 7})] {
        let _ = world.me.post(&recover, &body).await.refused(400, "VALIDATION_ERROR");
    }
    let later = world
        .me
        .post(&recover, &json!({"since": "2999-01-01T00:00:00Z"}))
        .await
        .ok(200);
    assert_eq!(later.data(), &json!({"id": hook.id, "recovered": 0}));
    receiver.becomes(acceptance::Behaviour::status(200));
    let since = json!({"since": failed["created_at"]});
    let recovered = world.me.post(&recover, &since).await.ok(200);
    assert_eq!(recovered.data()["recovered"], 1);
    let delivered = settled(&world, &hook, "delivered").await;
    assert_eq!((&delivered["id"], outcomes(&delivered).len()), (&failed["id"], 5));
}

async fn after_a_rotation_both_secrets_are_good(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::start().await;
    let hook = hook(&world, &receiver, json!({})).await;
    fire(&world, 150.0).await;
    let before = receiver.wait_for(1).await.remove(0);
    assert_eq!(before.header("webhook-signature").matches("v1,").count(), 1);
    let rotated = world
        .me
        .post_empty(&format!("/webhooks/{}/rotate-secret", hook.id))
        .await
        .ok(200);
    assert_ne!(rotated.text_of("secret"), hook.secret);
    fire(&world, 160.0).await;
    let after = receiver.wait_for(2).await.remove(1);
    assert_eq!(after.header("webhook-signature").matches("v1,").count(), 2);
}
