//! What fires by what was missed, and what does not.

use alerts::{AlertId, Plan, Status};
use service::Actor;
use service::market::Missed;

use super::super::support::{World, above, on_each_database, settings};
use super::{firings, friday, judge, judge_behind, late, quote};

on_each_database! {
    a_crossing_in_the_gap_fires_once_and_late_though_the_price_has_come_back
    what_is_told_behind_a_later_observation_is_judged_where_that_is_said
    a_price_at_the_threshold_fires_and_one_a_millionth_below_does_not
    a_stretch_that_is_judged_twice_fires_nothing_more
    a_stretch_that_overlaps_another_is_judged_where_it_is_new
    what_a_live_price_has_fired_does_not_fire_again
    two_processes_that_missed_the_same_fire_an_alert_once
    a_live_price_at_the_same_time_does_not_double_a_firing
    another_process_that_missed_the_same_finds_it_done
    an_alert_made_after_the_crossing_does_not_fire
    an_alert_made_in_the_gap_before_the_crossing_fires
    an_alert_that_was_changed_after_the_crossing_does_not_fire
    a_paused_alert_does_not_fire_by_what_was_missed
    what_was_missed_while_the_program_was_off_fires_after_the_start
    what_cannot_be_judged_is_left_out_and_counted
}

/// The feed spoke last at 15:00 and is dead until 15:20; there is an alert for 199 or more since 15:00.
async fn silent(world: &World) -> (Actor, AlertId) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    world.advance(20);
    (ann, id)
}

