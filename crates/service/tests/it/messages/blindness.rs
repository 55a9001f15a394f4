//! Notices about blind alerts, opt-in: one at the start, one at the end.

use alerts::{AlertId, Plan};
use delivery::messages::OutboxMessage;
use foundation::Actor;
use serde_json::json;

use crate::support::{TestApp, above, on_each_database};

on_each_database! {
    one_notice_lists_all_alerts_blind_for_ten_minutes
    no_notice_without_opt_in
    no_notice_outside_sessions
    restart_repeats_no_notice
    only_one_of_two_processes_sends_the_notice
    process_without_feed_reports_nothing_missing
    recovery_notice_is_sent_once
    no_recovery_notice_without_prior_notice
    stock_blind_at_the_notice_is_not_reported_again
    later_outage_is_reported_separately
    stock_that_stays_blind_does_not_suppress_later_notices
    relapse_is_reported_after_ten_minutes
    relapse_notice_omits_stock_without_new_quote
    pausing_alerts_ends_blindness_without_notice
    no_notice_after_opt_out
    alerts_without_quotes_are_not_listed
    quiet_hours_delay_the_notice
}

const ANN: &str = "ann@example.com";

async fn opted_in(app: &TestApp) -> Actor {
    let ann = app.ann(Plan::Premium).await;
    set_opt_in(app, &ann, true).await;
    ann
}

async fn set_opt_in(app: &TestApp, actor: &Actor, notify_blind: bool) {
    let body = json!({"notify_blind": notify_blind});
    app.service
        .account_settings
        .set_preferences(actor, &body)
        .await
        .unwrap();
}

/// Creates an alert on a quoted stock.
async fn watched(app: &TestApp, actor: &Actor, symbol: &str) -> AlertId {
    app.quote(symbol, 100.0).await;
    app.create(actor, above(symbol, 200.0)).await.stored.alert.id
}

impl TestApp {
    /// Advances the clock and sends due notices. Returns all emails to an address.
    async fn after(&self, minutes: i64, to: &str) -> Vec<OutboxMessage> {
        self.advance(minutes);
        self.told(to).await
    }

    async fn told(&self, to: &str) -> Vec<OutboxMessage> {
        self.service.blindness.send_due_notices().await.unwrap();
        self.nothing_waits().await;
        self.outbox(to).await
    }
}

fn subjects(mails: &[OutboxMessage]) -> Vec<&str> {
    mails.iter().map(|mail| mail.subject.as_deref().unwrap()).collect()
}

const BLIND: &str = "Some of your alerts cannot be evaluated right now";
const SEE: &str = "Your alerts are evaluated again";

async fn one_notice_lists_all_alerts_blind_for_ten_minutes(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "AAPL").await;
    app.create(&ann, above("AAPL", 250.0)).await;
    watched(&app, &ann, "MSFT").await;
    assert_eq!(subjects(&app.after(24, ANN).await), [""; 0]);
    let mails = app.after(1, ANN).await;
    assert_eq!(subjects(&mails), [BLIND]);
    for line in [
        "Alert: AAPL: Price at or above, 200.00 USD, since 8 March 2024, 10:15 EST",
        "Alert: AAPL: Price at or above, 250.00 USD, since 8 March 2024, 10:15 EST",
        "Alert: MSFT: Price at or above, 200.00 USD, since 8 March 2024, 10:15 EST",
    ] {
        assert!(mails[0].text.contains(line), "{}", mails[0].text);
    }
    assert!(mails[0].text.contains("/unsubscribe?token="), "{}", mails[0].text);
    assert_eq!(app.after(60, ANN).await.len(), 1);
}

async fn no_notice_without_opt_in(app: TestApp) {
    let ann = opted_in(&app).await;
    let bob = app.bob(Plan::Premium).await;
    watched(&app, &ann, "AAPL").await;
    watched(&app, &bob, "AAPL").await;
    assert_eq!(app.after(30, ANN).await.len(), 1);
    assert_eq!(app.outbox("bob@example.com").await.len(), 0);
}

