//! Phone number of an account.

use alerts::Plan;
use delivery::messages::MessageChannel;
use foundation::{Actor, ServiceError};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{ann, bob, last_code, number, sent};
use crate::support::{OPEN, TestApp, at, kind, on_each_database};

on_each_database! {
    correct_code_verifies_number
    code_is_invalid_after_five_wrong_guesses
    fifty_concurrent_guesses_count_five
    fifty_concurrent_correct_codes_succeed_once
    code_works_once_within_ten_minutes_until_replaced
    code_belongs_to_one_account_and_number
    codes_are_limited_per_number
    codes_are_limited_per_account
    invalid_number_or_missing_consent_sends_nothing
    account_keeps_number_until_new_one_is_verified
}

const PHONE: &str = "+14155550123";
const OTHER: &str = "+14155550124";

async fn ask(app: &TestApp, actor: &Actor, phone: &str) -> Result<String, ServiceError> {
    app.service.account_settings.request_phone(actor, &number(phone)).await
}

async fn show(app: &TestApp, actor: &Actor, phone: &str, token: &str) -> Result<String, ServiceError> {
    let body = json!({"phone": phone, "token": token});
    let phone = app.service.account_settings.verify_phone(actor, &body).await?;
    Ok(phone.number)
}

/// Returns the actor's verified number.
async fn phone_of(app: &TestApp, actor: &Actor) -> Option<String> {
    let (_, account) = app.service.identity.session(actor).await.unwrap();
    account.profile.phone.map(|phone| phone.number)
}

/// Returns a code that differs from the given one.
fn wrong(code: &str, by: u32) -> String {
    let number: u32 = code.parse().unwrap();
    format!("{:06}", (number + by) % 1_000_000)
}

async fn correct_code_verifies_number(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    assert_eq!(ask(&app, &ann, PHONE).await.unwrap(), PHONE);
    assert_eq!(phone_of(&app, &ann).await, None);
    let code = last_code(&app, PHONE).await;
    let refused = show(&app, &ann, PHONE, &wrong(&code, 1)).await.unwrap_err();
    assert_eq!(kind(&refused), "malformed");
    assert!(refused.to_string().contains("4 attempts are left"), "{refused}");
    assert_eq!(phone_of(&app, &ann).await, None);
    assert_eq!(show(&app, &ann, PHONE, &code).await.unwrap(), PHONE);
    let (_, account) = app.service.identity.session(&ann).await.unwrap();
    let phone = account.profile.phone.unwrap();
    assert_eq!((phone.number.as_str(), phone.verified_at), (PHONE, at(OPEN)));
}

async fn code_is_invalid_after_five_wrong_guesses(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    for (wrong_ones, is_taken) in [(4, true), (5, false)] {
        ask(&app, &ann, PHONE).await.unwrap();
        let code = last_code(&app, PHONE).await;
        for by in 1..=wrong_ones {
            show(&app, &ann, PHONE, &wrong(&code, by)).await.unwrap_err();
        }
        let right = show(&app, &ann, PHONE, &code).await;
        assert_eq!(right.is_ok(), is_taken, "{wrong_ones}");
    }
    // A malformed code counts as a guess, too.
    ask(&app, &ann, PHONE).await.unwrap();
    let code = last_code(&app, PHONE).await;
    for token in ["", "1", "1234567", "abcdef", "' OR 1=1 --"] {
        show(&app, &ann, PHONE, token).await.unwrap_err();
    }
    let refused = show(&app, &ann, PHONE, &code).await.unwrap_err();
    assert!(refused.to_string().contains("POST /user/account/phone"), "{refused}");
}

async fn fifty_concurrent_guesses_count_five(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    ask(&app, &ann, PHONE).await.unwrap();
    let code = last_code(&app, PHONE).await;
    let guesses: Vec<String> = (1..=50).map(|by| wrong(&code, by)).collect();
    let guesses = guesses.iter().map(|guess| show(&app, &ann, PHONE, guess));
    let answers = futures_util::future::join_all(guesses).await;
    let texts = answers.into_iter().map(|answer| answer.unwrap_err().to_string());
    assert_eq!(texts.filter(|text| text.contains("attempts are left")).count(), 5);
    assert!(show(&app, &ann, PHONE, &code).await.is_err());
}

async fn fifty_concurrent_correct_codes_succeed_once(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    ask(&app, &ann, PHONE).await.unwrap();
    let code = last_code(&app, PHONE).await;
    let all = (0..50).map(|_| show(&app, &ann, PHONE, &code));
    let all = futures_util::future::join_all(all).await;
    assert_eq!(all.iter().filter(|shown| shown.is_ok()).count(), 1);
}

async fn code_works_once_within_ten_minutes_until_replaced(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let life = SignedDuration::from_mins(10);
    ask(&app, &ann, PHONE).await.unwrap();
    let first = last_code(&app, PHONE).await;
    app.clock.advance(life - SignedDuration::from_micros(1));
    show(&app, &ann, PHONE, &first).await.unwrap();
    assert!(show(&app, &ann, PHONE, &first).await.is_err(), "it is used up");
    ask(&app, &ann, PHONE).await.unwrap();
    let second = last_code(&app, PHONE).await;
    app.clock.advance(life);
    assert!(show(&app, &ann, PHONE, &second).await.is_err(), "its time is over");
    app.advance(60);
    ask(&app, &ann, PHONE).await.unwrap();
    let third = last_code(&app, PHONE).await;
    ask(&app, &ann, OTHER).await.unwrap();
    assert!(show(&app, &ann, PHONE, &third).await.is_err(), "there is a newer one");
    let fourth = last_code(&app, OTHER).await;
    show(&app, &ann, OTHER, &fourth).await.unwrap();
}

