//! `POST /webhooks/test`

use acceptance::{Behaviour, Receiver, Setup, on_both_databases};
use serde_json::json;

use crate::support::world;

on_both_databases![
    a_test_is_sent_at_once_and_its_answer_told,
    a_receiver_that_does_not_answer_has_no_status,
    nothing_of_what_is_not_open_is_told,
    the_sixth_test_of_a_minute_is_one_too_many,
];

async fn a_test_is_sent_at_once_and_its_answer_told(setup: Setup) {
    let world = world(setup).await;
    let teapot = Behaviour::Answers(418, Vec::new(), "short and stout ".repeat(100));
    let receiver = Receiver::that(vec![Behaviour::status(200), teapot]).await;
    let body = json!({"url": receiver.url(), "secret": "whsec_test"});
    let fine = world.me.post("/webhooks/test", &body).await.ok(200);
    assert_eq!(
        fine.data(),
        &json!({"status": 200, "statusText": "OK", "status_text": "OK", "response": ""})
    );
    let received = receiver.received().remove(0);
    assert_eq!(received.json()["event"], "alert.triggered");
    assert_eq!(received.json()["data"]["test"], true);
    assert_eq!(received.header("x-service-event"), "alert.triggered");
    assert!(received.header("x-service-signature").starts_with("sha256="));
    let odd = world.me.post("/webhooks/test", &body).await.ok(200);
    assert_eq!(
        (&odd.data()["status"], odd.text_of("statusText")),
        (&json!(418), "I'm a teapot")
    );
    assert_eq!(odd.text_of("response").len(), 1_024);
    let _ = world
        .me
        .post("/webhooks/test", &json!({"url": receiver.url()}))
        .await
        .refused(400, "VALIDATION_ERROR");
}

async fn a_receiver_that_does_not_answer_has_no_status(setup: Setup) {
    let world = world(setup).await;
    let receiver = Receiver::that(vec![Behaviour::Closes]).await;
    let body = json!({"url": receiver.url(), "secret": "whsec_test"});
    let lost = world.me.post("/webhooks/test", &body).await.ok(200);
    assert_eq!((&lost.data()["status"], lost.text_of("response")), (&json!(0), ""));
    assert!(lost.text_of("statusText").contains("closed the connection"), "{lost}");
}

async fn nothing_of_what_is_not_open_is_told(setup: Setup) {
    // Nothing is opened here.
    let world = setup.world().await;
    let secret = Behaviour::Answers(200, Vec::new(), "the keys of the house".to_owned());
    let receiver = Receiver::that(vec![secret]).await;
    let port = receiver.address().port();
    for url in [
        receiver.url(),
        format!("https://127.0.0.1:{port}/"),
        format!("https://localhost:{port}/"),
    ] {
        let body = json!({"url": url, "secret": "x"});
        let refused = world
            .me
            .post("/webhooks/test", &body)
            .await
            .refused(400, "VALIDATION_ERROR");
        assert!(!refused.text.contains("keys of the house"), "{refused}");
    }
    assert!(receiver.received().is_empty());
}

async fn the_sixth_test_of_a_minute_is_one_too_many(setup: Setup) {
    let world = setup.world().await;
    let body = json!({"url": "https://127.0.0.1/", "secret": "x"});
    for _ in 0..5 {
        let refused = world
            .me
            .post("/webhooks/test", &body)
            .await
            .refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.header("x-ratelimit-limit"), Some("5"));
    }
    let over = world
        .me
        .post("/webhooks/test", &body)
        .await
        .refused(429, "RATE_LIMITED");
    assert!(over.header_number("retry-after") <= 60, "{over}");
    let _ = world.me.get("/webhooks").await.ok(200);
}
