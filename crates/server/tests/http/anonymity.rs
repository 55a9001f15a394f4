//! Nobody can tell whether an address has an account, where addresses have to be confirmed. Where they need not be, whoever
//! registers is let in at once, and that tells.

use serde_json::json;
use testkit::Database;

use crate::signing::{ANN, ANOTHER, PASSWORD, on_each_database, unlimited};
use crate::world::{Answer, World};

on_each_database! {
    answers_are_the_same_whether_an_address_has_an_account_or_not
    a_password_alone_signs_in_only_after_the_address_is_confirmed
}

async fn world(database: Database) -> World {
    World::on(database, unlimited(), |house| {
        house.identity.require_email_confirmation = true
    })
    .await
}

/// All of an answer that a client can see, but for its id.
fn seen(answer: &Answer) -> (u16, String, Vec<(String, String)>) {
    let headers = answer.headers.iter();
    let headers = headers.filter(|(name, _)| *name != "x-request-id");
    let mut headers: Vec<_> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    (answer.status, answer.text.clone(), headers)
}

async fn answers_are_the_same_whether_an_address_has_an_account_or_not(world: World) {
    let (unconfirmed, passwordless) = ("unconfirmed@example.com", "passwordless@example.com");
    world.confirmed(ANN).await;
    let _ = world.register(unconfirmed, PASSWORD).await;
    // Whoever gets in by a link before anything was confirmed has no password.
    let _ = world.register(passwordless, PASSWORD).await;
    let token = world.magic_link(passwordless).await;
    let _ = world.ask("magic-link", json!({"token": token})).await.ok(200);
    let emails = ["nobody@example.com", ANN, unconfirmed, passwordless];
    // Each from an address of its own, so that each is the first that is counted there.
    let mut client = 0;
    for (route, status, more) in [
        ("login", 401, json!({"password": ANOTHER})),
        ("register", 201, json!({"password": ANOTHER})),
        (
            "register",
            201,
            json!({"password": ANOTHER, "full_name": "Somebody Else"}),
        ),
        // Whoever has just registered with an address cannot tell by its password either.
        ("login", 401, json!({"password": ANOTHER})),
        ("login", 401, json!({"password": ""})),
        ("login", 200, json!({"type": "magic_link"})),
        ("request-reset", 200, json!({})),
        (
            "reset-confirm",
            400,
            json!({"token": "A".repeat(43), "new_password": ANOTHER}),
        ),
        (
            "reset-confirm",
            422,
            json!({"token": "A".repeat(43), "new_password": "short"}),
        ),
    ] {
        let mut answers = Vec::new();
        for email in emails {
            let mut body = more.clone();
            body["email"] = json!(email);
            client += 1;
            let request = world.asking(route, &body).at_address(&format!("198.51.100.{client}"));
            answers.push(seen(&request.send().await));
        }
        assert_eq!(answers[0].0, status, "{route} {more}");
        for (email, other) in emails.iter().zip(&answers) {
            assert_eq!(answers[0], *other, "{route} {more} {email}");
        }
    }
    // Nor by how soon guessing is made to wait.
    let waits = async |email: &str, password: &str, client: &str| {
        let mut waited = Vec::new();
        for _ in 0..7 {
            let body = json!({"email": email, "password": password});
            let answer = world.asking("login", &body).at_address(client).send().await;
            waited.push((answer.status, answer.text));
        }
        waited
    };
    let nobody = waits("nobody2@example.com", PASSWORD, "203.0.113.1").await;
    assert_eq!(nobody, waits(unconfirmed, PASSWORD, "203.0.113.2").await);
    assert_eq!(nobody, waits(ANN, ANOTHER, "203.0.113.3").await);
}

async fn a_password_alone_signs_in_only_after_the_address_is_confirmed(world: World) {
    let token = world.register(ANN, PASSWORD).await;
    let refused = world.login(ANN, PASSWORD).await.refused(401, "UNAUTHORIZED");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("confirm"), "it says what may be missing: {message}");
    let _ = world.ask("confirm", json!({"token": token})).await.ok(200);
    let _ = world.login(ANN, PASSWORD).await.ok(200);
}
