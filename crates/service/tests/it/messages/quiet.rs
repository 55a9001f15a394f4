//! Quiet hours delay alert messages and lose none.

use alerts::Plan;
use delivery::messages::MessageChannel;
use jiff::Timestamp;
use serde_json::json;
use testkit::eventually;

use crate::messages::helpers::{outcome, times};
use crate::support::{TestApp, at, on_each_database};

on_each_database! {
    alert_in_quiet_hours_is_emailed_at_their_end
    quiet_hours_delay_text_messages_but_not_account_emails
    quiet_hours_follow_wall_clock_over_clock_change
    deactivated_account_gets_no_delayed_email
    delayed_messages_survive_restart
    removing_quiet_hours_releases_delayed_messages
    shortened_quiet_hours_release_messages_earlier
}

const NEW_YORK: &str = "America/New_York";

/// 10:00 in New York is within the quiet hours, which end at 11:00.
const END: &str = "2024-03-08T16:00:00Z";

async fn alert_in_quiet_hours_is_emailed_at_their_end(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
    app.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    app.quiet(&bob, NEW_YORK, "11:00", "10:00").await;
    let alerts = app.fire(&ann, "email", 3).await;
    app.held_back_until(MessageChannel::Email, at(END)).await;
    // Bob's quiet hours ended when Ann's began.
    let bobs = app.fire(&bob, "email", 1).await;
    assert_eq!(app.outcomes(&bob, &bobs).await, times(1, "sent"));

    app.clock.set(at("2024-03-08T15:59:59.999Z"));
    assert!(app.outbox("ann@example.com").await.is_empty());
    app.clock.set(at(END));
    for alert in alerts {
        let told = app.notified(&ann, alert, 1).await;
        assert_eq!(
            (told.len(), outcome(&told[0]), told[0].at),
            (1, "sent".to_owned(), at(END))
        );
    }
    let mailed = app.outbox("ann@example.com").await;
    let subjects: Vec<_> = mailed.iter().map(|mail| mail.subject.as_deref()).collect();
    assert_eq!(subjects, [Some("3 alerts have fired")]);
    assert_eq!(mailed[0].text.matches("AAPL ").count(), 3, "{}", mailed[0].text);
}

async fn quiet_hours_delay_text_messages_but_not_account_emails(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quiet(&ann, NEW_YORK, "09:30", "11:00").await;
    // The code is requested and sent in quiet hours.
    app.verify_phone(&ann, "+14155550123").await;
    let alerts = app.fire(&ann, "sms", 1).await;
    app.held_back_until(MessageChannel::Sms, at(END)).await;
    assert_eq!(app.outbox("+14155550123").await.len(), 1);
    app.clock.set(at(END));
    assert_eq!(app.outcomes(&ann, &alerts).await, times(1, "sent"));
}

async fn quiet_hours_follow_wall_clock_over_clock_change(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    app.quiet(&ann, NEW_YORK, "22:00", "07:00").await;
    let body = json!({
        "symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-10T01:30:00-05:00"},
    });
    let reminder = app.create(&ann, body).await.stored.alert.id;
    app.clock.set(at("2024-03-10T01:30:00-05:00"));
    app.service.evaluate().await.unwrap();
    // 07:00 came an hour earlier in that night.
    let end: Timestamp = at("2024-03-10T07:00:00-04:00");
    app.held_back_until(MessageChannel::Email, end).await;
    app.clock.set(at("2024-03-10T07:00:00-04:00"));
    let told = app.notified(&ann, reminder, 1).await;
    assert_eq!((outcome(&told[0]), told[0].at), ("sent".to_owned(), end));
}

async fn deactivated_account_gets_no_delayed_email(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    let alerts = app.fire(&ann, "email", 1).await;
    app.held_back_until(MessageChannel::Email, at(END)).await;
    app.service.account_settings.deactivate_account(&ann).await.unwrap();
    app.clock.set(at(END));
    let store = app.store().await;
    eventually("no message is pending", async || {
        store
            .pending_endpoints(MessageChannel::Email, i64::MIN, 100)
            .await
            .unwrap()
            .is_empty()
    })
    .await;
    assert!(app.outbox("ann@example.com").await.is_empty());
    app.service.account_settings.reactivate_account(&ann).await.unwrap();
    assert_eq!(app.outcomes(&ann, &alerts).await, times(1, "account_deactivated"));
}

async fn delayed_messages_survive_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    let alerts = app.fire(&ann, "email", 2).await;
    app.held_back_until(MessageChannel::Email, at(END)).await;
    let app = app.restarted().await;
    app.held_back_until(MessageChannel::Email, at(END)).await;
    app.clock.set(at(END));
    assert_eq!(app.outcomes(&ann, &alerts).await, times(2, "sent"));
    assert_eq!(app.outbox("ann@example.com").await.len(), 1);
}

async fn removing_quiet_hours_releases_delayed_messages(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
    app.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    app.quiet(&bob, NEW_YORK, "10:00", "11:00").await;
    let alerts = app.fire(&ann, "email", 3).await;
    let bobs = app.fire(&bob, "email", 1).await;
    app.held_back_until(MessageChannel::Email, at(END)).await;
    let off = json!({"quiet_hours": null});
    app.service.account_settings.set_preferences(&ann, &off).await.unwrap();
    assert_eq!(app.outcomes(&ann, &alerts).await, times(3, "sent"));
    // Quiet hours of others stay in force.
    app.held_back_until(MessageChannel::Email, at(END)).await;
    assert!(app.outbox(&bob.email).await.is_empty());
    app.clock.set(at(END));
    assert_eq!(app.outcomes(&bob, &bobs).await, times(1, "sent"));
}

async fn shortened_quiet_hours_release_messages_earlier(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    let alerts = app.fire(&ann, "email", 1).await;
    app.held_back_until(MessageChannel::Email, at(END)).await;
    app.quiet(&ann, NEW_YORK, "10:00", "10:30").await;
    let sooner = at("2024-03-08T15:30:00Z");
    app.held_back_until(MessageChannel::Email, sooner).await;
    app.clock.set(sooner);
    assert_eq!(app.outcomes(&ann, &alerts).await, times(1, "sent"));
}
