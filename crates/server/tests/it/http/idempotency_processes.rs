//! Idempotent requests that another process on the database handles.

use std::pin::pin;
use std::sync::Arc;

use jiff::SignedDuration;
use server::HttpConfig;
use service::idempotency::{IdempotencyLease, IdempotencyState, IdempotentRequest, LEASE_TIMEOUT};
use store::model::AccountId;
use store::{Store, StoreOptions};
use testkit::{Database, eventually};
use tokio::sync::Notify;

use crate::http::test_server::{TestResponse, TestServer, above};

const KEY: &str = "one";

async fn start_server(database: Database) -> TestServer {
    let server = TestServer::with_database(database, HttpConfig::default(), |_| ()).await;
    server.set_price("AAPL", 100.0).await;
    server
}

async fn post(server: &TestServer) -> TestResponse {
    let request = server.request("POST", "/v1/alerts").header("idempotency-key", KEY);
    request.json(&above(200)).send().await
}

async fn alerts(server: &TestServer) -> usize {
    let listed = server.get("/v1/alerts").await.ok(200);
    listed.body["data"].as_array().unwrap().len()
}

async fn account(server: &TestServer) -> AccountId {
    let actor = server.service.authenticator.authenticate_key(&server.key).await;
    actor.unwrap().account
}

/// Returns the request of [`post`].
async fn request(server: &TestServer) -> IdempotentRequest {
    let actor = server.service.authenticator.authenticate_key(&server.key).await;
    let actor = actor.unwrap();
    let body = above(200).to_string();
    IdempotentRequest::new(actor.account, &actor.auth_method, "/v1/alerts", KEY, body.as_bytes())
}

/// Begins the request of [`post`] in a process, which does not finish it.
async fn begin(server: &TestServer) -> IdempotencyLease {
    let request = request(server).await;
    match server.service.idempotency.begin_request(request).await.unwrap() {
        IdempotencyState::Acquired(lease) => lease,
        other => panic!("{other:?}"),
    }
}

/// Sends the request of [`post`] to a process. Calls `end_first` once the process has found that the request is in progress.
async fn repeat_during(server: &TestServer, end_first: impl AsyncFnOnce()) -> TestResponse {
    let before = server.store.write_stats().transactions;
    let mut repeat = pin!(post(server));
    let has_asked = eventually("the repeat has asked for the first request", async || {
        tokio::task::yield_now().await;
        server.store.write_stats().transactions > before
    });
    tokio::select! {
        response = &mut repeat => panic!("the repeat has not waited: {response:?}"),
        () = has_asked => {}
    }
    tokio::join!(repeat, end_first()).0
}

/// Locks an account until `release` is notified.
async fn hold_account(database: &Database, account: AccountId, release: Arc<Notify>) -> tokio::task::JoinHandle<()> {
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    let is_locked = Arc::new(Notify::new());
    let inputs = (account, Arc::clone(&is_locked), release);
    let holding = tokio::spawn(async move {
        let holding = store.commit(inputs, |(account, is_locked, release), unit| {
            Box::pin(async move {
                unit.lock_account(*account).await?;
                is_locked.notify_one();
                release.notified().await;
                Ok(())
            })
        });
        holding.await.unwrap();
    });
    is_locked.notified().await;
    holding
}

#[tokio::test(flavor = "multi_thread")]
async fn repeat_gets_the_response_of_the_first_request_in_another_process() {
    let first = start_server(Database::postgres().await).await;
    let second = first.another_process().await;
    let release = Arc::new(Notify::new());
    let holding = hold_account(&first.database, account(&first).await, Arc::clone(&release)).await;
    let mut running = pin!(post(&first));
    let is_claimed = eventually("the first process has claimed the key", async || {
        second
            .service
            .idempotency
            .is_in_progress_elsewhere(request(&second).await)
            .await
            .unwrap()
    });
    tokio::select! {
        response = &mut running => panic!("the account was not locked: {response:?}"),
        () = is_claimed => {}
    }
    let repeating = repeat_during(&second, async || release.notify_one());
    let (running, repeated) = tokio::join!(running, repeating);
    let (running, repeated) = (running.ok(201), repeated.ok(201));
    holding.await.unwrap();
    assert_eq!(repeated.header("idempotent-replayed"), "true");
    assert_eq!(repeated.body["data"], running.body["data"]);
    assert_eq!(alerts(&second).await, 1);
}

#[tokio::test]
async fn repeat_runs_if_the_first_request_in_another_process_had_no_effect() {
    let first = start_server(Database::postgres().await).await;
    let second = first.another_process().await;
    let lease = begin(&first).await;
    let end = async || first.service.idempotency.release_request(lease).await.unwrap();
    let repeated = repeat_during(&second, end).await.ok(201);
    assert!(!repeated.headers.contains_key("idempotent-replayed"));
    assert_eq!(alerts(&second).await, 1);
}

#[tokio::test]
async fn waiting_repeat_runs_when_the_lease_of_a_dead_process_ends() {
    let first = start_server(Database::postgres().await).await;
    let second = first.another_process().await;
    let lost = begin(&first).await;
    let end = async || first.clock.advance(SignedDuration::try_from(LEASE_TIMEOUT).unwrap());
    let repeated = repeat_during(&second, end).await.ok(201);
    assert!(!repeated.headers.contains_key("idempotent-replayed"));
    // A process that was only stopped finds that it has lost its claim.
    let late = first.service.idempotency.finish_request(lost, 201, b"{}").await;
    late.unwrap();
    let again = post(&first).await.ok(201);
    assert_eq!(again.body["data"], repeated.body["data"]);
    assert_eq!(alerts(&second).await, 1);
}

/// Creates the alert of [`post`] in a process, which dies before it has stored the response.
async fn create_and_die(server: &TestServer) {
    let lease = begin(server).await;
    let actor = server
        .service
        .authenticator
        .authenticate_key(&server.key)
        .await
        .unwrap();
    let created = lease
        .execute(server.service.alerts.create_alert(&actor, &above(200)))
        .await;
    created.unwrap();
}

#[tokio::test]
async fn repeat_of_a_request_whose_process_died_after_its_change_is_409_and_changes_nothing() {
    let first = start_server(Database::postgres().await).await;
    let second = first.another_process().await;
    create_and_die(&first).await;
    second.clock.advance(SignedDuration::try_from(LEASE_TIMEOUT).unwrap());
    let refused = post(&second).await.refused(409, "CONFLICT");
    assert!(refused.text.contains("response was lost"), "{}", refused.text);
    assert_eq!(alerts(&second).await, 1);
}

#[tokio::test]
async fn repeat_runs_after_a_restart_on_sqlite_if_the_first_request_changed_nothing() {
    let server = start_server(Database::sqlite()).await;
    let _lost = begin(&server).await;
    let server = server.restarted().await;
    let repeated = post(&server).await.ok(201);
    assert!(!repeated.headers.contains_key("idempotent-replayed"));
    assert_eq!(alerts(&server).await, 1);
}

#[tokio::test]
async fn repeat_is_409_after_a_restart_on_sqlite_if_the_first_request_changed_something() {
    let server = start_server(Database::sqlite()).await;
    create_and_die(&server).await;
    let server = server.restarted().await;
    let refused = post(&server).await.refused(409, "CONFLICT");
    assert!(refused.text.contains("response was lost"), "{}", refused.text);
    assert_eq!(alerts(&server).await, 1);
}
