//! Jobs that are asked for from outside.

use alerts::{Plan, Status};
use jiff::SignedDuration;
use serde_json::json;
use service::cron::Job;
use sources::live::RefreshKind;

use crate::support::{PASSWORD, World, above, on_each_database};

on_each_database! {
    every_job_says_what_it_came_to
    judging_judges_what_is_due_by_then
    market_data_is_fetched_where_somebody_can_be_asked
    cleaning_up_forgets_sessions_and_codes_a_week_after_their_end
}

async fn every_job_says_what_it_came_to(world: World) {
    for job in Job::ALL {
        let report = world.service.jobs.run_job(*job).await.unwrap();
        assert_eq!(report.job, *job);
        assert_eq!(
            report.has_run,
            !report.detail.starts_with("nothing to do: "),
            "{report:?}"
        );
    }
}

async fn market_data_is_fetched_where_somebody_can_be_asked(world: World) {
    let jobs = [Job::Catalog, Job::Bars, Job::Fundamentals, Job::Events];
    for job in jobs {
        let report = world.service.jobs.run_job(job).await.unwrap();
        assert!(!report.has_run, "{report:?}");
    }
    let mut wanted = world.service.market_intake.wanted();
    for (job, matter) in jobs.into_iter().zip([
        RefreshKind::Catalog,
        RefreshKind::Bars,
        RefreshKind::Fundamentals,
        RefreshKind::Events,
    ]) {
        let report = world.service.jobs.run_job(job).await.unwrap();
        assert!(report.has_run, "{report:?}");
        assert_eq!(wanted.try_recv().unwrap(), matter);
    }
}

async fn judging_judges_what_is_due_by_then(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    let price = world.create(&ann, above("AAPL", 90.0)).await.stored.alert.id;
    let reminder = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-11"}});
    let reminder = world.create(&ann, reminder).await.stored.alert.id;
    world.service.jobs.run_job(Job::Evaluate).await.unwrap();
    assert_eq!(world.status(&ann, price).await, Status::Triggered);
    assert_eq!(world.status(&ann, reminder).await, Status::Active);
    world.clock.advance(SignedDuration::from_hours(3 * 24));
    world.service.jobs.run_job(Job::DailyReminders).await.unwrap();
    assert_eq!(world.status(&ann, reminder).await, Status::Triggered);
}

async fn cleaning_up_forgets_sessions_and_codes_a_week_after_their_end(world: World) {
    let ann = world.ann(Plan::Basic).await;
    let body = json!({"email": ann.email, "password": PASSWORD});
    world
        .service
        .identity
        .sign_in(&body, [192, 0, 2, 1].into())
        .await
        .unwrap();
    world
        .service
        .identity
        .request_reset(&json!({"email": ann.email}))
        .await
        .unwrap();
    let kept = async || {
        let report = world.service.jobs.run_job(Job::Cleanup).await.unwrap();
        let store = world.store().await;
        let sessions = store.sessions(ann.account).await.unwrap().len();
        store.close().await;
        let (deleted, _) = report.detail.split_once(' ').unwrap();
        (deleted.parse::<u32>().unwrap(), sessions)
    };
    assert_eq!(kept().await, (0, 1));
    // The link is good for an hour, the session for thirty days.
    world.clock.advance(SignedDuration::from_hours(7 * 24 + 1));
    assert_eq!(kept().await, (0, 1));
    world.clock.advance(SignedDuration::from_micros(1));
    assert_eq!(kept().await, (1, 1));
    world
        .clock
        .advance(SignedDuration::from_hours(30 * 24 - 1) - SignedDuration::from_micros(1));
    assert_eq!(kept().await, (0, 1));
    world.clock.advance(SignedDuration::from_micros(1));
    assert_eq!(kept().await, (1, 0));
}
