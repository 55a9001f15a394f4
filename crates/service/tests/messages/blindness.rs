//! Owners who want it are told of blind alerts: once, and once more when they see again.

use alerts::{AlertId, Plan};
use serde_json::json;
use service::Actor;
use service::messages::OutboxMessage;

use crate::support::{World, above, on_each_database};

on_each_database! {
    the_owner_is_told_once_of_all_alerts_that_were_blind_for_ten_minutes
    nobody_is_told_who_did_not_ask_for_it
    nothing_is_told_outside_sessions
    a_restart_tells_nothing_again
    of_two_processes_one_tells
    a_process_that_is_not_fed_takes_nothing_for_missing
    the_owner_is_told_once_that_they_see_again
    who_was_not_told_of_blindness_is_not_told_of_its_end
    what_had_stopped_when_it_was_told_is_no_news
    what_stops_later_is_told_by_itself
    a_stock_that_stays_blind_does_not_silence_later_blindness_of_others
    a_relapse_is_told_after_ten_minutes_and_not_before
    a_stock_without_a_new_quote_is_not_told_again_beside_one_that_relapsed
    alerts_that_are_paused_end_it_without_a_letter
    who_does_not_want_it_any_more_is_told_nothing
    alerts_that_are_no_matter_of_quotes_are_not_named
    quiet_hours_hold_it_back
}

const ANN: &str = "ann@example.com";

async fn wishing(world: &World) -> Actor {
    let ann = world.ann(Plan::Premium).await;
    wish(world, &ann, true).await;
    ann
}

async fn wish(world: &World, actor: &Actor, notify_blind: bool) {
    let body = json!({"notify_blind": notify_blind});
    world
        .service
        .account_settings
        .set_preferences(actor, &body)
        .await
        .unwrap();
}

/// Somebody's alert on a stock that is quoted.
async fn watched(world: &World, actor: &Actor, symbol: &str) -> AlertId {
    world.quote(symbol, 100.0).await;
    world.create(actor, above(symbol, 200.0)).await.stored.alert.id
}

impl World {
    /// Lets time pass, and what is to be told be told. Answers all that was mailed to somebody.
    async fn after(&self, minutes: i64, to: &str) -> Vec<OutboxMessage> {
        self.advance(minutes);
        self.told(to).await
    }

    async fn told(&self, to: &str) -> Vec<OutboxMessage> {
        self.service.blindness.tell_of_blindness().await.unwrap();
        self.nothing_waits().await;
        self.outbox(to).await
    }
}

fn subjects(mails: &[OutboxMessage]) -> Vec<&str> {
    mails.iter().map(|mail| mail.subject.as_deref().unwrap()).collect()
}

const BLIND: &str = "Some of your alerts cannot be evaluated right now";
const SEE: &str = "Your alerts are evaluated again";

async fn the_owner_is_told_once_of_all_alerts_that_were_blind_for_ten_minutes(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "AAPL").await;
    world.create(&ann, above("AAPL", 250.0)).await;
    watched(&world, &ann, "MSFT").await;
    assert_eq!(subjects(&world.after(24, ANN).await), [""; 0]);
    let mails = world.after(1, ANN).await;
    assert_eq!(subjects(&mails), [BLIND]);
    for line in [
        "Alert: AAPL: Price at or above, 200.00 USD, since 8 March 2024, 10:15 EST",
        "Alert: AAPL: Price at or above, 250.00 USD, since 8 March 2024, 10:15 EST",
        "Alert: MSFT: Price at or above, 200.00 USD, since 8 March 2024, 10:15 EST",
    ] {
        assert!(mails[0].text.contains(line), "{}", mails[0].text);
    }
    assert!(mails[0].text.contains("/unsubscribe?token="), "{}", mails[0].text);
    assert_eq!(world.after(60, ANN).await.len(), 1);
}

async fn nobody_is_told_who_did_not_ask_for_it(world: World) {
    let ann = wishing(&world).await;
    let bob = world.bob(Plan::Premium).await;
    watched(&world, &ann, "AAPL").await;
    watched(&world, &bob, "AAPL").await;
    assert_eq!(world.after(30, ANN).await.len(), 1);
    assert_eq!(world.outbox("bob@example.com").await.len(), 0);
}

