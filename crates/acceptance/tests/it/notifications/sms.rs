//! Text messages over a provider that responds like Twilio.

use acceptance::clock::wait_for;
use acceptance::{Behaviour, RecordedRequest, ScriptedServer, ServiceSetup, TestEnvironment, on_both_databases};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha1::Sha1;
use url::form_urlencoded;

use crate::notifications::support::SignedInUser;

on_both_databases![
    sms_alert_is_sent_and_undelivered_report_is_recorded,
    temporary_errors_are_retried_and_permanent_ones_are_not,
    unsigned_status_reports_change_nothing,
];

const PASSWORD: &str = "correct horse";
const PHONE_NUMBER: &str = "+14155550123";
const TWILIO_ACCOUNT_SID: &str = "AC0123456789abcdef0123456789abcdef";
const TWILIO_AUTH_TOKEN: &str = "fedcba9876543210fedcba9876543210";
const STATUS_CALLBACK_URL: &str = "https://alerts.example.com/sms/status";

/// Returns Twilio's response for an accepted message.
fn twilio_accepted(sid: &str) -> Behaviour {
    let body = json!({
        "account_sid": TWILIO_ACCOUNT_SID, "sid": sid, "status": "queued", "error_code": null, "error_message": null, "num_segments": "1",
    });
    Behaviour::Respond(201, Vec::new(), body.to_string())
}

/// Returns Twilio's response for an error.
fn twilio_error(status: u16, code: u32, message: &str) -> Behaviour {
    let more = format!("https://www.twilio.com/docs/errors/{code}");
    let body = json!({"code": code, "message": message, "more_info": more, "status": status});
    Behaviour::Respond(status, Vec::new(), body.to_string())
}

fn sid(number: u32) -> String {
    format!("SM{number:032x}")
}

fn form(received: &RecordedRequest) -> Vec<(String, String)> {
    form_urlencoded::parse(received.body.as_bytes()).into_owned().collect()
}

fn field<'a>(form: &'a [(String, String)], name: &str) -> &'a str {
    &form.iter().find(|(found, _)| found == name).unwrap().1
}

/// Starts a service with this SMS provider, and signs in Ann, a premium user.
async fn start_environment(setup: ServiceSetup, provider: &ScriptedServer) -> (TestEnvironment, SignedInUser) {
    let setup = setup
        .set("server.public_url", "https://alerts.example.com")
        .set("sms.provider", "twilio")
        .set("sms.account_sid", TWILIO_ACCOUNT_SID)
        .set("sms.auth_token", TWILIO_AUTH_TOKEN)
        .set("sms.from", "+15005550006")
        .set("sms.base_url", &format!("http://{}", provider.address()))
        .set("sms.retry_delays", "200ms,200ms");
    setup.create_user("ann@example.org", "premium", &[]).await;
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let ann = SignedInUser::sign_in(&env, "ann@example.org", PASSWORD).await;
    (env, ann)
}

/// Verifies Ann's phone number with the code in the provider's first message.
async fn verify_phone(ann: &SignedInUser, provider: &ScriptedServer) {
    let request = json!({"phone": PHONE_NUMBER, "sms_consent": true});
    let _ = ann
        .send(Method::POST, "/user/account/phone", &request)
        .await
        .expect_ok(200);
    let message = form(&provider.wait_for_requests(1).await[0]);
    let code = field(&message, "Body").split_whitespace().next().unwrap();
    let verification = json!({"phone": PHONE_NUMBER, "token": code});
    let _ = ann
        .send(Method::POST, "/user/account/phone/verify", &verification)
        .await
        .expect_ok(200);
}

/// Sends a status report like the provider, signed with a secret; returns the response status.
async fn send_status_report(env: &TestEnvironment, secret: &str, params: &[(&str, &str)]) -> u16 {
    let mut sorted = params.to_vec();
    sorted.sort_unstable();
    let mut signed = Hmac::<Sha1>::new_from_slice(secret.as_bytes()).unwrap();
    signed.update(STATUS_CALLBACK_URL.as_bytes());
    for (name, value) in sorted {
        signed.update(name.as_bytes());
        signed.update(value.as_bytes());
    }
    let signature = STANDARD.encode(signed.finalize().into_bytes());
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(params)
        .finish();
    let request = env.server.anonymous_client().request_to(Method::POST, "/sms/status");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request
        .header("x-twilio-signature", &signature)
        .body_without_content_type(body)
        .send()
        .await
        .status
}

async fn sms_sent_this_month(ann: &SignedInUser) -> Value {
    ann.get("/user/subscription").await.expect_ok(200).data()["usage"]["count"].clone()
}

