//! Alerts told by text message.

use alerts::{Channel, Plan, Status};
use serde_json::{Value, json};
use service::messages::MessageChannel;

use super::{ann, sent, verify};
use crate::support::{World, kind, on_each_database};

on_each_database! {
    a_verified_number_is_told_and_each_message_is_counted
    without_a_verified_number_no_alert_becomes_one_by_sms
    who_goes_back_to_basic_cannot_activate_or_make_alerts_by_sms
    the_number_of_the_moment_is_told
}

const PHONE: &str = "+14155550123";
const OTHER: &str = "+14155550124";
const NO_PHONE: &str = "forbidden phone verified_phone";

fn by_sms(threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "notification": "sms"})
}

/// What was sent to a number but codes.
async fn told(world: &World, phone: &str) -> Vec<String> {
    let texts = sent(world, MessageChannel::Sms, phone).await;
    texts.into_iter().filter(|text| text.contains("AAPL")).collect()
}

async fn a_verified_number_is_told_and_each_message_is_counted(world: World) {
    let ann = ann(&world, Plan::Premium).await;
    world.quote("AAPL", 100.0).await;
    assert_eq!(kind(&world.refused(&ann, by_sms(110)).await), NO_PHONE);
    verify(&world, &ann, PHONE).await;
    let made = world.create(&ann, by_sms(110)).await.stored.alert;
    assert_eq!(made.notification, Channel::Sms);
    assert_eq!(
        world
            .service
            .account_settings
            .subscription(&ann)
            .await
            .unwrap()
            .sms_sent,
        0,
        "codes are not counted"
    );
    world.quote("AAPL", 111.0).await;
    assert_eq!(world.status(&ann, made.id).await, Status::Triggered);
    let told = told(&world, PHONE).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("111"), "{told:?}");
    assert_eq!(
        world
            .service
            .account_settings
            .subscription(&ann)
            .await
            .unwrap()
            .sms_sent,
        1
    );
    // The next month begins anew.
    world.clock.advance(jiff::SignedDuration::from_hours(24 * 31));
    assert_eq!(
        world
            .service
            .account_settings
            .subscription(&ann)
            .await
            .unwrap()
            .sms_sent,
        0
    );
}

async fn without_a_verified_number_no_alert_becomes_one_by_sms(world: World) {
    let ann = ann(&world, Plan::EarlyBird).await;
    world.quote("AAPL", 100.0).await;
    let mut body = by_sms(110);
    body["notification"] = json!("email");
    let id = world.create(&ann, body).await.stored.alert.id;
    let change = json!({"notification": "sms"});
    let refused = world.service.alerts.update_alert(&ann, id, &change).await.unwrap_err();
    assert_eq!(kind(&refused), NO_PHONE);
    // A code that was sent is no number yet.
    world
        .service
        .account_settings
        .request_phone(&ann, &super::number(PHONE))
        .await
        .unwrap();
    let refused = world.service.alerts.update_alert(&ann, id, &change).await.unwrap_err();
    assert_eq!(kind(&refused), NO_PHONE);
    let body = json!({"phone": PHONE, "token": super::last_code(&world, PHONE).await});
    world.service.account_settings.verify_phone(&ann, &body).await.unwrap();
    let changed = world.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    assert_eq!(changed.stored.alert.notification, Channel::Sms);
}

async fn who_goes_back_to_basic_cannot_activate_or_make_alerts_by_sms(world: World) {
    let ann = ann(&world, Plan::Premium).await;
    world.quote("AAPL", 100.0).await;
    verify(&world, &ann, PHONE).await;
    let id = world.create(&ann, by_sms(110)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    world.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
    for refused in [
        world.service.alerts.activate_alert(&ann, id).await.unwrap_err(),
        world
            .service
            .alerts
            .update_alert(&ann, id, &json!({"threshold": 120}))
            .await
            .unwrap_err(),
        world.refused(&ann, by_sms(130)).await,
    ] {
        assert_eq!(kind(&refused), "forbidden plan premium");
    }
    let change = json!({"notification": "email"});
    world.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    world.service.alerts.activate_alert(&ann, id).await.unwrap();
}

async fn the_number_of_the_moment_is_told(world: World) {
    let ann = ann(&world, Plan::Premium).await;
    world.quote("AAPL", 100.0).await;
    verify(&world, &ann, PHONE).await;
    world.create(&ann, by_sms(110)).await;
    verify(&world, &ann, OTHER).await;
    world.quote("AAPL", 111.0).await;
    assert_eq!(
        (told(&world, PHONE).await.len(), told(&world, OTHER).await.len()),
        (0, 1)
    );
}
