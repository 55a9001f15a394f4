//! The account as its owner looks after it, and the jobs of the operator.

use acceptance::clock::wait_for;
use acceptance::{Answer, Client, Setup, World, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases![
    an_owner_verifies_a_number_is_told_by_it_takes_all_along_and_leaves,
    jobs_are_started_with_the_operators_secret_only,
];

const EMAIL: &str = "ann@example.com";
const PASSWORD: &str = "correct horse battery";
const PHONE: &str = "+14155550123";

/// Somebody who has signed in.
struct Owner {
    client: Client,
    bearer: String,
}

impl Owner {
    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = self.client.request(method, path).header("authorization", &self.bearer);
        match body {
            Some(body) => request.json(&body).send().await,
            None => request.send().await,
        }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }
}

async fn sign_in(world: &World, password: &str) -> Answer {
    let body = json!({"email": EMAIL, "password": password});
    world.server.anybody().post("/auth/login", &body).await
}

async fn owner(world: &World) -> Owner {
    let arguments = [
        "create-user",
        "--email",
        EMAIL,
        "--password",
        PASSWORD,
        "--plan",
        "premium",
        "--verified",
    ];
    world.setup.admin(&arguments).await;
    let signed_in = sign_in(world, PASSWORD).await.ok(200);
    Owner {
        client: world.server.anybody(),
        bearer: format!("Bearer {}", signed_in.text_of("access_token")),
    }
}

/// The text message that was sent to the number and has that in it.
async fn texted(world: &World, part: &str) -> String {
    let path = format!("/outbox?channel=sms&to={}", PHONE.replace('+', "%2B"));
    wait_for("a text message", async || {
        let kept = world.me.get(&path).await.ok(200);
        let texts = kept.items().iter().filter_map(|kept| kept["text"].as_str());
        texts.map(str::to_owned).find(|text| text.contains(part))
    })
    .await
}

async fn an_owner_verifies_a_number_is_told_by_it_takes_all_along_and_leaves(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 189.2).await;
    let ann = owner(&world).await;
    let preferences = json!({"time_zone": "Europe/Berlin", "quiet_hours": null, "notify_blind": false});
    let put = ann
        .send(Method::PUT, "/user/preferences", Some(preferences.clone()))
        .await;
    assert_eq!(put.ok(200).data(), &preferences);
    let asked = ann
        .post("/user/account/phone", json!({"phone": PHONE, "sms_consent": true}))
        .await;
    let _ = asked.ok(200);
    let text = texted(&world, "code").await;
    let code = text
        .split(|c: char| !c.is_ascii_digit())
        .find(|word| word.len() == 6)
        .unwrap();
    let shown = ann
        .post("/user/account/phone/verify", json!({"phone": PHONE, "token": code}))
        .await;
    assert_eq!(shown.ok(200).text_of("phone"), PHONE);
    let by_sms = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "notification": "sms"});
    let alert = ann.post("/alerts", by_sms).await.ok(201).id();
    world.quote("AAPL", 201.5).await;
    assert!(texted(&world, "AAPL").await.contains("201.5"));
    wait_for("the message to be counted", async || {
        let used = ann.get("/user/subscription").await.ok(200);
        (used.data()["usage"]["count"] == 1).then_some(())
    })
    .await;
    let key = ann.post("/api-keys", json!({"name": "script"})).await.ok(201);
    let key = key.text_of("api_key").to_owned();
    let export = ann.get("/user/account/export").await.ok(200);
    assert_eq!(export.data()["account"]["phone"]["number"], PHONE);
    assert_eq!(export.data()["alerts"][0]["id"], json!(alert));
    assert!(!export.text.contains(&key[11..]) && !export.text.contains(code));
    let word = json!({"confirmation": "DELETE"});
    let _ = ann.send(Method::DELETE, "/user/account", Some(word)).await.ok(200);
    let _ = ann.get("/user/session").await.refused(401, "UNAUTHORIZED");
    let _ = world
        .me
        .with_key(&key)
        .get("/alerts")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = sign_in(&world, PASSWORD).await.refused(401, "UNAUTHORIZED");
    let log = world.server.log();
    for secret in [&key[11..], code, PASSWORD, &ann.bearer[7..], PHONE] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

async fn jobs_are_started_with_the_operators_secret_only(setup: Setup) {
    let secret = "a secret for schedules";
    let world = setup.set("operator.cron_secret", secret).world().await;
    let start = async |bearer: &str| {
        let request = world.server.anybody().request(Method::POST, "/cron/evaluate");
        request
            .header("authorization", &format!("Bearer {bearer}"))
            .send()
            .await
    };
    let done = start(secret).await.ok_unlimited(200);
    assert_eq!(
        (done.text_of("job"), &done.data()["has_run"]),
        ("evaluate", &json!(true))
    );
    for bearer in ["a secret for schedule", world.me.key()] {
        let _ = start(bearer).await.refused(401, "UNAUTHORIZED");
    }
    assert!(!world.server.log().contains(secret));
}