async fn nothing_is_told_outside_sessions(world: World) {
    let ann = wishing(&world).await;
    // 15:40 in New York: stale at 15:55, and the session ends at 16:00.
    world.advance(5 * 60 + 40);
    watched(&world, &ann, "AAPL").await;
    assert_eq!(world.after(25, ANN).await.len(), 0);
    // Monday, 09:54 in New York: 24 minutes into the session, and its quotes were due until 09:45.
    assert_eq!(world.after(2 * 24 * 60 + 16 * 60 + 48, ANN).await.len(), 0);
    let mails = world.after(2, ANN).await;
    assert_eq!(subjects(&mails), [BLIND]);
    assert!(
        mails[0].text.contains("since 11 March 2024, 09:45 EDT"),
        "{}",
        mails[0].text
    );
}

async fn a_restart_tells_nothing_again(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "AAPL").await;
    assert_eq!(world.after(25, ANN).await.len(), 1);
    let world = world.restarted().await;
    assert_eq!(world.after(5, ANN).await.len(), 1);
    world.quote("AAPL", 101.0).await;
    assert_eq!(subjects(&world.told(ANN).await), [BLIND, SEE]);
    let world = world.restarted().await;
    assert_eq!(world.told(ANN).await.len(), 2);
}

async fn of_two_processes_one_tells(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "AAPL").await;
    let other = world.another_process().await;
    world.advance(25);
    let (one, two) = tokio::join!(
        world.service.blindness.tell_of_blindness(),
        other.service.blindness.tell_of_blindness()
    );
    one.unwrap();
    two.unwrap();
    assert_eq!(world.told(ANN).await.len(), 1);
    assert_eq!(other.told(ANN).await.len(), 1);
    world.quote("AAPL", 101.0).await;
    other.quote("AAPL", 101.0).await;
    let (one, two) = tokio::join!(
        world.service.blindness.tell_of_blindness(),
        other.service.blindness.tell_of_blindness()
    );
    one.unwrap();
    two.unwrap();
    assert_eq!(subjects(&world.told(ANN).await), [BLIND, SEE]);
    other.service.stop().await;
}

async fn a_process_that_is_not_fed_takes_nothing_for_missing(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "AAPL").await;
    let other = world.another_process().await;
    world.advance(20);
    world.quote("AAPL", 101.0).await;
    world.advance(10);
    assert_eq!(other.told(ANN).await.len(), 0);
    // Nor does it say that something is seen again which it has not seen.
    assert_eq!(subjects(&other.after(15, ANN).await), [BLIND]);
    assert_eq!(world.told(ANN).await.len(), 1);
    world.quote("AAPL", 102.0).await;
    assert_eq!(subjects(&world.told(ANN).await), [BLIND, SEE]);
    assert_eq!(other.told(ANN).await.len(), 2);
    other.service.stop().await;
}

async fn the_owner_is_told_once_that_they_see_again(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "AAPL").await;
    watched(&world, &ann, "MSFT").await;
    assert_eq!(world.after(25, ANN).await.len(), 1);
    world.quote("AAPL", 101.0).await;
    assert_eq!(world.told(ANN).await.len(), 1, "MSFT is blind still");
    world.quote("MSFT", 101.0).await;
    let mails = world.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, SEE]);
    for line in [
        "Alert: AAPL: Price at or above, 200.00 USD",
        "Alert: MSFT: Price at or above, 200.00 USD",
        "without quotes since 8 March 2024, 10:15 EST",
    ] {
        assert!(mails[1].text.contains(line), "{}", mails[1].text);
    }
    assert_eq!(world.after(1, ANN).await.len(), 2);
    // It is told anew when it happens again.
    assert_eq!(subjects(&world.after(30, ANN).await), [BLIND, SEE, BLIND]);
}

async fn who_was_not_told_of_blindness_is_not_told_of_its_end(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "AAPL").await;
    assert_eq!(world.after(24, ANN).await.len(), 0);
    world.quote("AAPL", 101.0).await;
    assert_eq!(world.told(ANN).await.len(), 0);
}

async fn what_had_stopped_when_it_was_told_is_no_news(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "THIN").await;
    world.advance(12);
    watched(&world, &ann, "AAPL").await;
    let mails = world.after(13, ANN).await;
    assert_eq!(subjects(&mails), [BLIND]);
    assert!(!mails[0].text.contains("AAPL"), "{}", mails[0].text);
    assert_eq!(world.after(30, ANN).await.len(), 1);
    // It ends with the others.
    world.quote("THIN", 101.0).await;
    assert_eq!(world.told(ANN).await.len(), 1);
    world.quote("AAPL", 101.0).await;
    assert_eq!(subjects(&world.told(ANN).await), [BLIND, SEE]);
}

