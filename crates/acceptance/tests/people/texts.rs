//! Text messages by a provider that answers in Twilio's forms.

use acceptance::clock::wait_for;
use acceptance::{Behaviour, Received, Receiver, Setup, World, on_both_databases};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha1::Sha1;
use url::form_urlencoded;

use crate::support::Person;

on_both_databases![
    a_number_is_verified_and_told_what_fired_and_the_provider_reports,
    what_the_provider_refuses_is_given_up_and_what_it_cannot_take_now_is_tried_again,
    reports_that_are_not_signed_by_the_provider_change_nothing,
];

const PASSWORD: &str = "correct horse";
const NUMBER: &str = "+14155550123";
const ACCOUNT: &str = "AC0123456789abcdef0123456789abcdef";
const TOKEN: &str = "fedcba9876543210fedcba9876543210";
const CALLBACK: &str = "https://alerts.example.com/sms/status";

/// As Twilio says that it has taken a message.
fn taken(sid: &str) -> Behaviour {
    let body = json!({
        "account_sid": ACCOUNT, "sid": sid, "status": "queued", "error_code": null, "error_message": null, "num_segments": "1",
    });
    Behaviour::Answers(201, Vec::new(), body.to_string())
}

/// As Twilio says that it has not.
fn refused(status: u16, code: u32, message: &str) -> Behaviour {
    let more = format!("https://www.twilio.com/docs/errors/{code}");
    let body = json!({"code": code, "message": message, "more_info": more, "status": status});
    Behaviour::Answers(status, Vec::new(), body.to_string())
}

fn sid(number: u32) -> String {
    format!("SM{number:032x}")
}

fn form(received: &Received) -> Vec<(String, String)> {
    form_urlencoded::parse(received.body.as_bytes()).into_owned().collect()
}

fn field<'a>(form: &'a [(String, String)], name: &str) -> &'a str {
    &form.iter().find(|(found, _)| found == name).unwrap().1
}

/// A world with such a provider, and Ann on the premium plan.
async fn world(setup: Setup, provider: &Receiver) -> (World, Person) {
    let setup = setup
        .set("server.public_url", "https://alerts.example.com")
        .set("sms.provider", "twilio")
        .set("sms.account_sid", ACCOUNT)
        .set("sms.auth_token", TOKEN)
        .set("sms.from", "+15005550006")
        .set("sms.base_url", &format!("http://{}", provider.address()))
        .set("sms.retry_delays", "200ms,200ms");
    setup.create_user("ann@example.org", "premium", &[]).await;
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let ann = Person::sign_in(&world, "ann@example.org", PASSWORD).await;
    (world, ann)
}

/// Verifies Ann's number, by the first message that the provider gets.
async fn verify(ann: &Person, provider: &Receiver) {
    let asked = json!({"phone": NUMBER, "sms_consent": true});
    let _ = ann.send(Method::POST, "/user/account/phone", &asked).await.ok(200);
    let message = form(&provider.wait_for(1).await[0]);
    let code = field(&message, "Body").split_whitespace().next().unwrap();
    let shown = json!({"phone": NUMBER, "token": code});
    let _ = ann
        .send(Method::POST, "/user/account/phone/verify", &shown)
        .await
        .ok(200);
}

/// What the provider sends when it reports, signed with a secret.
async fn report(world: &World, secret: &str, params: &[(&str, &str)]) -> u16 {
    let mut sorted = params.to_vec();
    sorted.sort_unstable();
    let mut signed = Hmac::<Sha1>::new_from_slice(secret.as_bytes()).unwrap();
    signed.update(CALLBACK.as_bytes());
    for (name, value) in sorted {
        signed.update(name.as_bytes());
        signed.update(value.as_bytes());
    }
    let signature = STANDARD.encode(signed.finalize().into_bytes());
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(params)
        .finish();
    let request = world.server.anybody().request_to(Method::POST, "/sms/status");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request
        .header("x-twilio-signature", &signature)
        .untyped(body)
        .send()
        .await
        .status
}

async fn sent_this_month(ann: &Person) -> Value {
    ann.get("/user/subscription").await.ok(200).data()["usage"]["count"].clone()
}

