//! Several processes on one database: none loses what another one did, and nothing fires twice.

use alerts::{HistoryAction, Plan, Status};

use super::support::{World, above, on_each_database};

on_each_database! {
    what_another_process_created_is_judged_after_a_comparison
    what_another_process_deleted_is_not_judged_after_a_comparison
    two_processes_that_see_the_same_price_fire_an_alert_once
    a_comparison_without_differences_mends_nothing
}

async fn what_another_process_created_is_judged_after_a_comparison(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let other = world.another_process().await;
    let id = other.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    assert_eq!(world.service.compare().await.unwrap(), 1);
    world.quote("AAPL", 199.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn what_another_process_deleted_is_not_judged_after_a_comparison(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let other = world.another_process().await;
    other.service.alerts.delete_alert(&ann, id).await.unwrap();
    assert_eq!(world.service.compare().await.unwrap(), 1);
    assert_eq!(world.service.compare().await.unwrap(), 0);
    world.quote("AAPL", 199.0).await;
    assert_eq!(
        world.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Deleted]
    );
}

async fn two_processes_that_see_the_same_price_fire_an_alert_once(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let other = world.another_process().await;
    tokio::join!(world.quote("AAPL", 199.0), other.quote("AAPL", 199.0));
    assert_eq!(
        world.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    assert_eq!(world.events(&ann).await.len(), 1);
    // Whoever came too late knows that it has fired.
    for world in [&world, &other] {
        assert_eq!(world.service.compare().await.unwrap(), 0);
    }
}

async fn a_comparison_without_differences_mends_nothing(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world.create(&ann, above("AAPL", 199.0)).await;
    let paused = world.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, paused).await.unwrap();
    world.quote("AAPL", 199.0).await;
    assert_eq!(world.service.compare().await.unwrap(), 0);
}
