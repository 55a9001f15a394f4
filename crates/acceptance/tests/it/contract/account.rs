//! Account management by the owner, and cron jobs of the operator.

use acceptance::clock::wait_for;
use acceptance::{ApiClient, CheckedResponse, ServiceSetup, TestEnvironment, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases![
    phone_verification_sms_alert_export_and_account_deletion,
    cron_jobs_require_the_operator_secret,
];

const EMAIL: &str = "ann@example.com";
const PASSWORD: &str = "correct horse battery";
const PHONE: &str = "+14155550123";

/// A user with an access token.
struct SignedInUser {
    client: ApiClient,
    bearer: String,
}

impl SignedInUser {
    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> CheckedResponse {
        let request = self.client.request(method, path).header("authorization", &self.bearer);
        match body {
            Some(body) => request.json(&body).send().await,
            None => request.send().await,
        }
    }

    async fn get(&self, path: &str) -> CheckedResponse {
        self.send(Method::GET, path, None).await
    }

    async fn post(&self, path: &str, body: Value) -> CheckedResponse {
        self.send(Method::POST, path, Some(body)).await
    }
}

async fn sign_in(env: &TestEnvironment, password: &str) -> CheckedResponse {
    let body = json!({"email": EMAIL, "password": password});
    env.server.anonymous_client().post("/auth/login", &body).await
}

async fn sign_in_owner(env: &TestEnvironment) -> SignedInUser {
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
    env.setup.admin(&arguments).await;
    let signed_in = sign_in(env, PASSWORD).await.expect_ok(200);
    SignedInUser {
        client: env.server.anonymous_client(),
        bearer: format!("Bearer {}", signed_in.text_of("access_token")),
    }
}

/// Waits for a text message to the phone number that contains `part`, and returns it.
async fn wait_for_sms(env: &TestEnvironment, part: &str) -> String {
    let path = format!("/outbox?channel=sms&to={}", PHONE.replace('+', "%2B"));
    wait_for("a text message", async || {
        let kept = env.operator.get(&path).await.expect_ok(200);
        let texts = kept.items().iter().filter_map(|kept| kept["text"].as_str());
        texts.map(str::to_owned).find(|text| text.contains(part))
    })
    .await
}

async fn phone_verification_sms_alert_export_and_account_deletion(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 189.2).await;
    let ann = sign_in_owner(&env).await;
    let preferences =
        json!({"time_zone": "Europe/Berlin", "quiet_hours": null, "away_until": null, "notify_blind": false});
    let put = ann
        .send(Method::PUT, "/user/preferences", Some(preferences.clone()))
        .await;
    assert_eq!(put.expect_ok(200).data(), &preferences);
    let requested = ann
        .post("/user/account/phone", json!({"phone": PHONE, "sms_consent": true}))
        .await;
    let _ = requested.expect_ok(200);
    let text = wait_for_sms(&env, "code").await;
    let code = text
        .split(|c: char| !c.is_ascii_digit())
        .find(|word| word.len() == 6)
        .unwrap();
    let verified = ann
        .post("/user/account/phone/verify", json!({"phone": PHONE, "token": code}))
        .await;
    assert_eq!(verified.expect_ok(200).text_of("phone"), PHONE);
    let sms_alert = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "notification": "sms"});
    let alert = ann.post("/alerts", sms_alert).await.expect_ok(201).id();
    env.quote("AAPL", 201.5).await;
    assert!(wait_for_sms(&env, "AAPL").await.contains("201.5"));
    wait_for("the message to be counted", async || {
        let used = ann.get("/user/subscription").await.expect_ok(200);
        (used.data()["usage"]["count"] == 1).then_some(())
    })
    .await;
    let key = ann.post("/api-keys", json!({"name": "script"})).await.expect_ok(201);
    let key = key.text_of("api_key").to_owned();
    let export = ann.get("/user/account/export").await.expect_ok(200);
    assert_eq!(export.data()["account"]["phone"]["number"], PHONE);
    assert_eq!(export.data()["alerts"][0]["id"], json!(alert));
    assert!(!export.text.contains(&key[11..]) && !export.text.contains(code));
    let confirmation = json!({"confirmation": "DELETE"});
    let _ = ann
        .send(Method::DELETE, "/user/account", Some(confirmation))
        .await
        .expect_ok(200);
    let _ = ann.get("/user/session").await.expect_error(401, "UNAUTHORIZED");
    let _ = env
        .operator
        .with_key(&key)
        .get("/alerts")
        .await
        .expect_error(401, "UNAUTHORIZED");
    let _ = sign_in(&env, PASSWORD).await.expect_error(401, "UNAUTHORIZED");
    let log = env.server.log();
    for secret in [&key[11..], code, PASSWORD, &ann.bearer[7..], PHONE] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

async fn cron_jobs_require_the_operator_secret(setup: ServiceSetup) {
    let secret = "a secret for schedules";
    let env = setup.set("operator.cron_secret", secret).start_environment().await;
    let start = async |bearer: &str| {
        let request = env.server.anonymous_client().request(Method::POST, "/cron/evaluate");
        request
            .header("authorization", &format!("Bearer {bearer}"))
            .send()
            .await
    };
    let done = start(secret).await.expect_ok_without_limit(200);
    assert_eq!(
        (done.text_of("job"), &done.data()["has_run"]),
        ("evaluate", &json!(true))
    );
    for bearer in ["a secret for schedule", env.operator.key()] {
        let _ = start(bearer).await.expect_error(401, "UNAUTHORIZED");
    }
    assert!(!env.server.log().contains(secret));
}