async fn a_number_is_verified_and_told_what_fired_and_the_provider_reports(setup: Setup) {
    let provider = Receiver::that(vec![taken(&sid(1)), taken(&sid(2)), taken(&sid(3))]).await;
    let (world, ann) = world(setup, &provider).await;
    verify(&ann, &provider).await;
    assert_eq!(sent_this_month(&ann).await, 0);
    let alert = ann.fire(&world, "sms", 120.0).await;
    assert_eq!(ann.outcome(&alert).await, "notification_sent");

    let received = provider.wait_for(2).await;
    assert_eq!(
        received[1].line,
        format!("POST /2010-04-01/Accounts/{ACCOUNT}/Messages.json HTTP/1.1")
    );
    let credentials = STANDARD.encode(format!("{ACCOUNT}:{TOKEN}"));
    assert_eq!(received[1].header("authorization"), format!("Basic {credentials}"));
    let message = form(&received[1]);
    assert_eq!(
        (field(&message, "To"), field(&message, "From")),
        (NUMBER, "+15005550006")
    );
    assert_eq!(field(&message, "StatusCallback"), CALLBACK);
    let text = "Bellwether: AAPL (AAPL Company): price 120.00 is at or above 120.00. Price 120.00 USD";
    assert!(field(&message, "Body").starts_with(text), "{}", field(&message, "Body"));
    assert_eq!(sent_this_month(&ann).await, 1);

    // The second message never got there: it is told, and counts no more.
    let params = [
        ("MessageSid", &*sid(2)),
        ("MessageStatus", "undelivered"),
        ("ErrorCode", "30003"),
        ("To", NUMBER),
    ];
    assert_eq!(report(&world, TOKEN, &params).await, 204);
    let told = ann.notified(&alert, 2).await;
    assert_eq!(
        (told.len(), &told[1]["action_type"]),
        (2, &json!("notification_failed"))
    );
    assert_eq!(sent_this_month(&ann).await, 0);
    // That is said once, however often the provider says it, or something else.
    assert_eq!(report(&world, TOKEN, &params).await, 204);
    let later = [("MessageSid", &*sid(2)), ("MessageStatus", "delivered")];
    assert_eq!(report(&world, TOKEN, &later).await, 204);
    assert_eq!(ann.notified(&alert, 2).await.len(), 2);

    assert!(!world.server.log().contains(TOKEN));
}

async fn what_the_provider_refuses_is_given_up_and_what_it_cannot_take_now_is_tried_again(setup: Setup) {
    let provider = Receiver::that(vec![taken(&sid(1)), taken(&sid(2))]).await;
    let (world, ann) = world(setup, &provider).await;
    verify(&ann, &provider).await;

    provider.becomes(refused(400, 21610, "Attempt to send to unsubscribed recipient"));
    let alert = ann.fire(&world, "sms", 120.0).await;
    assert_eq!(ann.outcome(&alert).await, "notification_failed");
    assert_eq!(provider.received().len(), 2);

    provider.becomes(refused(429, 20429, "Too Many Requests"));
    let alert = ann.fire(&world, "sms", 130.0).await;
    provider.wait_for(3).await;
    provider.becomes(taken(&sid(3)));
    assert_eq!(ann.outcome(&alert).await, "notification_sent");

    provider.becomes(refused(503, 20503, "Service Unavailable"));
    let alert = ann.fire(&world, "sms", 140.0).await;
    assert_eq!(ann.outcome(&alert).await, "notification_failed");
    let last: Vec<Received> = provider.received().split_off(provider.received().len() - 3);
    assert!(
        last.iter().all(|one| field(&form(one), "Body").contains("price 140")),
        "{last:?}"
    );
    // What came to nothing is not counted.
    assert_eq!(sent_this_month(&ann).await, 1);
}

async fn reports_that_are_not_signed_by_the_provider_change_nothing(setup: Setup) {
    let provider = Receiver::that(vec![taken(&sid(1)), taken(&sid(2))]).await;
    let (world, ann) = world(setup, &provider).await;
    verify(&ann, &provider).await;
    let alert = ann.fire(&world, "sms", 120.0).await;
    assert_eq!(ann.outcome(&alert).await, "notification_sent");
    let params = [("MessageSid", &*sid(2)), ("MessageStatus", "failed")];
    assert_eq!(report(&world, "another secret", &params).await, 403);
    assert_eq!(report(&world, "", &params).await, 403);
    assert_eq!(ann.notified(&alert, 1).await.len(), 1);
    // Signed, but about nothing of ours.
    let others = sid(99);
    let params = [("MessageSid", &*others), ("MessageStatus", "failed")];
    assert_eq!(report(&world, TOKEN, &params).await, 404);
    let done = wait_for("the sent message", || async { Some(sent_this_month(&ann).await) }).await;
    assert_eq!(done, 1);
}
