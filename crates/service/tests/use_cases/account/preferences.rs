//! The time zone and quiet hours.

use alerts::Plan;
use serde_json::{Value, json};

use super::{ann, sign_in};
use crate::support::{PASSWORD, World, kind, on_each_database};

on_each_database! {
    what_is_left_out_stays_and_null_ends_quiet_hours
    a_new_zone_counts_at_once
    to_be_told_of_blind_alerts_is_off_until_it_is_asked_for_and_stays
    every_fault_of_preferences_is_told_and_nothing_of_them_is_kept
}

async fn what_is_left_out_stays_and_null_ends_quiet_hours(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let set = async |body: Value| {
        let set = world
            .service
            .account_settings
            .set_preferences(&ann, &body)
            .await
            .unwrap();
        assert_eq!(set, world.service.account_settings.preferences(&ann).await.unwrap());
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

async fn a_new_zone_counts_at_once(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let body = json!({"time_zone": "Asia/Tokyo"});
    world
        .service
        .account_settings
        .set_preferences(&ann, &body)
        .await
        .unwrap();
    let again = sign_in(&world, &ann.email, PASSWORD).await.unwrap();
    assert_eq!(again.time_zone.iana_name(), Some("Asia/Tokyo"));
}

async fn to_be_told_of_blind_alerts_is_off_until_it_is_asked_for_and_stays(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let set = async |body: Value| {
        world
            .service
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
        world
            .service
            .account_settings
            .preferences(&ann)
            .await
            .unwrap()
            .notify_blind
    );
    assert!(!set(json!({"notify_blind": false})).await);
}

async fn every_fault_of_preferences_is_told_and_nothing_of_them_is_kept(world: World) {
    let ann = ann(&world, Plan::Basic).await;
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
        let refused = world
            .service
            .account_settings
            .set_preferences(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), faults, "{body}");
    }
    let kept = world.service.account_settings.preferences(&ann).await.unwrap();
    assert_eq!((kept.time_zone.as_str(), kept.quiet_hours), ("America/New_York", None));
}
