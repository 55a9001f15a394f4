//! Without a mail server, email is stored for the operator.

use alerts::{HistoryAction, Plan, Status};
use delivery::messages::{MessageChannel, OutboxFilter};

use crate::support::{ALL, OPEN, TestApp, above, at, kind, on_each_database};

on_each_database! {
    alert_email_is_stored_once_and_recorded_in_history
    only_operators_read_the_outbox
}

async fn alert_email_is_stored_once_and_recorded_in_history(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.deliver(serde_json::json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}]}))
        .await;
    app.quote("AAPL", 189.25).await;
    let alert = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    app.quote("AAPL", 201.5).await;

    let mail = app.mailed_at_least("ann@example.com", 1).await.remove(0);
    assert_eq!((mail.channel, mail.created_at), (MessageChannel::Email, at(OPEN)));
    assert_eq!(
        mail.subject.as_deref(),
        Some("AAPL: price 201.50 is at or above 200.00")
    );
    let html = mail.html.unwrap();
    for part in [
        "Apple Inc.",
        "201.50 USD",
        "200.00 USD",
        "https://alerts.example.com/unsubscribe?token=",
    ] {
        assert!(
            mail.text.contains(part) && html.contains(part),
            "{part} in {}",
            mail.text
        );
    }

    let told = app.notified(&ann, alert, 1).await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].entry.action, HistoryAction::NotificationSent);
    assert_eq!(told[0].entry.previous_status, Some(Status::Triggered));
    assert_eq!(told[0].entry.new_status.name(), "triggered");

    // A restart sends nothing again.
    let app = app.restarted().await;
    app.quote("AAPL", 202.0).await;
    assert_eq!(app.outbox("ann@example.com").await.len(), 1);
    assert_eq!(app.notifications(&ann, alert).await.len(), 1);
}

async fn only_operators_read_the_outbox(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let refused = app
        .service
        .outbox
        .outbox(&ann, OutboxFilter::default(), ALL)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "forbidden scope outbox:read");
}
