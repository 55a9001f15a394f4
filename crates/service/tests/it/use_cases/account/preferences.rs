//! Time zone, quiet hours and notices.

use alerts::Plan;
use serde_json::{Value, json};

use super::{ann, sign_in};
use crate::support::{PASSWORD, TestApp, kind, on_each_database};

on_each_database! {
    absent_fields_stay_and_null_removes_quiet_hours
    time_zone_change_takes_effect_at_once
    blindness_notices_are_opt_in
    all_preference_errors_are_reported_and_nothing_is_stored
}

async fn absent_fields_stay_and_null_removes_quiet_hours(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let set = async |body: Value| {
        let set = app.service.account_settings.set_preferences(&ann, &body).await.unwrap();
        assert_eq!(set, app.service.account_settings.preferences(&ann).await.unwrap());
        let hours = set.quiet_hours.map(|hours| (hours.from, hours.until));
        (set.time_zone, hours)
    };
    let zone = |zone: &str| zone.to_owned();
    assert_eq!(set(json!({})).await, (zone("America/New_York"), None));
    let night = json!({"quiet_hours": {"start": "22:00", "end": "07:00"}});
    assert_eq!(set(night).await, (zone("America/New_York"), Some((1320, 420))));
    let berlin = json!({"time_zone": "europe/berlin"});
    assert_eq!(set(berlin).await, (zone("Europe/Berlin"), Some((1320, 420))));
    assert_eq!(set(json!({"quiet_hours": null})).await, (zone("Europe/Berlin"), None));
}

async fn time_zone_change_takes_effect_at_once(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let body = json!({"time_zone": "Asia/Tokyo"});
    app.service.account_settings.set_preferences(&ann, &body).await.unwrap();
    let again = sign_in(&app, &ann.email, PASSWORD).await.unwrap();
    assert_eq!(again.time_zone.iana_name(), Some("Asia/Tokyo"));
}

async fn blindness_notices_are_opt_in(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let set = async |body: Value| {
        app.service
            .account_settings
            .set_preferences(&ann, &body)
            .await
            .unwrap()
            .notify_blind
    };
    assert!(!set(json!({"notify_blind": null})).await);
    assert!(set(json!({"notify_blind": true})).await);
    assert!(set(json!({"time_zone": "UTC"})).await);
    assert!(
        app.service
            .account_settings
            .preferences(&ann)
            .await
            .unwrap()
            .notify_blind
    );
    assert!(!set(json!({"notify_blind": false})).await);
}

async fn all_preference_errors_are_reported_and_nothing_is_stored(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    for (body, faults) in [
        (json!({"time_zone": "Mars/Olympus"}), "invalid time_zone"),
        (json!({"time_zone": "UTC", "quiet_hours": 5}), "invalid quiet_hours"),
        (
            json!({"time_zone": "UTC", "notify_blind": "yes"}),
            "invalid notify_blind",
        ),
        (
            json!({"time_zone": "", "quiet_hours": {"start": "x"}}),
            "invalid quiet_hours time_zone",
        ),
        (json!({"time_zone": "../../etc/passwd"}), "invalid time_zone"),
        (json!({"time_zone": "Europe/Berlin\r\nX: y"}), "invalid time_zone"),
        (json!([]), "malformed"),
    ] {
        let refused = app
            .service
            .account_settings
            .set_preferences(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), faults, "{body}");
    }
    let kept = app.service.account_settings.preferences(&ann).await.unwrap();
    assert_eq!((kept.time_zone.as_str(), kept.quiet_hours), ("America/New_York", None));
}
