//! `POST /webhooks/test`

use acceptance::{Behaviour, ScriptedServer, ServiceSetup, on_both_databases};
use serde_json::json;

use crate::webhooks::support::start_environment;

on_both_databases![
    test_returns_the_response_of_the_receiver,
    test_without_response_has_status_0,
    response_of_a_private_address_is_not_revealed,
    sixth_test_within_a_minute_is_429,
];

async fn test_returns_the_response_of_the_receiver(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let teapot = Behaviour::Respond(418, Vec::new(), "short and stout ".repeat(100));
    let receiver = ScriptedServer::with_script(vec![Behaviour::status(200), teapot]).await;
    let body = json!({"url": receiver.url(), "secret": "whsec_test"});
    let fine = env.operator.post("/webhooks/test", &body).await.expect_ok(200);
    assert_eq!(
        fine.data(),
        &json!({"status": 200, "statusText": "OK", "status_text": "OK", "response": ""})
    );
    let received = receiver.received().remove(0);
    assert_eq!(received.json()["event"], "alert.triggered");
    assert_eq!(received.json()["data"]["test"], true);
    assert_eq!(received.header("x-service-event"), "alert.triggered");
    assert!(received.header("x-service-signature").starts_with("sha256="));
    let odd = env.operator.post("/webhooks/test", &body).await.expect_ok(200);
    assert_eq!(
        (&odd.data()["status"], odd.text_of("statusText")),
        (&json!(418), "I'm a teapot")
    );
    assert_eq!(odd.text_of("response").len(), 1_024);
    let _ = env
        .operator
        .post("/webhooks/test", &json!({"url": receiver.url()}))
        .await
        .expect_error(400, "VALIDATION_ERROR");
}

async fn test_without_response_has_status_0(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let receiver = ScriptedServer::with_script(vec![Behaviour::CloseConnection]).await;
    let body = json!({"url": receiver.url(), "secret": "whsec_test"});
    let lost = env.operator.post("/webhooks/test", &body).await.expect_ok(200);
    assert_eq!((&lost.data()["status"], lost.text_of("response")), (&json!(0), ""));
    assert!(lost.text_of("statusText").contains("closed the connection"), "{lost}");
}

async fn response_of_a_private_address_is_not_revealed(setup: ServiceSetup) {
    // The allow list is empty here.
    let env = setup.start_environment().await;
    let secret = Behaviour::Respond(200, Vec::new(), "private credentials".to_owned());
    let receiver = ScriptedServer::with_script(vec![secret]).await;
    let port = receiver.address().port();
    for url in [
        receiver.url(),
        format!("https://127.0.0.1:{port}/"),
        format!("https://localhost:{port}/"),
    ] {
        let body = json!({"url": url, "secret": "x"});
        let refused = env
            .operator
            .post("/webhooks/test", &body)
            .await
            .expect_error(400, "VALIDATION_ERROR");
        assert!(!refused.text.contains("private credentials"), "{refused}");
    }
    assert!(receiver.received().is_empty());
}

async fn sixth_test_within_a_minute_is_429(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let body = json!({"url": "https://127.0.0.1/", "secret": "x"});
    for _ in 0..5 {
        let refused = env
            .operator
            .post("/webhooks/test", &body)
            .await
            .expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.header("x-ratelimit-limit"), Some("5"));
    }
    let over = env
        .operator
        .post("/webhooks/test", &body)
        .await
        .expect_error(429, "RATE_LIMITED");
    assert!(over.header_number("retry-after") <= 60, "{over}");
    let _ = env.operator.get("/webhooks").await.expect_ok(200);
}