async fn a_crossing_in_the_gap_fires_once_and_late_though_the_price_has_come_back(world: World) {
    let (ann, id) = silent(&world).await;
    let missed = [
        friday("198.5", "15:05:00"),
        friday("200", "15:12:20"),
        friday("197", "15:15:00"),
    ];
    let outcome = judge(&world, &missed).await;
    assert_eq!((outcome.judged, outcome.left_out, outcome.fired), (3, 0, 1));
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    assert_eq!(firings(&world, &ann, id).await, late("15:12:20"));
    let events = world.events(&ann).await;
    assert_eq!(events.len(), 1);
    let data = serde_json::Value::from(events[0].data.clone());
    let reason =
        "price 200.00 is at or above 199.00 (late: it crossed at 2024-03-08 15:12:20 UTC, while no prices came in)";
    assert_eq!(data["reason"], reason);
    assert_eq!(data["alert"]["late"], true);
    assert_eq!(data["alert"]["crossed_at"], "2024-03-08T15:12:20.000Z");
    assert_eq!(data["alert"]["triggered_at"], "2024-03-08T15:20:00.000Z");
    assert_eq!(data["stock"]["price"], 200.0);
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn what_is_told_behind_a_later_observation_is_judged_where_that_is_said(world: World) {
    let (ann, id) = silent(&world).await;
    world.quote("AAPL", 198.0).await;
    let missed = [friday("200", "15:12:20"), friday("197", "15:15:00")];
    assert_eq!(judge(&world, &missed).await.left_out, 2);
    assert_eq!(world.status(&ann, id).await, Status::Active);
    assert_eq!(judge_behind(&world, &missed).await.fired, 1);
    assert_eq!(firings(&world, &ann, id).await, late("15:12:20"));
    assert_eq!(judge_behind(&world, &missed).await.fired, 0);
}

async fn a_price_at_the_threshold_fires_and_one_a_millionth_below_does_not(world: World) {
    let (ann, id) = silent(&world).await;
    judge(&world, &[friday("198.999999", "15:05:00")]).await;
    assert_eq!(firings(&world, &ann, id).await, []);
    judge(&world, &[friday("199", "15:06:00")]).await;
    assert_eq!(firings(&world, &ann, id).await, late("15:06:00"));
}

async fn a_stretch_that_is_judged_twice_fires_nothing_more(world: World) {
    let (ann, id) = silent(&world).await;
    let missed = [friday("200", "15:12:00"), friday("197", "15:15:00")];
    judge(&world, &missed).await;
    let again = judge(&world, &missed).await;
    assert_eq!((again.judged, again.left_out, again.fired), (0, 2, 0));
    assert_eq!(firings(&world, &ann, id).await.len(), 1);
}

async fn a_stretch_that_overlaps_another_is_judged_where_it_is_new(world: World) {
    let (ann, id) = silent(&world).await;
    judge(&world, &[friday("198.5", "15:05:00"), friday("197", "15:10:00")]).await;
    let later = [
        friday("198.5", "15:05:00"),
        friday("197", "15:10:00"),
        friday("199.5", "15:11:00"),
    ];
    let outcome = judge(&world, &later).await;
    assert_eq!((outcome.judged, outcome.left_out, outcome.fired), (1, 2, 1));
    assert_eq!(firings(&world, &ann, id).await, late("15:11:00"));
}

async fn what_a_live_price_has_fired_does_not_fire_again(world: World) {
    let (ann, id) = silent(&world).await;
    world.quote("AAPL", 201.0).await;
    judge(&world, &[friday("200", "15:12:00")]).await;
    let other = world.another_process().await;
    judge(&other, &[friday("200", "15:12:00")]).await;
    assert_eq!(
        firings(&world, &ann, id).await,
        [("2024-03-08T15:20:00Z".to_owned(), None)]
    );
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn two_processes_that_missed_the_same_fire_an_alert_once(world: World) {
    let (ann, id) = silent(&world).await;
    let other = world.another_process().await;
    let missed = [friday("200", "15:12:00")];
    let (one, two) = tokio::join!(judge(&world, &missed), judge(&other, &missed));
    assert_eq!(one.fired + two.fired, 1);
    assert_eq!(firings(&world, &ann, id).await, late("15:12:00"));
    for world in [&world, &other] {
        world.service.compare().await.unwrap();
        world.quote("AAPL", 200.0).await;
    }
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn a_live_price_at_the_same_time_does_not_double_a_firing(world: World) {
    let (ann, id) = silent(&world).await;
    let missed = [friday("200", "15:12:00")];
    tokio::join!(judge(&world, &missed), world.quote("AAPL", 201.0));
    assert_eq!(firings(&world, &ann, id).await.len(), 1);
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn another_process_that_missed_the_same_finds_it_done(world: World) {
    let (ann, id) = silent(&world).await;
    let other = world.another_process().await;
    let missed = [friday("200", "15:12:00")];
    judge(&world, &missed).await;
    let outcome = judge(&other, &missed).await;
    assert_eq!((outcome.judged, outcome.fired), (1, 0));
    assert_eq!(firings(&world, &ann, id).await, late("15:12:00"));
}

async fn an_alert_made_after_the_crossing_does_not_fire(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world.advance(20);
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    world.advance(1);
    judge(&world, &[friday("200", "15:19:59"), friday("198", "15:20:00")]).await;
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    judge(&world, &[friday("200", "15:20:01")]).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn an_alert_made_in_the_gap_before_the_crossing_fires(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world.advance(10);
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    world.advance(10);
    let missed = [
        friday("200", "15:09:59"),
        friday("198", "15:10:30"),
        friday("199", "15:11:00"),
    ];
    judge(&world, &missed).await;
    assert_eq!(firings(&world, &ann, id).await, late("15:11:00"));
}

async fn an_alert_that_was_changed_after_the_crossing_does_not_fire(world: World) {
    let (ann, id) = silent(&world).await;
    let change = serde_json::json!({"threshold": 199.5});
    world.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    judge(&world, &[friday("200", "15:12:00"), friday("198", "15:15:00")]).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
}

async fn a_paused_alert_does_not_fire_by_what_was_missed(world: World) {
    let (ann, id) = silent(&world).await;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    judge(&world, &[friday("200", "15:12:00")]).await;
    assert_eq!(world.status(&ann, id).await, Status::Paused);
    assert_eq!(world.events(&ann).await, []);
}

async fn what_was_missed_while_the_program_was_off_fires_after_the_start(world: World) {
    let (ann, id) = silent(&world).await;
    let world = world.restarted().await;
    judge(&world, &[friday("200", "15:12:00"), friday("197", "15:15:00")]).await;
    assert_eq!(firings(&world, &ann, id).await, late("15:12:00"));
    let world = world.restarted().await;
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn what_cannot_be_judged_is_left_out_and_counted(world: World) {
    let (ann, id) = silent(&world).await;
    let timeless = market::records::QuoteRow {
        time: None,
        ..friday("200", "15:10:00")
    };
    let missed = [
        timeless,
        friday("200", "15:20:01"),
        friday("200", "14:29:59"),
        friday("200", "15:00:00"),
        quote("NOBODY", "200", "2024-03-08T15:10:00Z"),
    ];
    let outcome = judge(&world, &missed).await;
    assert_eq!((outcome.judged, outcome.left_out, outcome.fired), (0, 5, 0));
    assert_eq!(world.status(&ann, id).await, Status::Active);
    assert_eq!(
        world
            .service
            .market_intake
            .judge_missed(Missed::default())
            .await
            .unwrap(),
        service::market::MissedOutcome::default()
    );
}

/// A market that never closes: a night from Friday to Saturday.
async fn a_night_is_judged(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    // Saturday, 05:00 UTC: midnight in New York.
    world.advance(14 * 60);
    let missed = [friday("198", "23:00:00"), quote("AAPL", "199", "2024-03-09T05:00:00Z")];
    assert_eq!(judge(&world, &missed).await.fired, 1);
    let crossed = "2024-03-09T05:00:00.000Z".to_owned();
    assert_eq!(firings(&world, &ann, id).await[0].1, Some(crossed));
    world.advance(24 * 60);
    let world = world.restarted().await;
    world.quote("AAPL", 197.0).await;
    let closed = world
        .service
        .stocks
        .stock("AAPL".parse().unwrap())
        .await
        .unwrap()
        .previous_close;
    assert_eq!(closed.map(|price| price.as_f64()), Some(199.0));
}

#[test]
fn a_market_that_never_closes_is_looked_back_at_by_night() {
    testkit::run(async {
        for database in testkit::fresh_databases().await {
            let always_open = service::Settings {
                calendar: market::Calendar::nyse().always_open(),
                ..settings()
            };
            a_night_is_judged(World::with(database, always_open).await).await;
        }
    });
}
