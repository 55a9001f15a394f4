//! Receivers that fail or misbehave.

use acceptance::{Behaviour, ScriptedServer, ServiceSetup, on_both_databases};
use serde_json::{Value, json};

use crate::webhooks::support::{create_webhook, fire_alert, outcomes, start_environment, wait_for_delivery};

on_both_databases![
    failing_delivery_is_attempted_four_times_under_one_id,
    retry_after_is_honoured,
    redirects_are_not_followed,
    status_410_disables_the_webhook,
    closed_reset_silent_and_slow_connections_fail,
    untrusted_certificate_gets_no_request,
    huge_response_body_counts_as_delivered,
    hanging_receiver_does_not_delay_others,
];

async fn failing_delivery_is_attempted_four_times_under_one_id(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let down = Behaviour::Respond(503, Vec::new(), "down \u{1b}[31mfor repair".to_owned());
    let receiver = ScriptedServer::with_script(vec![down]).await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let failed = wait_for_delivery(&env, &webhook, "failed").await;
    assert_eq!(outcomes(&failed), ["http_error"; 4]);
    assert_eq!(failed["attempts"][0]["http_status"], 503);
    assert_eq!(failed["attempts"][0]["response"], "down [31mfor repair");
    let received = receiver.received();
    assert_eq!(received.len(), 4);
    assert!(
        received
            .iter()
            .all(|again| again.id() == received[0].id() && again.body == received[0].body)
    );
    for pair in received.windows(2) {
        let waited = pair[1].at.duration_since(pair[0].at).as_millis();
        // 200 ms with 20 % jitter, plus the delay of a busy machine.
        assert!(waited >= 155, "{waited} ms");
    }
}

async fn retry_after_is_honoured(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let busy = Behaviour::Respond(429, vec![("Retry-After", "2".to_owned())], String::new());
    let receiver = ScriptedServer::with_script(vec![busy, Behaviour::status(200)]).await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let delivered = wait_for_delivery(&env, &webhook, "delivered").await;
    assert_eq!(outcomes(&delivered), ["http_error", "delivered"]);
    let received = receiver.received();
    assert!(received[1].at.duration_since(received[0].at).as_millis() >= 1_990);
}

async fn redirects_are_not_followed(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let elsewhere = ScriptedServer::start().await;
    let moved = Behaviour::Respond(301, vec![("Location", elsewhere.url())], String::new());
    let receiver = ScriptedServer::with_script(vec![moved]).await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let failed = wait_for_delivery(&env, &webhook, "failed").await;
    assert_eq!(outcomes(&failed), ["redirected"; 4]);
    assert!(elsewhere.received().is_empty());
}

async fn status_410_disables_the_webhook(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::with_script(vec![Behaviour::status(410)]).await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let failed = wait_for_delivery(&env, &webhook, "failed").await;
    assert_eq!(outcomes(&failed), ["gone"]);
    let shown = env
        .operator
        .get(&format!("/webhooks/{}", webhook.id))
        .await
        .expect_ok(200);
    assert_eq!(
        (&shown.data()["is_active"], shown.text_of("disabled_reason")),
        (&json!(false), "gone")
    );
    assert!(
        env.server.log().contains("a webhook was disabled"),
        "{}",
        env.server.log()
    );
    fire_alert(&env, 160.0).await;
    assert_eq!(receiver.received().len(), 1);
}

async fn closed_reset_silent_and_slow_connections_fail(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    for (index, (behaviour, outcome)) in [
        (Behaviour::CloseConnection, "connection_lost"),
        (Behaviour::ResetConnection, "connection_lost"),
        (Behaviour::Hang, "timed_out"),
        (Behaviour::SendSlowly, "timed_out"),
    ]
    .into_iter()
    .enumerate()
    {
        let receiver = ScriptedServer::with_script(vec![behaviour, Behaviour::status(200)]).await;
        let webhook = create_webhook(&env, &receiver, json!({})).await;
        fire_alert(&env, 150.0 + f64::from(u32::try_from(index).unwrap())).await;
        let delivered = wait_for_delivery(&env, &webhook, "delivered").await;
        assert_eq!(outcomes(&delivered), [outcome, "delivered"]);
        assert_eq!(delivered["attempts"][0]["http_status"], Value::Null);
        let _ = env
            .operator
            .delete(&format!("/webhooks/{}", webhook.id))
            .await
            .expect_ok(200);
    }
}

async fn untrusted_certificate_gets_no_request(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::with_self_signed_certificate().await;
    let url = format!("https://{}/hook", receiver.address());
    let body = json!({"url": url, "secret": "x"});
    let tested = env.operator.post("/webhooks/test", &body).await.expect_ok(200);
    assert_eq!(tested.data()["status"], 0);
    assert!(
        tested.text_of("statusText").contains("not from a trusted authority"),
        "{tested}"
    );
    let webhook = create_webhook(&env, &receiver, json!({ "url": url })).await;
    fire_alert(&env, 150.0).await;
    let failed = wait_for_delivery(&env, &webhook, "failed").await;
    assert_eq!(outcomes(&failed), ["tls_certificate_unknown_issuer"; 4]);
    assert!(receiver.connections() == 5 && receiver.received().is_empty());
}

async fn huge_response_body_counts_as_delivered(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::with_script(vec![Behaviour::SendHugeBody]).await;
    let webhook = create_webhook(&env, &receiver, json!({})).await;
    fire_alert(&env, 150.0).await;
    let delivered = wait_for_delivery(&env, &webhook, "delivered").await;
    let kept = delivered["attempts"][0]["response"].as_str().unwrap();
    assert_eq!(kept.len(), 1_024);
}

async fn hanging_receiver_does_not_delay_others(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let bad = ScriptedServer::with_script(vec![Behaviour::Hang]).await;
    let good = ScriptedServer::start().await;
    let _bad = create_webhook(&env, &bad, json!({})).await;
    let _good = create_webhook(&env, &good, json!({})).await;
    for threshold in 150..170 {
        fire_alert(&env, f64::from(threshold)).await;
    }
    let received = good.wait_for_requests(20).await;
    for delivery in &received {
        let created: jiff::Timestamp = delivery.json()["timestamp"].as_str().unwrap().parse().unwrap();
        let took = delivery.at.duration_since(created).as_millis();
        assert!(took < 1_500, "{took} ms");
    }
}
