//! `bellwether listen`: the receiver for trying out webhooks.

use acceptance::{ServiceSetup, on_both_databases};
use serde_json::{Value, json};

use crate::webhooks::support::{fire_alert, start_environment};

on_both_databases![
    listen_prints_and_verifies_deliveries,
    listen_fails_on_an_invalid_signature,
];

async fn listen_prints_and_verifies_deliveries(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    for (form, over) in [("timestamped", "timestamp.body"), ("body", "the body")] {
        let mut listening =
            env.setup
                .launch_with(&["listen", "--port", "0", "--count", "1", "--secret", "a secret of mine"]);
        let url = format!("http://{}/", listening.address().await);
        let body = json!({"url": url, "events": ["alert.triggered"], "secret": "a secret of mine", "signature": form});
        let webhook = env.operator.post("/webhooks", &body).await.expect_ok(201).id();
        let alert = fire_alert(&env, 198.66).await;
        let (code, output) = listening.wait_for_exit().await;
        assert_eq!(code, Some(0), "{output}");
        for part in [
            "AAPL  price_above            price 198.66 is at or above 198.66",
            &format!("X-Service-Signature  right, over {over}"),
            "webhook-signature    right, over id.timestamp.body",
            &alert,
            "Received: 1, signatures verified: 1",
        ] {
            assert!(output.contains(part), "{part} is not in {output}");
        }
        let _ = env
            .operator
            .delete(&format!("/webhooks/{webhook}"))
            .await
            .expect_ok(200);
    }
}

async fn listen_fails_on_an_invalid_signature(setup: ServiceSetup) {
    let env = start_environment(setup).await;
    let arguments = ["listen", "--port", "0", "--count", "1", "--json"];
    let mut other = env
        .setup
        .launch_with(&[&arguments[..], &["--secret", "another"]].concat());
    let mut none = env.setup.launch_with(&arguments);
    for listening in [&mut other, &mut none] {
        let url = format!("http://{}/", listening.address().await);
        let body = json!({"url": url, "events": ["alert.triggered"], "secret": "a secret of mine"});
        let _ = env.operator.post("/webhooks", &body).await.expect_ok(201);
    }
    fire_alert(&env, 150.0).await;
    let (code, output) = other.wait_for_exit().await;
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("cannot be trusted"), "{output}");
    let (code, output) = none.wait_for_exit().await;
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("Signatures are not verified"), "{output}");
    let line = output.lines().find(|line| line.starts_with('{')).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["body"]["event"], "alert.triggered");
    assert_eq!(line["id"], line["body"]["id"]);
}
