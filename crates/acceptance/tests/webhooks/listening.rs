//! `bellwether listen`: the receiver that one tries webhooks out with.

use acceptance::{Setup, on_both_databases};
use serde_json::{Value, json};

use crate::support::{fire, world};

on_both_databases![
    it_shows_and_verifies_what_arrives,
    it_fails_if_something_is_not_to_be_trusted,
];

async fn it_shows_and_verifies_what_arrives(setup: Setup) {
    let world = world(setup).await;
    for (form, over) in [("timestamped", "timestamp.body"), ("body", "the body")] {
        let mut listening =
            world
                .setup
                .launch_with(&["listen", "--port", "0", "--count", "1", "--secret", "a secret of mine"]);
        let url = format!("http://{}/", listening.address().await);
        let body = json!({"url": url, "events": ["alert.triggered"], "secret": "a secret of mine", "signature": form});
        let hook = world.me.post("/webhooks", &body).await.ok(201).id();
        let alert = fire(&world, 198.66).await;
        let (code, told) = listening.end().await;
        assert_eq!(code, Some(0), "{told}");
        for part in [
            "AAPL  price_above            price 198.66 is at or above 198.66",
            &format!("X-Service-Signature  right, over {over}"),
            "webhook-signature    right, over id.timestamp.body",
            &alert,
            "Received: 1, signatures verified: 1",
        ] {
            assert!(told.contains(part), "{part} is not in {told}");
        }
        let _ = world.me.delete(&format!("/webhooks/{hook}")).await.ok(200);
    }
}

async fn it_fails_if_something_is_not_to_be_trusted(setup: Setup) {
    let world = world(setup).await;
    let arguments = ["listen", "--port", "0", "--count", "1", "--json"];
    let mut other = world
        .setup
        .launch_with(&[&arguments[..], &["--secret", "another"]].concat());
    let mut none = world.setup.launch_with(&arguments);
    for listening in [&mut other, &mut none] {
        let url = format!("http://{}/", listening.address().await);
        let body = json!({"url": url, "events": ["alert.triggered"], "secret": "a secret of mine"});
        let _ = world.me.post("/webhooks", &body).await.ok(201);
    }
    fire(&world, 150.0).await;
    let (code, told) = other.end().await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("not to be trusted"), "{told}");
    let (code, told) = none.end().await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("Signatures are not verified"), "{told}");
    let line = told.lines().find(|line| line.starts_with('{')).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["body"]["event"], "alert.triggered");
    assert_eq!(line["id"], line["body"]["id"]);
}