async fn no_notice_outside_sessions(app: TestApp) {
    let ann = opted_in(&app).await;
    // 15:40 in New York: stale at 15:55, and the session ends at 16:00.
    app.advance(5 * 60 + 40);
    watched(&app, &ann, "AAPL").await;
    assert_eq!(app.after(25, ANN).await.len(), 0);
    // Monday, 09:54 in New York: 24 minutes into the session, and its quotes were due until 09:45.
    assert_eq!(app.after(2 * 24 * 60 + 16 * 60 + 48, ANN).await.len(), 0);
    let mails = app.after(2, ANN).await;
    assert_eq!(subjects(&mails), [BLIND]);
    assert!(
        mails[0].text.contains("since 11 March 2024, 09:45 EDT"),
        "{}",
        mails[0].text
    );
}

async fn restart_repeats_no_notice(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "AAPL").await;
    assert_eq!(app.after(25, ANN).await.len(), 1);
    let app = app.restarted().await;
    assert_eq!(app.after(5, ANN).await.len(), 1);
    app.quote("AAPL", 101.0).await;
    assert_eq!(subjects(&app.told(ANN).await), [BLIND, SEE]);
    let app = app.restarted().await;
    assert_eq!(app.told(ANN).await.len(), 2);
}

async fn only_one_of_two_processes_sends_the_notice(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "AAPL").await;
    let other = app.another_process().await;
    app.advance(25);
    let (one, two) = tokio::join!(
        app.service.blindness.send_due_notices(),
        other.service.blindness.send_due_notices()
    );
    one.unwrap();
    two.unwrap();
    assert_eq!(app.told(ANN).await.len(), 1);
    assert_eq!(other.told(ANN).await.len(), 1);
    app.quote("AAPL", 101.0).await;
    other.quote("AAPL", 101.0).await;
    let (one, two) = tokio::join!(
        app.service.blindness.send_due_notices(),
        other.service.blindness.send_due_notices()
    );
    one.unwrap();
    two.unwrap();
    assert_eq!(subjects(&app.told(ANN).await), [BLIND, SEE]);
    other.service.stop().await;
}

async fn process_without_feed_reports_nothing_missing(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "AAPL").await;
    let other = app.another_process().await;
    app.advance(20);
    app.quote("AAPL", 101.0).await;
    app.advance(10);
    assert_eq!(other.told(ANN).await.len(), 0);
    // A recovery is reported only by a process that has received the quotes.
    assert_eq!(subjects(&other.after(15, ANN).await), [BLIND]);
    assert_eq!(app.told(ANN).await.len(), 1);
    app.quote("AAPL", 102.0).await;
    assert_eq!(subjects(&app.told(ANN).await), [BLIND, SEE]);
    assert_eq!(other.told(ANN).await.len(), 2);
    other.service.stop().await;
}

async fn recovery_notice_is_sent_once(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "AAPL").await;
    watched(&app, &ann, "MSFT").await;
    assert_eq!(app.after(25, ANN).await.len(), 1);
    app.quote("AAPL", 101.0).await;
    assert_eq!(app.told(ANN).await.len(), 1, "MSFT is blind still");
    app.quote("MSFT", 101.0).await;
    let mails = app.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, SEE]);
    for line in [
        "Alert: AAPL: Price at or above, 200.00 USD",
        "Alert: MSFT: Price at or above, 200.00 USD",
        "without quotes since 8 March 2024, 10:15 EST",
    ] {
        assert!(mails[1].text.contains(line), "{}", mails[1].text);
    }
    assert_eq!(app.after(1, ANN).await.len(), 2);
    // A new outage is reported again.
    assert_eq!(subjects(&app.after(30, ANN).await), [BLIND, SEE, BLIND]);
}

async fn no_recovery_notice_without_prior_notice(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "AAPL").await;
    assert_eq!(app.after(24, ANN).await.len(), 0);
    app.quote("AAPL", 101.0).await;
    assert_eq!(app.told(ANN).await.len(), 0);
}

async fn stock_blind_at_the_notice_is_not_reported_again(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "THIN").await;
    app.advance(12);
    watched(&app, &ann, "AAPL").await;
    let mails = app.after(13, ANN).await;
    assert_eq!(subjects(&mails), [BLIND]);
    assert!(!mails[0].text.contains("AAPL"), "{}", mails[0].text);
    assert_eq!(app.after(30, ANN).await.len(), 1);
    // It recovers together with the others.
    app.quote("THIN", 101.0).await;
    assert_eq!(app.told(ANN).await.len(), 1);
    app.quote("AAPL", 101.0).await;
    assert_eq!(subjects(&app.told(ANN).await), [BLIND, SEE]);
}

