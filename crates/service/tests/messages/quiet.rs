//! Quiet hours hold news back and lose none.

use alerts::Plan;
use jiff::Timestamp;
use serde_json::json;
use service::messages::MessageChannel;

use crate::post::{eventually, outcome, times};
use crate::support::{World, at, on_each_database};

on_each_database! {
    what_fires_in_quiet_hours_is_mailed_when_they_end
    text_messages_wait_as_mail_does_and_letters_do_not
    a_night_in_which_the_clocks_are_put_forward_ends_by_the_wall_clock
    who_deactivates_the_account_meanwhile_is_not_mailed_any_more
    what_waits_is_still_there_after_a_restart
    quiet_hours_that_are_switched_off_release_what_they_held
    quiet_hours_that_end_sooner_release_what_they_held_then
}

const NEW_YORK: &str = "America/New_York";

/// Ten in the morning in New York is within; they end at eleven.
const END: &str = "2024-03-08T16:00:00Z";

async fn what_fires_in_quiet_hours_is_mailed_when_they_end(world: World) {
    let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
    world.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    world.quiet(&bob, NEW_YORK, "11:00", "10:00").await;
    let alerts = world.fire(&ann, "email", 3).await;
    world.held_back_until(MessageChannel::Email, at(END)).await;
    // Bob's ended the moment that Ann's began.
    let bobs = world.fire(&bob, "email", 1).await;
    assert_eq!(world.outcomes(&bob, &bobs).await, times(1, "sent"));

    world.clock.set(at("2024-03-08T15:59:59.999Z"));
    assert!(world.outbox("ann@example.com").await.is_empty());
    world.clock.set(at(END));
    let mailed = world.mailed("ann@example.com", 3).await;
    assert!(mailed.iter().all(|mail| mail.created_at >= at(END)));
    for alert in alerts {
        let told = world.notified(&ann, alert, 1).await;
        assert_eq!(
            (told.len(), outcome(&told[0]), told[0].at),
            (1, "sent".to_owned(), at(END))
        );
    }
}

async fn text_messages_wait_as_mail_does_and_letters_do_not(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quiet(&ann, NEW_YORK, "09:30", "11:00").await;
    // The code is asked for, and sent, in quiet hours.
    world.verify_phone(&ann, "+14155550123").await;
    let alerts = world.fire(&ann, "sms", 1).await;
    world.held_back_until(MessageChannel::Sms, at(END)).await;
    assert_eq!(world.outbox("+14155550123").await.len(), 1);
    world.clock.set(at(END));
    assert_eq!(world.outcomes(&ann, &alerts).await, times(1, "sent"));
}

async fn a_night_in_which_the_clocks_are_put_forward_ends_by_the_wall_clock(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    world.quiet(&ann, NEW_YORK, "22:00", "07:00").await;
    let body = json!({
        "symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-10T01:30:00-05:00"},
    });
    let reminder = world.create(&ann, body).await.stored.alert.id;
    world.clock.set(at("2024-03-10T01:30:00-05:00"));
    world.service.evaluate().await.unwrap();
    // Seven o'clock came an hour sooner that night.
    let end: Timestamp = at("2024-03-10T07:00:00-04:00");
    world.held_back_until(MessageChannel::Email, end).await;
    world.clock.set(at("2024-03-10T07:00:00-04:00"));
    let told = world.notified(&ann, reminder, 1).await;
    assert_eq!((outcome(&told[0]), told[0].at), ("sent".to_owned(), end));
}

async fn who_deactivates_the_account_meanwhile_is_not_mailed_any_more(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    let alerts = world.fire(&ann, "email", 1).await;
    world.held_back_until(MessageChannel::Email, at(END)).await;
    world.service.account_settings.deactivate_account(&ann).await.unwrap();
    world.clock.set(at(END));
    let store = world.store().await;
    eventually("an end of what waits", || async {
        store
            .pending_message_endpoints(MessageChannel::Email, i64::MIN, 100)
            .await
            .unwrap()
            .is_empty()
            .then_some(())
    })
    .await;
    assert!(world.outbox("ann@example.com").await.is_empty());
    world.service.account_settings.reactivate_account(&ann).await.unwrap();
    assert_eq!(world.outcomes(&ann, &alerts).await, times(1, "account_deactivated"));
}

async fn what_waits_is_still_there_after_a_restart(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    let alerts = world.fire(&ann, "email", 2).await;
    world.held_back_until(MessageChannel::Email, at(END)).await;
    let world = world.restarted().await;
    world.held_back_until(MessageChannel::Email, at(END)).await;
    world.clock.set(at(END));
    assert_eq!(world.outcomes(&ann, &alerts).await, times(2, "sent"));
    assert_eq!(world.outbox("ann@example.com").await.len(), 2);
}

async fn quiet_hours_that_are_switched_off_release_what_they_held(world: World) {
    let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
    world.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    world.quiet(&bob, NEW_YORK, "10:00", "11:00").await;
    let alerts = world.fire(&ann, "email", 3).await;
    let bobs = world.fire(&bob, "email", 1).await;
    world.held_back_until(MessageChannel::Email, at(END)).await;
    let off = json!({"quiet_hours": null});
    world
        .service
        .account_settings
        .set_preferences(&ann, &off)
        .await
        .unwrap();
    assert_eq!(world.outcomes(&ann, &alerts).await, times(3, "sent"));
    // Others' hours go on.
    world.held_back_until(MessageChannel::Email, at(END)).await;
    assert!(world.outbox(&bob.email).await.is_empty());
    world.clock.set(at(END));
    assert_eq!(world.outcomes(&bob, &bobs).await, times(1, "sent"));
}

async fn quiet_hours_that_end_sooner_release_what_they_held_then(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quiet(&ann, NEW_YORK, "10:00", "11:00").await;
    let alerts = world.fire(&ann, "email", 1).await;
    world.held_back_until(MessageChannel::Email, at(END)).await;
    world.quiet(&ann, NEW_YORK, "10:00", "10:30").await;
    let sooner = at("2024-03-08T15:30:00Z");
    world.held_back_until(MessageChannel::Email, sooner).await;
    world.clock.set(sooner);
    assert_eq!(world.outcomes(&ann, &alerts).await, times(1, "sent"));
}
