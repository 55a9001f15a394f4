//! Notes that clients add to an alert's history.

use alerts::{HistoryAction, Plan};
use serde_json::{Value, json};

use super::ann;
use crate::support::{TestApp, above, kind, on_each_database};

on_each_database! {
    note_is_stored_verbatim_without_side_effects
    note_requires_session_and_own_alert
}

async fn note_is_stored_verbatim_without_side_effects(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    let alert = app.create(&ann, above("AAPL", 110.0)).await.stored.alert;
    let data = json!({"'; --": ["\u{0}", "<b>", {"deep": [1, 2.5, null, true]}], "\u{202e}": "\r\n"});
    let note = json!({
        "alert_id": alert.id.0, "symbol": "AAPL", "action_type": "triggered", "previous_status": "active",
        "new_status": "triggered", "alert_data": data, "trigger_price": 110.123_456, "notification_status": "sent",
    });
    app.service.alerts.record_history(&ann, &note).await.unwrap();
    let rows = app.history(&ann, alert.id).await;
    let noted = rows.last().unwrap();
    assert_eq!(noted.entry.action, HistoryAction::Triggered);
    assert_eq!(noted.price.unwrap().to_string(), "110.123456");
    let details: Value = noted.details.clone().unwrap().into();
    assert_eq!(
        details,
        json!({"source": "client", "alert_data": data, "notification_status": "sent"})
    );
    assert!(app.events(&ann).await.is_empty(), "nothing has fired");
    let now = app.service.alerts.alert(&ann, alert.id).await.unwrap().stored.alert;
    assert_eq!((now.revision, now.status), (alert.revision, alert.status));
    app.quote("AAPL", 111.0).await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn note_requires_session_and_own_alert(app: TestApp) {
    let key = app.ann(Plan::Basic).await;
    let bob = super::bob(&app, Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    let id = app.create(&key, above("AAPL", 110.0)).await.stored.alert.id;
    let note = json!({"alert_id": id.0, "symbol": "AAPL", "action_type": "paused", "new_status": "paused"});
    let by_key = app.service.alerts.record_history(&key, &note).await.unwrap_err();
    assert_eq!(kind(&by_key), "forbidden session_required session");
    let by_bob = app.service.alerts.record_history(&bob, &note).await.unwrap_err();
    assert_eq!(kind(&by_bob), "no alert");
    assert_eq!(app.actions(&key, id).await, [HistoryAction::Created]);
}
