//! Background jobs that one of several processes runs.

use sqlx::PgPool;
use testkit::eventually_some;

use crate::support::{TestApp, on_each_database};

on_each_database! {
    hourly_jobs_run_in_one_of_two_processes
}

/// Returns the jobs that are leased, each with its holder and its end.
async fn leases(database: &PgPool) -> Vec<(String, uuid::Uuid, i64)> {
    let sql = "SELECT name, holder_id, until FROM job_leases
               WHERE until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 ORDER BY name";
    sqlx::query_as(sql).fetch_all(database).await.unwrap()
}

/// Lets an hour pass until all jobs have run after `until`. Returns their leases.
async fn after_an_hour(app: &TestApp, database: &PgPool, until: i64) -> Vec<(String, uuid::Uuid, i64)> {
    eventually_some("the hourly jobs have run", async || {
        app.advance(61);
        let leases = leases(database).await;
        (leases.len() == 2 && leases.iter().all(|lease| lease.2 > until)).then_some(leases)
    })
    .await
}

async fn hourly_jobs_run_in_one_of_two_processes(app: TestApp) {
    if !app.database().is_postgres() {
        return;
    }
    let other = app.another_process().await;
    let database = PgPool::connect(app.database().url()).await.unwrap();
    let first = after_an_hour(&app, &database, 0).await;
    let latest = first.iter().map(|lease| lease.2).max().unwrap();
    let second = after_an_hour(&app, &database, latest).await;
    assert_eq!(
        (first[0].0.as_str(), first[1].0.as_str()),
        ("cleanup", "stale_analyses")
    );
    for (first, second) in first.iter().zip(&second) {
        assert_eq!((&first.0, first.1), (&second.0, second.1), "the process keeps its job");
    }
    app.service.stop().await;
    other.service.stop().await;
    assert_eq!(leases(&database).await, [], "the jobs are released");
    database.close().await;
}
