//! Jobs triggered by an external scheduler.

use alerts::{Plan, Status};
use jiff::SignedDuration;
use serde_json::json;
use service::cron::Job;
use sources::live::RefreshKind;

use crate::support::{PASSWORD, TestApp, above, on_each_database};

on_each_database! {
    every_job_reports_its_result
    evaluate_job_evaluates_due_alerts
    refresh_is_requested_if_source_fetches
    cleanup_deletes_sessions_and_codes_a_week_after_expiry
    cleanup_deletes_ended_windows_of_shared_limits
}

async fn every_job_reports_its_result(app: TestApp) {
    for job in Job::ALL {
        let report = app.service.jobs.run_job(*job).await.unwrap();
        assert_eq!(report.job, *job);
        assert_eq!(
            report.has_run,
            !report.detail.starts_with("nothing to do: "),
            "{report:?}"
        );
    }
}

async fn refresh_is_requested_if_source_fetches(app: TestApp) {
    let jobs = [Job::Catalog, Job::Bars, Job::Fundamentals, Job::Events];
    for job in jobs {
        let report = app.service.jobs.run_job(job).await.unwrap();
        assert!(!report.has_run, "{report:?}");
    }
    let mut wanted = app.service.market_intake.refresh_requests();
    for (job, matter) in jobs.into_iter().zip([
        RefreshKind::Catalog,
        RefreshKind::Bars,
        RefreshKind::Fundamentals,
        RefreshKind::Events,
    ]) {
        let report = app.service.jobs.run_job(job).await.unwrap();
        assert!(report.has_run, "{report:?}");
        assert_eq!(wanted.try_recv().unwrap(), matter);
    }
}

async fn evaluate_job_evaluates_due_alerts(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    let price = app.create(&ann, above("AAPL", 90.0)).await.stored.alert.id;
    let reminder = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-11"}});
    let reminder = app.create(&ann, reminder).await.stored.alert.id;
    app.service.jobs.run_job(Job::Evaluate).await.unwrap();
    assert_eq!(app.status(&ann, price).await, Status::Triggered);
    assert_eq!(app.status(&ann, reminder).await, Status::Active);
    app.clock.advance(SignedDuration::from_hours(3 * 24));
    app.service.jobs.run_job(Job::DailyReminders).await.unwrap();
    assert_eq!(app.status(&ann, reminder).await, Status::Triggered);
}

async fn cleanup_deletes_sessions_and_codes_a_week_after_expiry(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let body = json!({"email": ann.email, "password": PASSWORD});
    app.service
        .identity
        .sign_in(&body, [192, 0, 2, 1].into())
        .await
        .unwrap();
    app.service
        .identity
        .request_reset(&json!({"email": ann.email}))
        .await
        .unwrap();
    let kept = async || {
        let report = app.service.jobs.run_job(Job::Cleanup).await.unwrap();
        let store = app.store().await;
        let sessions = store.sessions(ann.account).await.unwrap().len();
        store.close().await;
        let (deleted, _) = report.detail.split_once(' ').unwrap();
        (deleted.parse::<u32>().unwrap(), sessions)
    };
    assert_eq!(kept().await, (0, 1));
    // The link expires after an hour, the session after thirty days.
    app.clock.advance(SignedDuration::from_hours(7 * 24 + 1));
    assert_eq!(kept().await, (0, 1));
    app.clock.advance(SignedDuration::from_micros(1));
    assert_eq!(kept().await, (1, 1));
    app.clock
        .advance(SignedDuration::from_hours(30 * 24 - 1) - SignedDuration::from_micros(1));
    assert_eq!(kept().await, (0, 1));
    app.clock.advance(SignedDuration::from_micros(1));
    assert_eq!(kept().await, (1, 0));
}

async fn cleanup_deletes_ended_windows_of_shared_limits(app: TestApp) {
    let Some(limits) = app.store().await.shared_limits() else {
        return;
    };
    let (ended, current) = ([1; 32], [2; 32]);
    limits.take(&ended, 10, 1, SignedDuration::ZERO).await.unwrap();
    limits
        .take(&current, 10, 1, SignedDuration::from_hours(1))
        .await
        .unwrap();
    app.service.jobs.run_job(Job::Cleanup).await.unwrap();
    assert_eq!(limits.purge(10).await.unwrap(), 0, "nothing is left to delete");
    let taken = limits.take(&current, 10, 1, SignedDuration::from_hours(1)).await;
    assert_eq!(taken.unwrap().granted, 2, "the current window is kept");
}