async fn what_stops_later_is_told_by_itself(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "HALT").await;
    assert_eq!(world.after(25, ANN).await.len(), 1);
    world.advance(1);
    watched(&world, &ann, "AAPL").await;
    assert_eq!(world.after(24, ANN).await.len(), 1);
    let mails = world.after(1, ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND]);
    assert!(
        mails[1].text.contains("AAPL") && !mails[1].text.contains("HALT"),
        "{}",
        mails[1].text
    );
    world.quote("AAPL", 101.0).await;
    let mails = world.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND, SEE]);
    assert!(!mails[2].text.contains("HALT"), "{}", mails[2].text);
}

/// Ann was told that AAPL and HALT are blind. Then AAPL is quoted again, and HALT never is.
async fn aapl_recovers(world: &World) -> Actor {
    let ann = wishing(world).await;
    watched(world, &ann, "AAPL").await;
    watched(world, &ann, "HALT").await;
    assert_eq!(subjects(&world.after(25, ANN).await), [BLIND]);
    world.advance(1);
    world.quote("AAPL", 101.0).await;
    assert_eq!(world.told(ANN).await.len(), 1);
    ann
}

async fn a_stock_that_stays_blind_does_not_silence_later_blindness_of_others(world: World) {
    aapl_recovers(&world).await;
    let mails = world.after(25, ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND]);
    let text = &mails[1].text;
    assert!(text.contains("AAPL") && !text.contains("HALT"), "{text}");
    // A restart repeats nothing, and the end is reported by itself.
    let world = world.restarted().await;
    assert_eq!(world.after(30, ANN).await.len(), 2);
    world.quote("AAPL", 101.0).await;
    let mails = world.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND, SEE]);
    let text = &mails[2].text;
    assert!(text.contains("AAPL") && !text.contains("HALT"), "{text}");
}

async fn a_relapse_is_told_after_ten_minutes_and_not_before(world: World) {
    aapl_recovers(&world).await;
    assert_eq!(world.after(24, ANN).await.len(), 1);
    assert_eq!(world.after(1, ANN).await.len(), 2);
    assert_eq!(world.after(60, ANN).await.len(), 2, "once");
}

async fn a_stock_without_a_new_quote_is_not_told_again_beside_one_that_relapsed(world: World) {
    aapl_recovers(&world).await;
    assert_eq!(world.after(25, ANN).await.len(), 2);
    world.quote("HALT", 101.0).await;
    let mails = world.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, BLIND, SEE]);
    let text = &mails[2].text;
    assert!(text.contains("HALT") && !text.contains("AAPL"), "{text}");
}

async fn alerts_that_are_paused_end_it_without_a_letter(world: World) {
    let ann = wishing(&world).await;
    let id = watched(&world, &ann, "AAPL").await;
    assert_eq!(world.after(25, ANN).await.len(), 1);
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    assert_eq!(world.after(1, ANN).await.len(), 1);
    assert_eq!(world.store().await.blindness_notices().await.unwrap(), []);
    world.quote("AAPL", 101.0).await;
    assert_eq!(world.told(ANN).await.len(), 1);
}

async fn who_does_not_want_it_any_more_is_told_nothing(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "AAPL").await;
    assert_eq!(world.after(25, ANN).await.len(), 1);
    wish(&world, &ann, false).await;
    world.quote("AAPL", 101.0).await;
    assert_eq!(world.told(ANN).await.len(), 1);
    assert_eq!(world.store().await.blindness_notices().await.unwrap(), []);
}

async fn alerts_that_are_no_matter_of_quotes_are_not_named(world: World) {
    let ann = wishing(&world).await;
    watched(&world, &ann, "AAPL").await;
    let reminder = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-06-03"}});
    world.create(&ann, reminder).await;
    world.after(25, ANN).await;
    world.quote("AAPL", 101.0).await;
    let mails = world.told(ANN).await;
    assert_eq!(subjects(&mails), [BLIND, SEE]);
    for mail in mails {
        assert!(!mail.text.contains("Reminder"), "{}", mail.text);
    }
}

async fn quiet_hours_hold_it_back(world: World) {
    let ann = wishing(&world).await;
    world.quiet(&ann, "America/New_York", "10:00", "11:00").await;
    watched(&world, &ann, "AAPL").await;
    world.advance(30);
    world.service.blindness.tell_of_blindness().await.unwrap();
    world
        .held_back_until(
            service::messages::MessageChannel::Email,
            "2024-03-08T16:00:00Z".parse().unwrap(),
        )
        .await;
    assert_eq!(world.outbox(ANN).await.len(), 0);
    assert_eq!(subjects(&world.after(30, ANN).await), [BLIND]);
}