async fn code_belongs_to_one_account_and_number(app: TestApp) {
    let (ann, bob) = (ann(&app, Plan::Basic).await, bob(&app, Plan::Basic).await);
    ask(&app, &ann, PHONE).await.unwrap();
    let code = last_code(&app, PHONE).await;
    assert!(show(&app, &bob, PHONE, &code).await.is_err());
    assert!(show(&app, &ann, OTHER, &code).await.is_err());
    ask(&app, &bob, OTHER).await.unwrap();
    assert!(show(&app, &bob, PHONE, &code).await.is_err());
    // None of these was a guess at Ann's code.
    let refused = show(&app, &ann, PHONE, &wrong(&code, 1)).await.unwrap_err();
    assert!(refused.to_string().contains("4 attempts are left"), "{refused}");
    // Two accounts may have the same number.
    show(&app, &ann, PHONE, &code).await.unwrap();
    ask(&app, &bob, PHONE).await.unwrap();
    let code = last_code(&app, PHONE).await;
    show(&app, &bob, PHONE, &code).await.unwrap();
}

async fn codes_are_limited_per_number(app: TestApp) {
    let (ann, bob) = (ann(&app, Plan::Basic).await, bob(&app, Plan::Basic).await);
    for actor in [&ann, &bob, &ann] {
        ask(&app, actor, PHONE).await.unwrap();
    }
    let refused = ask(&app, &bob, PHONE).await.unwrap_err();
    assert!(
        matches!(
            refused,
            ServiceError::RateLimited {
                retry_after_s: 3600,
                ..
            }
        ),
        "{refused}"
    );
    ask(&app, &bob, OTHER).await.unwrap();
    app.clock
        .advance(SignedDuration::from_hours(1) - SignedDuration::from_micros(1));
    assert_eq!(kind(&ask(&app, &bob, PHONE).await.unwrap_err()), "too many");
    app.clock.advance(SignedDuration::from_micros(1));
    for actor in [&ann, &bob] {
        ask(&app, actor, PHONE).await.unwrap();
    }
    app.clock.advance(SignedDuration::from_hours(1));
    let day = ask(&app, &ann, PHONE).await.unwrap_err();
    assert!(
        matches!(
            day,
            ServiceError::RateLimited {
                retry_after_s: 86_400,
                ..
            }
        ),
        "{day}"
    );
    assert_eq!(sent(&app, MessageChannel::Sms, PHONE).await.len(), 5);
    app.clock.advance(SignedDuration::from_hours(22));
    ask(&app, &ann, PHONE).await.unwrap();
}

async fn codes_are_limited_per_account(app: TestApp) {
    let (ann, bob) = (ann(&app, Plan::Basic).await, bob(&app, Plan::Basic).await);
    let mut numbers = (0..100).map(|n| format!("+1415555{n:04}"));
    let mut next = move || numbers.next().unwrap();
    for _ in 0..3 {
        ask(&app, &ann, &next()).await.unwrap();
    }
    assert_eq!(kind(&ask(&app, &ann, &next()).await.unwrap_err()), "too many");
    app.clock.advance(SignedDuration::from_hours(1));
    for _ in 0..2 {
        ask(&app, &ann, &next()).await.unwrap();
    }
    app.clock.advance(SignedDuration::from_hours(1));
    let refused = next();
    assert_eq!(kind(&ask(&app, &ann, &refused).await.unwrap_err()), "too many");
    assert!(sent(&app, MessageChannel::Sms, &refused).await.is_empty());
    // Other accounts are not affected.
    ask(&app, &bob, &refused).await.unwrap();
    app.clock.advance(SignedDuration::from_hours(22));
    ask(&app, &ann, &next()).await.unwrap();
}

async fn invalid_number_or_missing_consent_sends_nothing(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    for (body, faults) in [
        (json!({}), "invalid phone sms_consent"),
        (json!({"phone": PHONE}), "invalid sms_consent"),
        (json!({"phone": PHONE, "sms_consent": false}), "invalid sms_consent"),
        (json!({"phone": PHONE, "sms_consent": "true"}), "invalid sms_consent"),
        (json!({"phone": "4155550123", "sms_consent": true}), "invalid phone"),
        (
            json!({"phone": 14_155_550_123_i64, "sms_consent": true}),
            "invalid phone",
        ),
        (
            json!({"phone": format!("{PHONE}\r\nTo: +19005550123"), "sms_consent": true}),
            "invalid phone",
        ),
        (
            json!({"phone": format!("{PHONE}&From=x"), "sms_consent": true}),
            "invalid phone",
        ),
        (json!([]), "malformed"),
    ] {
        let body: Value = body;
        let refused = app
            .service
            .account_settings
            .request_phone(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), faults, "{body}");
        if let ServiceError::Invalid { fields, .. } = refused {
            assert!(fields.values().all(|faults| faults.len() == 1), "{fields:?}");
        }
    }
    assert!(sent(&app, MessageChannel::Sms, PHONE).await.is_empty());
}

async fn account_keeps_number_until_new_one_is_verified(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    super::verify(&app, &ann, PHONE).await;
    ask(&app, &ann, OTHER).await.unwrap();
    assert_eq!(phone_of(&app, &ann).await.as_deref(), Some(PHONE));
    let code = last_code(&app, OTHER).await;
    show(&app, &ann, OTHER, &code).await.unwrap();
    assert_eq!(phone_of(&app, &ann).await.as_deref(), Some(OTHER));
}
