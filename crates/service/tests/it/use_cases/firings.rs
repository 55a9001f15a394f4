//! Firings with their times, messages and acknowledgements.

use alerts::{HistoryAction, Plan};
use clock::Clock;
use foundation::Actor;
use jiff::SignedDuration;
use serde_json::json;
use service::ListRequest;
use service::firings::{EventId, FiringFilter, FiringWithMessages};

use crate::support::{ALL, TestApp, above, at, kind, on_each_database};

on_each_database! {
    firing_has_the_times_of_its_steps_and_its_message
    first_acknowledgement_counts_and_is_in_the_history
    acknowledgement_of_a_deleted_alert_is_recorded
    firings_of_others_are_not_found
    list_is_filtered_by_instant_alert_and_acknowledgement
    list_goes_on_after_a_firing
}

const EVERYTHING: FiringFilter = FiringFilter {
    alert: None,
    since: None,
    unacknowledged: false,
};

async fn list(app: &TestApp, actor: &Actor, filter: FiringFilter) -> Vec<FiringWithMessages> {
    let page = app.service.firings.firings(actor, filter, ALL.into()).await.unwrap();
    assert_eq!(page.total, u64::try_from(page.items.len()).unwrap());
    page.items
}

async fn ids(app: &TestApp, actor: &Actor, filter: FiringFilter) -> Vec<EventId> {
    let listed = list(app, actor, filter).await;
    listed.into_iter().map(|listed| listed.firing.id).collect()
}

/// Fires an alert of the actor on a stock, and returns the firing.
async fn fire(app: &TestApp, actor: &Actor, stock: &str) -> FiringWithMessages {
    app.quote(stock, 190.0).await;
    app.create(actor, above(stock, 200.0)).await;
    app.quote(stock, 201.0).await;
    list(app, actor, EVERYTHING).await.remove(0)
}

async fn firing_has_the_times_of_its_steps_and_its_message(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 190.0).await;
    let alert = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    app.clock.advance(SignedDuration::from_secs(60));
    let quote = json!({"symbol": "AAPL", "price": 201, "time": "2024-03-08T15:00:58.250Z"});
    app.deliver(json!({"quotes": [quote]})).await;
    let [listed] = &list(&app, &ann, EVERYTHING).await[..] else {
        panic!("one firing");
    };
    let timeline = listed.firing.timeline;
    assert_eq!(timeline.quoted_at, Some(at("2024-03-08T15:00:58.250Z")));
    let received = at("2024-03-08T15:01:00Z");
    assert_eq!(timeline.received_at, received);
    assert_eq!(
        (timeline.judged_at, timeline.committed_at),
        (Some(received), Some(received))
    );
    assert_eq!((listed.firing.alert, listed.firing.acknowledged.clone()), (alert, None));
    let [message] = &listed.messages[..] else {
        panic!("one message");
    };
    assert_eq!((message.kind, message.queued_at), ("email", received));
    let shown = app.service.firings.firing(&ann, listed.firing.id).await.unwrap();
    assert_eq!(shown.firing, listed.firing);
}

async fn first_acknowledgement_counts_and_is_in_the_history(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let fired = fire(&app, &ann, "AAPL").await.firing;
    app.advance(1);
    let acknowledged = app.service.firings.acknowledge(&ann, fired.id, "api").await.unwrap();
    let first = acknowledged.firing.acknowledged.clone().unwrap();
    assert_eq!(
        (first.at, first.by.as_str(), first.via.as_str()),
        (app.clock.now(), "ann@example.com", "api")
    );
    app.advance(1);
    let again = app.service.firings.acknowledge(&ann, fired.id, "slack").await.unwrap();
    assert_eq!(again.firing.acknowledged, Some(first));
    let history = app.history(&ann, fired.alert).await;
    let actions: Vec<_> = history.iter().map(|row| row.entry.action).collect();
    assert_eq!(
        actions,
        [
            HistoryAction::Created,
            HistoryAction::Triggered,
            HistoryAction::Acknowledged
        ]
    );
    let details = json!({"firing_id": fired.id.0, "by": "ann@example.com", "via": "api"});
    assert_eq!(history[2].details.as_ref(), details.as_object());
    assert_eq!(
        history[2].entry.previous_status.map(alerts::Status::name),
        Some("triggered")
    );
}

async fn acknowledgement_of_a_deleted_alert_is_recorded(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let fired = fire(&app, &ann, "AAPL").await.firing;
    app.service.alerts.delete_alert(&ann, fired.alert).await.unwrap();
    let acknowledged = app.service.firings.acknowledge(&ann, fired.id, "api").await.unwrap();
    assert!(acknowledged.firing.acknowledged.is_some());
    let last = app.history(&ann, fired.alert).await.pop().unwrap();
    assert_eq!(
        (last.entry.action, last.entry.new_status.name()),
        (HistoryAction::Acknowledged, "deleted")
    );
}

async fn firings_of_others_are_not_found(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
    let fired = fire(&app, &ann, "AAPL").await.firing;
    let firings = &app.service.firings;
    assert_eq!(kind(&firings.firing(&bob, fired.id).await.unwrap_err()), "no firing");
    let refused = firings.acknowledge(&bob, fired.id, "api").await.unwrap_err();
    assert_eq!(kind(&refused), "no firing");
    assert_eq!(firings.firing(&ann, fired.id).await.unwrap().firing.acknowledged, None);
    assert_eq!(ids(&app, &bob, EVERYTHING).await, []);
    let of_ann = FiringFilter {
        alert: Some(fired.alert),
        ..EVERYTHING
    };
    let refused = firings.firings(&bob, of_ann, ALL.into()).await.unwrap_err();
    assert_eq!(kind(&refused), "no alert");
    let after = firings
        .firings(&bob, EVERYTHING, ListRequest::following(fired.id, 10))
        .await;
    assert!(after.is_err());
}

async fn list_is_filtered_by_instant_alert_and_acknowledgement(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let first = fire(&app, &ann, "AAPL").await.firing;
    app.advance(5);
    let second = fire(&app, &ann, "MSFT").await.firing;
    let since = |since| FiringFilter {
        since: Some(since),
        ..EVERYTHING
    };
    let committed = second.timeline.committed_at.unwrap();
    assert_eq!(ids(&app, &ann, since(committed)).await, [second.id]);
    let later = committed + SignedDuration::from_micros(1);
    assert_eq!(ids(&app, &ann, since(later)).await, []);
    let earlier = first.timeline.committed_at.unwrap();
    assert_eq!(ids(&app, &ann, since(earlier)).await, [second.id, first.id]);
    let of_first = FiringFilter {
        alert: Some(first.alert),
        ..EVERYTHING
    };
    assert_eq!(ids(&app, &ann, of_first).await, [first.id]);
    app.service.firings.acknowledge(&ann, second.id, "api").await.unwrap();
    let unacknowledged = FiringFilter {
        unacknowledged: true,
        ..EVERYTHING
    };
    assert_eq!(ids(&app, &ann, unacknowledged).await, [first.id]);
    assert_eq!(ids(&app, &ann, EVERYTHING).await, [second.id, first.id]);
}

async fn list_goes_on_after_a_firing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let mut fired = Vec::new();
    for stock in ["AAPL", "MSFT", "NVDA"] {
        fired.push(fire(&app, &ann, stock).await.firing.id);
    }
    let request = ListRequest::following(fired[2], 1);
    let page = app.service.firings.firings(&ann, EVERYTHING, request).await.unwrap();
    assert_eq!((page.total, page.items.len()), (3, 1));
    assert_eq!(page.items[0].firing.id, fired[1]);
}