async fn sms_alert_is_sent_and_undelivered_report_is_recorded(setup: ServiceSetup) {
    let provider = ScriptedServer::with_script(vec![
        twilio_accepted(&sid(1)),
        twilio_accepted(&sid(2)),
        twilio_accepted(&sid(3)),
    ])
    .await;
    let (env, ann) = start_environment(setup, &provider).await;
    verify_phone(&ann, &provider).await;
    assert_eq!(sms_sent_this_month(&ann).await, 0);
    let alert = ann.fire(&env, "sms", 120.0).await;
    assert_eq!(ann.outcome(&alert).await, "notification_sent");

    let received = provider.wait_for_requests(2).await;
    assert_eq!(
        received[1].line,
        format!("POST /2010-04-01/Accounts/{TWILIO_ACCOUNT_SID}/Messages.json HTTP/1.1")
    );
    let credentials = STANDARD.encode(format!("{TWILIO_ACCOUNT_SID}:{TWILIO_AUTH_TOKEN}"));
    assert_eq!(received[1].header("authorization"), format!("Basic {credentials}"));
    let message = form(&received[1]);
    assert_eq!(
        (field(&message, "To"), field(&message, "From")),
        (PHONE_NUMBER, "+15005550006")
    );
    assert_eq!(field(&message, "StatusCallback"), STATUS_CALLBACK_URL);
    let text = "Bellwether: AAPL (AAPL Company): price 120.00 is at or above 120.00. Price 120.00 USD";
    assert!(field(&message, "Body").starts_with(text), "{}", field(&message, "Body"));
    assert_eq!(sms_sent_this_month(&ann).await, 1);

    // The second message is undelivered: the history shows it, and it no longer counts.
    let params = [
        ("MessageSid", &*sid(2)),
        ("MessageStatus", "undelivered"),
        ("ErrorCode", "30003"),
        ("To", PHONE_NUMBER),
    ];
    assert_eq!(send_status_report(&env, TWILIO_AUTH_TOKEN, &params).await, 204);
    let entries = ann.wait_for_notifications(&alert, 2).await;
    assert_eq!(
        (entries.len(), &entries[1]["action_type"]),
        (2, &json!("notification_failed"))
    );
    assert_eq!(sms_sent_this_month(&ann).await, 0);
    // Repeated or later reports for the same message add no entries.
    assert_eq!(send_status_report(&env, TWILIO_AUTH_TOKEN, &params).await, 204);
    let later = [("MessageSid", &*sid(2)), ("MessageStatus", "delivered")];
    assert_eq!(send_status_report(&env, TWILIO_AUTH_TOKEN, &later).await, 204);
    assert_eq!(ann.wait_for_notifications(&alert, 2).await.len(), 2);

    assert!(!env.server.log().contains(TWILIO_AUTH_TOKEN));
}

async fn temporary_errors_are_retried_and_permanent_ones_are_not(setup: ServiceSetup) {
    let provider = ScriptedServer::with_script(vec![twilio_accepted(&sid(1)), twilio_accepted(&sid(2))]).await;
    let (env, ann) = start_environment(setup, &provider).await;
    verify_phone(&ann, &provider).await;

    provider.set_behaviour(twilio_error(400, 21610, "Attempt to send to unsubscribed recipient"));
    let alert = ann.fire(&env, "sms", 120.0).await;
    assert_eq!(ann.outcome(&alert).await, "notification_failed");
    assert_eq!(provider.received().len(), 2);

    provider.set_behaviour(twilio_error(429, 20429, "Too Many Requests"));
    let alert = ann.fire(&env, "sms", 130.0).await;
    provider.wait_for_requests(3).await;
    provider.set_behaviour(twilio_accepted(&sid(3)));
    assert_eq!(ann.outcome(&alert).await, "notification_sent");

    provider.set_behaviour(twilio_error(503, 20503, "Service Unavailable"));
    let alert = ann.fire(&env, "sms", 140.0).await;
    assert_eq!(ann.outcome(&alert).await, "notification_failed");
    let last: Vec<RecordedRequest> = provider.received().split_off(provider.received().len() - 3);
    assert!(
        last.iter().all(|one| field(&form(one), "Body").contains("price 140")),
        "{last:?}"
    );
    // Failed messages are not counted.
    assert_eq!(sms_sent_this_month(&ann).await, 1);
}

async fn unsigned_status_reports_change_nothing(setup: ServiceSetup) {
    let provider = ScriptedServer::with_script(vec![twilio_accepted(&sid(1)), twilio_accepted(&sid(2))]).await;
    let (env, ann) = start_environment(setup, &provider).await;
    verify_phone(&ann, &provider).await;
    let alert = ann.fire(&env, "sms", 120.0).await;
    assert_eq!(ann.outcome(&alert).await, "notification_sent");
    let params = [("MessageSid", &*sid(2)), ("MessageStatus", "failed")];
    assert_eq!(send_status_report(&env, "another secret", &params).await, 403);
    assert_eq!(send_status_report(&env, "", &params).await, 403);
    assert_eq!(ann.wait_for_notifications(&alert, 1).await.len(), 1);
    // A signed report about an unknown message.
    let unknown_sid = sid(99);
    let params = [("MessageSid", &*unknown_sid), ("MessageStatus", "failed")];
    assert_eq!(send_status_report(&env, TWILIO_AUTH_TOKEN, &params).await, 404);
    let count = wait_for("the sent message", || async { Some(sms_sent_this_month(&ann).await) }).await;
    assert_eq!(count, 1);
}
