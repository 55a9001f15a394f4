//! Without a mail server, mail is kept for the operator to read.

use alerts::{HistoryAction, Plan, Status};
use service::messages::{MessageChannel, OutboxFilter};

use crate::support::{ALL, OPEN, World, above, at, kind, on_each_database};

on_each_database! {
    news_of_an_alert_is_kept_once_and_the_history_says_that_it_was_sent
    only_operators_read_the_outbox
}

async fn news_of_an_alert_is_kept_once_and_the_history_says_that_it_was_sent(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world
        .deliver(serde_json::json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}]}))
        .await;
    world.quote("AAPL", 189.25).await;
    let alert = world.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    world.quote("AAPL", 201.5).await;

    let mail = world.mailed("ann@example.com", 1).await.remove(0);
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

    let told = world.notified(&ann, alert, 1).await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].entry.action, HistoryAction::NotificationSent);
    assert_eq!(told[0].entry.previous_status, Some(Status::Triggered));
    assert_eq!(told[0].entry.new_status.name(), "triggered");

    // A restart finds nothing to be sent.
    let world = world.restarted().await;
    world.quote("AAPL", 202.0).await;
    assert_eq!(world.outbox("ann@example.com").await.len(), 1);
    assert_eq!(world.notifications(&ann, alert).await.len(), 1);
}

async fn only_operators_read_the_outbox(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let refused = world
        .service
        .outbox
        .outbox(&ann, OutboxFilter::default(), ALL)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "forbidden scope outbox:read");
}
