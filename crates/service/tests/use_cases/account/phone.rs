//! The telephone number of an account.

use alerts::Plan;
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::messages::MessageChannel;
use service::{Actor, ServiceError};

use super::{ann, bob, last_code, number, sent};
use crate::support::{OPEN, World, at, kind, on_each_database};

on_each_database! {
    whoever_knows_the_code_has_the_number_and_nobody_else
    the_fifth_guess_may_be_right_and_after_five_wrong_ones_the_right_one_is_not
    of_fifty_guesses_at_once_five_are_looked_at
    of_fifty_right_codes_at_once_one_is_taken
    a_code_is_good_for_ten_minutes_once_and_until_the_next_one
    a_code_is_of_one_account_and_one_number
    codes_are_counted_for_the_number_whoever_asks
    codes_are_counted_for_the_account_whichever_numbers_it_gives
    what_is_no_number_or_without_consent_is_sent_nothing
    until_a_number_is_verified_the_account_keeps_the_one_it_has
}

const PHONE: &str = "+14155550123";
const OTHER: &str = "+14155550124";

async fn ask(world: &World, actor: &Actor, phone: &str) -> Result<String, ServiceError> {
    world
        .service
        .account_settings
        .request_phone(actor, &number(phone))
        .await
}

async fn show(world: &World, actor: &Actor, phone: &str, token: &str) -> Result<String, ServiceError> {
    let body = json!({"phone": phone, "token": token});
    let phone = world.service.account_settings.verify_phone(actor, &body).await?;
    Ok(phone.number)
}

/// The actor's number as it is known.
async fn phone_of(world: &World, actor: &Actor) -> Option<String> {
    let (_, account) = world.service.identity.session(actor).await.unwrap();
    account.profile.phone.map(|phone| phone.number)
}

/// A code that is not that one.
fn wrong(code: &str, by: u32) -> String {
    let number: u32 = code.parse().unwrap();
    format!("{:06}", (number + by) % 1_000_000)
}

async fn whoever_knows_the_code_has_the_number_and_nobody_else(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    assert_eq!(ask(&world, &ann, PHONE).await.unwrap(), PHONE);
    assert_eq!(phone_of(&world, &ann).await, None);
    let code = last_code(&world, PHONE).await;
    let refused = show(&world, &ann, PHONE, &wrong(&code, 1)).await.unwrap_err();
    assert_eq!(kind(&refused), "malformed");
    assert!(refused.to_string().contains("4 more tries"), "{refused}");
    assert_eq!(phone_of(&world, &ann).await, None);
    assert_eq!(show(&world, &ann, PHONE, &code).await.unwrap(), PHONE);
    let (_, account) = world.service.identity.session(&ann).await.unwrap();
    let phone = account.profile.phone.unwrap();
    assert_eq!((phone.number.as_str(), phone.verified_at), (PHONE, at(OPEN)));
}

async fn the_fifth_guess_may_be_right_and_after_five_wrong_ones_the_right_one_is_not(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    for (wrong_ones, is_taken) in [(4, true), (5, false)] {
        ask(&world, &ann, PHONE).await.unwrap();
        let code = last_code(&world, PHONE).await;
        for by in 1..=wrong_ones {
            show(&world, &ann, PHONE, &wrong(&code, by)).await.unwrap_err();
        }
        let right = show(&world, &ann, PHONE, &code).await;
        assert_eq!(right.is_ok(), is_taken, "{wrong_ones}");
    }
    // What is no code at all is a guess, too.
    ask(&world, &ann, PHONE).await.unwrap();
    let code = last_code(&world, PHONE).await;
    for token in ["", "1", "1234567", "abcdef", "' OR 1=1 --"] {
        show(&world, &ann, PHONE, token).await.unwrap_err();
    }
    let refused = show(&world, &ann, PHONE, &code).await.unwrap_err();
    assert!(refused.to_string().contains("POST /user/account/phone"), "{refused}");
}

async fn of_fifty_guesses_at_once_five_are_looked_at(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    ask(&world, &ann, PHONE).await.unwrap();
    let code = last_code(&world, PHONE).await;
    let guesses: Vec<String> = (1..=50).map(|by| wrong(&code, by)).collect();
    let guesses = guesses.iter().map(|guess| show(&world, &ann, PHONE, guess));
    let answers = futures_util::future::join_all(guesses).await;
    let texts = answers.into_iter().map(|answer| answer.unwrap_err().to_string());
    assert_eq!(texts.filter(|text| text.contains("more tries")).count(), 5);
    assert!(show(&world, &ann, PHONE, &code).await.is_err());
}

async fn of_fifty_right_codes_at_once_one_is_taken(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    ask(&world, &ann, PHONE).await.unwrap();
    let code = last_code(&world, PHONE).await;
    let all = (0..50).map(|_| show(&world, &ann, PHONE, &code));
    let all = futures_util::future::join_all(all).await;
    assert_eq!(all.iter().filter(|shown| shown.is_ok()).count(), 1);
}