async fn later_outage_is_reported_separately(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "HALT").await;
    assert_eq!(app.after(25, ANN).await.len(), 1);
    app.advance(1);
    watched(&app, &ann, "AAPL").await;
    assert_eq!(app.after(24, ANN).await.len(), 1);
    let mails = app.after(1, ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND]);
    assert!(
        mails[1].text.contains("AAPL") && !mails[1].text.contains("HALT"),
        "{}",
        mails[1].text
    );
    app.quote("AAPL", 101.0).await;
    let mails = app.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND, SEE]);
    assert!(!mails[2].text.contains("HALT"), "{}", mails[2].text);
}

/// Ann got a notice that AAPL and HALT are blind. Then AAPL is quoted again, and HALT is not.
async fn aapl_recovers(app: &TestApp) -> Actor {
    let ann = opted_in(app).await;
    watched(app, &ann, "AAPL").await;
    watched(app, &ann, "HALT").await;
    assert_eq!(subjects(&app.after(25, ANN).await), [BLIND]);
    app.advance(1);
    app.quote("AAPL", 101.0).await;
    assert_eq!(app.told(ANN).await.len(), 1);
    ann
}

async fn stock_that_stays_blind_does_not_suppress_later_notices(app: TestApp) {
    aapl_recovers(&app).await;
    let mails = app.after(25, ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND]);
    let text = &mails[1].text;
    assert!(text.contains("AAPL") && !text.contains("HALT"), "{text}");
    // A restart repeats nothing, and the recovery is reported separately.
    let app = app.restarted().await;
    assert_eq!(app.after(30, ANN).await.len(), 2);
    app.quote("AAPL", 101.0).await;
    let mails = app.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND, SEE]);
    let text = &mails[2].text;
    assert!(text.contains("AAPL") && !text.contains("HALT"), "{text}");
}

async fn relapse_is_reported_after_ten_minutes(app: TestApp) {
    aapl_recovers(&app).await;
    assert_eq!(app.after(24, ANN).await.len(), 1);
    assert_eq!(app.after(1, ANN).await.len(), 2);
    assert_eq!(app.after(60, ANN).await.len(), 2, "once");
}

async fn relapse_notice_omits_stock_without_new_quote(app: TestApp) {
    aapl_recovers(&app).await;
    assert_eq!(app.after(25, ANN).await.len(), 2);
    app.quote("HALT", 101.0).await;
    let mails = app.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND, SEE]);
    let text = &mails[2].text;
    assert!(text.contains("HALT") && !text.contains("AAPL"), "{text}");
}

async fn pausing_alerts_ends_blindness_without_notice(app: TestApp) {
    let ann = opted_in(&app).await;
    let id = watched(&app, &ann, "AAPL").await;
    assert_eq!(app.after(25, ANN).await.len(), 1);
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    assert_eq!(app.after(1, ANN).await.len(), 1);
    assert_eq!(app.store().await.blindness_notices().await.unwrap(), []);
    app.quote("AAPL", 101.0).await;
    assert_eq!(app.told(ANN).await.len(), 1);
}

async fn no_notice_after_opt_out(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "AAPL").await;
    assert_eq!(app.after(25, ANN).await.len(), 1);
    set_opt_in(&app, &ann, false).await;
    app.quote("AAPL", 101.0).await;
    assert_eq!(app.told(ANN).await.len(), 1);
    assert_eq!(app.store().await.blindness_notices().await.unwrap(), []);
}

async fn alerts_without_quotes_are_not_listed(app: TestApp) {
    let ann = opted_in(&app).await;
    watched(&app, &ann, "AAPL").await;
    let reminder = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-06-03"}});
    app.create(&ann, reminder).await;
    app.after(25, ANN).await;
    app.quote("AAPL", 101.0).await;
    let mails = app.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, SEE]);
    for mail in mails {
        assert!(!mail.text.contains("Reminder"), "{}", mail.text);
    }
}

async fn quiet_hours_delay_the_notice(app: TestApp) {
    let ann = opted_in(&app).await;
    app.quiet(&ann, "America/New_York", "10:00", "11:00").await;
    watched(&app, &ann, "AAPL").await;
    app.advance(30);
    app.service.blindness.send_due_notices().await.unwrap();
    app.held_back_until(
        delivery::messages::MessageChannel::Email,
        "2024-03-08T16:00:00Z".parse().unwrap(),
    )
    .await;
    assert_eq!(app.outbox(ANN).await.len(), 0);
    assert_eq!(subjects(&app.after(30, ANN).await), [BLIND]);
}
