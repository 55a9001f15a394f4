//! Alerts by text message.

use alerts::{Channel, Plan, Status};
use delivery::messages::MessageChannel;
use serde_json::{Value, json};

use super::{ann, sent, verify};
use crate::support::{TestApp, kind, on_each_database};

on_each_database! {
    verified_number_gets_text_messages_and_they_count
    sms_alert_requires_verified_number
    basic_plan_cannot_create_or_activate_sms_alerts
    current_number_is_used
}

const PHONE: &str = "+14155550123";
const OTHER: &str = "+14155550124";
const NO_PHONE: &str = "forbidden phone verified_phone";

fn by_sms(threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "notification": "sms"})
}

/// Returns the text messages to a number, except codes.
async fn text_messages(app: &TestApp, phone: &str) -> Vec<String> {
    let texts = sent(app, MessageChannel::Sms, phone).await;
    texts.into_iter().filter(|text| text.contains("AAPL")).collect()
}

async fn verified_number_gets_text_messages_and_they_count(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    app.quote("AAPL", 100.0).await;
    assert_eq!(kind(&app.refused(&ann, by_sms(110)).await), NO_PHONE);
    verify(&app, &ann, PHONE).await;
    let made = app.create(&ann, by_sms(110)).await.stored.alert;
    assert_eq!(made.notification, Channel::Sms);
    assert_eq!(
        app.service.account_settings.subscription(&ann).await.unwrap().sms_sent,
        0,
        "codes are not counted"
    );
    app.quote("AAPL", 111.0).await;
    assert_eq!(app.status(&ann, made.id).await, Status::Triggered);
    let told = text_messages(&app, PHONE).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("111"), "{told:?}");
    assert_eq!(
        app.service.account_settings.subscription(&ann).await.unwrap().sms_sent,
        1
    );
    // The next month starts at zero.
    app.clock.advance(jiff::SignedDuration::from_hours(24 * 31));
    assert_eq!(
        app.service.account_settings.subscription(&ann).await.unwrap().sms_sent,
        0
    );
}

async fn sms_alert_requires_verified_number(app: TestApp) {
    let ann = ann(&app, Plan::EarlyBird).await;
    app.quote("AAPL", 100.0).await;
    let mut body = by_sms(110);
    body["notification"] = json!("email");
    let id = app.create(&ann, body).await.stored.alert.id;
    let change = json!({"notification": "sms"});
    let refused = app.service.alerts.update_alert(&ann, id, &change).await.unwrap_err();
    assert_eq!(kind(&refused), NO_PHONE);
    // A number with a pending code is not verified.
    app.service
        .account_settings
        .request_phone(&ann, &super::number(PHONE))
        .await
        .unwrap();
    let refused = app.service.alerts.update_alert(&ann, id, &change).await.unwrap_err();
    assert_eq!(kind(&refused), NO_PHONE);
    let body = json!({"phone": PHONE, "token": super::last_code(&app, PHONE).await});
    app.service.account_settings.verify_phone(&ann, &body).await.unwrap();
    let changed = app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    assert_eq!(changed.stored.alert.notification, Channel::Sms);
}

async fn basic_plan_cannot_create_or_activate_sms_alerts(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    app.quote("AAPL", 100.0).await;
    verify(&app, &ann, PHONE).await;
    let id = app.create(&ann, by_sms(110)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    app.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
    for refused in [
        app.service.alerts.activate_alert(&ann, id).await.unwrap_err(),
        app.service
            .alerts
            .update_alert(&ann, id, &json!({"threshold": 120}))
            .await
            .unwrap_err(),
        app.refused(&ann, by_sms(130)).await,
    ] {
        assert_eq!(kind(&refused), "forbidden plan premium");
    }
    let change = json!({"notification": "email"});
    app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    app.service.alerts.activate_alert(&ann, id).await.unwrap();
}

async fn current_number_is_used(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    app.quote("AAPL", 100.0).await;
    verify(&app, &ann, PHONE).await;
    app.create(&ann, by_sms(110)).await;
    verify(&app, &ann, OTHER).await;
    app.quote("AAPL", 111.0).await;
    assert_eq!(
        (
            text_messages(&app, PHONE).await.len(),
            text_messages(&app, OTHER).await.len()
        ),
        (0, 1)
    );
}
