//! What clients note down in an alert's history.

use alerts::{HistoryAction, Plan};
use serde_json::{Value, json};

use super::ann;
use crate::support::{World, above, kind, on_each_database};

on_each_database! {
    a_note_is_kept_as_it_was_written_and_wakes_nothing
    a_note_takes_a_session_and_an_alert_of_ones_own
}

async fn a_note_is_kept_as_it_was_written_and_wakes_nothing(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    let alert = world.create(&ann, above("AAPL", 110.0)).await.stored.alert;
    let data = json!({"'; --": ["\u{0}", "<b>", {"deep": [1, 2.5, null, true]}], "\u{202e}": "\r\n"});
    let note = json!({
        "alert_id": alert.id.0, "symbol": "AAPL", "action_type": "triggered", "previous_status": "active",
        "new_status": "triggered", "alert_data": data, "trigger_price": 110.123_456, "notification_status": "sent",
    });
    world.service.alerts.record_history(&ann, &note).await.unwrap();
    let rows = world.history(&ann, alert.id).await;
    let noted = rows.last().unwrap();
    assert_eq!(noted.entry.action, HistoryAction::Triggered);
    assert_eq!(noted.price.unwrap().to_string(), "110.123456");
    let details: Value = noted.details.clone().unwrap().into();
    assert_eq!(
        details,
        json!({"source": "client", "alert_data": data, "notification_status": "sent"})
    );
    assert!(world.events(&ann).await.is_empty(), "nothing has fired");
    let now = world.service.alerts.alert(&ann, alert.id).await.unwrap().stored.alert;
    assert_eq!((now.revision, now.status), (alert.revision, alert.status));
    world.quote("AAPL", 111.0).await;
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn a_note_takes_a_session_and_an_alert_of_ones_own(world: World) {
    let key = world.ann(Plan::Basic).await;
    let bob = super::bob(&world, Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    let id = world.create(&key, above("AAPL", 110.0)).await.stored.alert.id;
    let note = json!({"alert_id": id.0, "symbol": "AAPL", "action_type": "paused", "new_status": "paused"});
    let by_key = world.service.alerts.record_history(&key, &note).await.unwrap_err();
    assert_eq!(kind(&by_key), "forbidden session_required session");
    let by_bob = world.service.alerts.record_history(&bob, &note).await.unwrap_err();
    assert_eq!(kind(&by_bob), "no alert");
    assert_eq!(world.actions(&key, id).await, [HistoryAction::Created]);
}