async fn a_code_is_good_for_ten_minutes_once_and_until_the_next_one(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let life = SignedDuration::from_mins(10);
    ask(&world, &ann, PHONE).await.unwrap();
    let first = last_code(&world, PHONE).await;
    world.clock.advance(life - SignedDuration::from_micros(1));
    show(&world, &ann, PHONE, &first).await.unwrap();
    assert!(show(&world, &ann, PHONE, &first).await.is_err(), "it is used up");
    ask(&world, &ann, PHONE).await.unwrap();
    let second = last_code(&world, PHONE).await;
    world.clock.advance(life);
    assert!(show(&world, &ann, PHONE, &second).await.is_err(), "its time is over");
    world.advance(60);
    ask(&world, &ann, PHONE).await.unwrap();
    let third = last_code(&world, PHONE).await;
    ask(&world, &ann, OTHER).await.unwrap();
    assert!(show(&world, &ann, PHONE, &third).await.is_err(), "there is a newer one");
    let fourth = last_code(&world, OTHER).await;
    show(&world, &ann, OTHER, &fourth).await.unwrap();
}

async fn a_code_is_of_one_account_and_one_number(world: World) {
    let (ann, bob) = (ann(&world, Plan::Basic).await, bob(&world, Plan::Basic).await);
    ask(&world, &ann, PHONE).await.unwrap();
    let code = last_code(&world, PHONE).await;
    assert!(show(&world, &bob, PHONE, &code).await.is_err());
    assert!(show(&world, &ann, OTHER, &code).await.is_err());
    ask(&world, &bob, OTHER).await.unwrap();
    assert!(show(&world, &bob, PHONE, &code).await.is_err());
    // None of these was a guess at Ann's code.
    let refused = show(&world, &ann, PHONE, &wrong(&code, 1)).await.unwrap_err();
    assert!(refused.to_string().contains("4 more tries"), "{refused}");
    // A number may be two people's.
    show(&world, &ann, PHONE, &code).await.unwrap();
    ask(&world, &bob, PHONE).await.unwrap();
    let code = last_code(&world, PHONE).await;
    show(&world, &bob, PHONE, &code).await.unwrap();
}

async fn codes_are_counted_for_the_number_whoever_asks(world: World) {
    let (ann, bob) = (ann(&world, Plan::Basic).await, bob(&world, Plan::Basic).await);
    for actor in [&ann, &bob, &ann] {
        ask(&world, actor, PHONE).await.unwrap();
    }
    let refused = ask(&world, &bob, PHONE).await.unwrap_err();
    assert!(
        matches!(
            refused,
            ServiceError::TooMany {
                retry_after_s: 3600,
                ..
            }
        ),
        "{refused}"
    );
    ask(&world, &bob, OTHER).await.unwrap();
    world
        .clock
        .advance(SignedDuration::from_hours(1) - SignedDuration::from_micros(1));
    assert_eq!(kind(&ask(&world, &bob, PHONE).await.unwrap_err()), "too many");
    world.clock.advance(SignedDuration::from_micros(1));
    for actor in [&ann, &bob] {
        ask(&world, actor, PHONE).await.unwrap();
    }
    world.clock.advance(SignedDuration::from_hours(1));
    let day = ask(&world, &ann, PHONE).await.unwrap_err();
    assert!(
        matches!(
            day,
            ServiceError::TooMany {
                retry_after_s: 86_400,
                ..
            }
        ),
        "{day}"
    );
    assert_eq!(sent(&world, MessageChannel::Sms, PHONE).await.len(), 5);
    world.clock.advance(SignedDuration::from_hours(22));
    ask(&world, &ann, PHONE).await.unwrap();
}

async fn codes_are_counted_for_the_account_whichever_numbers_it_gives(world: World) {
    let (ann, bob) = (ann(&world, Plan::Basic).await, bob(&world, Plan::Basic).await);
    let mut numbers = (0..100).map(|n| format!("+1415555{n:04}"));
    let mut next = move || numbers.next().unwrap();
    for _ in 0..3 {
        ask(&world, &ann, &next()).await.unwrap();
    }
    assert_eq!(kind(&ask(&world, &ann, &next()).await.unwrap_err()), "too many");
    world.clock.advance(SignedDuration::from_hours(1));
    for _ in 0..2 {
        ask(&world, &ann, &next()).await.unwrap();
    }
    world.clock.advance(SignedDuration::from_hours(1));
    let refused = next();
    assert_eq!(kind(&ask(&world, &ann, &refused).await.unwrap_err()), "too many");
    assert!(sent(&world, MessageChannel::Sms, &refused).await.is_empty());
    // It is nobody else's fault.
    ask(&world, &bob, &refused).await.unwrap();
    world.clock.advance(SignedDuration::from_hours(22));
    ask(&world, &ann, &next()).await.unwrap();
}

async fn what_is_no_number_or_without_consent_is_sent_nothing(world: World) {
    let ann = ann(&world, Plan::Basic).await;
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
        let refused = world
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
    assert!(sent(&world, MessageChannel::Sms, PHONE).await.is_empty());
}

async fn until_a_number_is_verified_the_account_keeps_the_one_it_has(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    super::verify(&world, &ann, PHONE).await;
    ask(&world, &ann, OTHER).await.unwrap();
    assert_eq!(phone_of(&world, &ann).await.as_deref(), Some(PHONE));
    let code = last_code(&world, OTHER).await;
    show(&world, &ann, OTHER, &code).await.unwrap();
    assert_eq!(phone_of(&world, &ann).await.as_deref(), Some(OTHER));
}
