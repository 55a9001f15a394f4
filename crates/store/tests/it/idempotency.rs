//! Idempotency keys and stored responses.

use std::sync::Arc;

use jiff::SignedDuration;
use store::model::{
    AccountId, ClusterNode, IdempotencyClaim, IdempotencyClaimResult, IdempotencyKey, NewIdempotencyClaim, NodeId,
    StoredResponse,
};
use store::{Store, StoreError};
use testkit::on_both_databases;
use tokio::sync::Notify;

use crate::support::{account, at, open, uuid, with_accounts};

const ABANDONED_AFTER_S: i64 = 60;
const KEPT_FOR_S: i64 = 86_400;

fn request(account: u128, key: u8, body: u8) -> IdempotencyKey {
    IdempotencyKey {
        requester: AccountId(uuid(account)).into(),
        key_hash: [key; 32],
        body_hash: [body; 32],
    }
}

fn answer(status: u16) -> StoredResponse {
    StoredResponse {
        status,
        body: b"{\"success\":true}".to_vec(),
    }
}

fn new_claim(process: Option<u128>, key: IdempotencyKey, seconds: i64) -> NewIdempotencyClaim {
    NewIdempotencyClaim {
        key,
        process: process.map(uuid),
        now: at(seconds),
        abandoned: at(seconds - ABANDONED_AFTER_S),
        forgotten: at(seconds - KEPT_FOR_S),
    }
}

/// Claims a key a number of seconds after the start.
async fn claim(store: &Store, request: IdempotencyKey, seconds: i64) -> IdempotencyClaimResult {
    claim_as(store, None, request, seconds).await
}

/// Claims a key as a process.
async fn claim_as(store: &Store, process: Option<u128>, key: IdempotencyKey, seconds: i64) -> IdempotencyClaimResult {
    let new = new_claim(process, key, seconds);
    let claimed = store.commit(new, |new, unit| Box::pin(unit.claim_idempotency_key(new)));
    claimed.await.unwrap()
}

/// Claims a key that is unclaimed.
async fn first(store: &Store, request: IdempotencyKey, seconds: i64) -> IdempotencyClaim {
    match claim(store, request, seconds).await {
        IdempotencyClaimResult::First(claim) => claim,
        other => panic!("{other:?}"),
    }
}

async fn finish(store: &Store, claim: IdempotencyClaim, status: u16) -> bool {
    let finished = store.commit((claim, answer(status)), |(claim, answer), unit| {
        Box::pin(unit.store_response(claim, answer))
    });
    finished.await.unwrap()
}

/// Adds an account while a request is processed.
async fn write(store: &Store, claim: IdempotencyClaim, number: u128) -> Result<(), StoreError> {
    let writing = store.commit(account(number), |account, unit| Box::pin(unit.insert_account(account)));
    Store::with_claim(claim, writing).await.map(drop)
}

async fn fail(store: &Store, claim: IdempotencyClaim) -> bool {
    let failed = store.commit(claim, |claim, unit| Box::pin(unit.fail_idempotency_key(claim, 503)));
    failed.await.unwrap()
}

async fn release(store: &Store, claim: IdempotencyClaim) {
    let released = store.commit(claim, |claim, unit| Box::pin(unit.release_idempotency_key(claim)));
    released.await.unwrap();
}

on_both_databases! {
    async fn key_is_claimed_once_and_response_stored(database) {
        let store = with_accounts(database, 1).await;
        let claimed = first(&store, request(1, 1, 1), 0).await;
        let unfinished = IdempotencyClaimResult::InProgress { since: at(0) };
        assert_eq!(claim(&store, request(1, 1, 1), 1).await, unfinished);
        assert_eq!(claim(&store, request(1, 1, 2), 1).await, IdempotencyClaimResult::BodyMismatch);
        assert!(finish(&store, claimed, 201).await);
        assert_eq!(claim(&store, request(1, 1, 1), 2).await, IdempotencyClaimResult::Completed(answer(201)));
        assert_eq!(claim(&store, request(1, 1, 2), 2).await, IdempotencyClaimResult::BodyMismatch);
    }

    async fn keys_and_accounts_have_separate_claims(database) {
        let store = with_accounts(database, 2).await;
        let _ = first(&store, request(1, 1, 1), 0).await;
        let _ = first(&store, request(1, 2, 1), 0).await;
        let _ = first(&store, request(2, 1, 1), 0).await;
    }

    async fn released_claim_can_be_taken_at_once(database) {
        let store = with_accounts(database, 1).await;
        let released = first(&store, request(1, 1, 1), 0).await;
        release(&store, released).await;
        let _ = first(&store, request(1, 1, 2), 0).await;
    }

    async fn abandoned_claim_goes_to_next_request(database) {
        let store = with_accounts(database, 1).await;
        let lost = first(&store, request(1, 1, 1), 0).await;
        let early = claim(&store, request(1, 1, 1), ABANDONED_AFTER_S - 1).await;
        assert_eq!(early, IdempotencyClaimResult::InProgress { since: at(0) });
        let taken = first(&store, request(1, 1, 1), ABANDONED_AFTER_S).await;
        assert!(!finish(&store, lost, 500).await, "the claim was lost");
        release(&store, lost).await;
        assert!(finish(&store, taken, 200).await);
        assert_eq!(claim(&store, request(1, 1, 1), 100).await, IdempotencyClaimResult::Completed(answer(200)));
    }

    async fn key_is_in_progress_until_its_response_is_stored_or_its_claim_is_abandoned(database) {
        let store = with_accounts(database, 1).await;
        let is_in_progress = async |seconds: i64| {
            store.is_idempotency_key_in_progress(&new_claim(None, request(1, 1, 1), seconds)).await.unwrap()
        };
        assert!(!is_in_progress(0).await);
        let released = first(&store, request(1, 1, 1), 0).await;
        assert!(is_in_progress(ABANDONED_AFTER_S - 1).await);
        assert!(!is_in_progress(ABANDONED_AFTER_S).await);
        release(&store, released).await;
        assert!(!is_in_progress(0).await);
        let claimed = first(&store, request(1, 1, 1), 0).await;
        assert!(finish(&store, claimed, 201).await);
        assert!(!is_in_progress(0).await);
    }

    async fn response_is_kept_until_it_expires(database) {
        let store = with_accounts(database, 1).await;
        let claimed = first(&store, request(1, 1, 1), 0).await;
        assert!(finish(&store, claimed, 200).await);
        let kept = claim(&store, request(1, 1, 1), KEPT_FOR_S - 1).await;
        assert_eq!(kept, IdempotencyClaimResult::Completed(answer(200)));
        let _ = first(&store, request(1, 1, 2), KEPT_FOR_S).await;
    }

    async fn one_of_many_concurrent_claims_succeeds(database) {
        let store = with_accounts(database, 1).await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let store = store.clone();
            tasks.spawn(async move { claim(&store, request(1, 1, 1), 0).await });
        }
        let claims = tasks.join_all().await;
        let firsts = claims.iter().filter(|claimed| matches!(claimed, IdempotencyClaimResult::First(_)));
        assert_eq!(firsts.count(), 1);
    }

    async fn request_that_has_written_is_not_processed_again(database) {
        let store = with_accounts(database, 1).await;
        let lost = first(&store, request(1, 1, 1), 0).await;
        write(&store, lost, 2).await.unwrap();
        let early = claim(&store, request(1, 1, 1), ABANDONED_AFTER_S - 1).await;
        assert_eq!(early, IdempotencyClaimResult::InProgress { since: at(0) });
        let late = claim(&store, request(1, 1, 1), ABANDONED_AFTER_S).await;
        assert_eq!(late, IdempotencyClaimResult::ResponseLost);
        assert!(finish(&store, lost, 201).await, "its process was only slow");
        assert_eq!(claim(&store, request(1, 1, 1), 100).await, IdempotencyClaimResult::Completed(answer(201)));
    }

    async fn request_that_has_only_read_is_processed_again(database) {
        let store = with_accounts(database, 1).await;
        let lost = first(&store, request(1, 1, 1), 0).await;
        let reading = store.commit((), |(), unit| Box::pin(unit.lock_account(AccountId(uuid(1)))));
        Store::with_claim(lost, reading).await.unwrap().unwrap();
        let _ = first(&store, request(1, 1, 1), ABANDONED_AFTER_S).await;
    }

    async fn process_that_has_lost_its_claim_writes_nothing(database) {
        let store = with_accounts(database, 1).await;
        let lost = first(&store, request(1, 1, 1), 0).await;
        let taken = first(&store, request(1, 1, 1), ABANDONED_AFTER_S).await;
        let refused = write(&store, lost, 2).await;
        assert!(matches!(refused, Err(StoreError::ClaimLost)), "{refused:?}");
        write(&store, taken, 2).await.unwrap();
    }

    async fn failed_request_is_processed_again_unless_it_has_written(database) {
        let store = with_accounts(database, 1).await;
        let failed = first(&store, request(1, 1, 1), 0).await;
        assert!(!fail(&store, failed).await);
        let failed = first(&store, request(1, 1, 1), 1).await;
        write(&store, failed, 2).await.unwrap();
        assert!(fail(&store, failed).await, "its response is lost");
        assert_eq!(claim(&store, request(1, 1, 1), 2).await, IdempotencyClaimResult::ResponseLost);
    }

    async fn refused_request_is_processed_again_although_it_has_written(database) {
        let store = with_accounts(database, 1).await;
        let refused = first(&store, request(1, 1, 1), 0).await;
        write(&store, refused, 2).await.unwrap();
        release(&store, refused).await;
        let _ = first(&store, request(1, 1, 1), 1).await;
    }

    async fn claim_of_a_dead_process_goes_to_the_next_request_at_once(database) {
        let store = with_accounts(database, 1).await;
        let join = async |number: u128| {
            let node = ClusterNode { id: NodeId(uuid(number)), name: format!("node-{number}"), roles: 1, is_connected: true };
            if let Some(cluster) = store.cluster() {
                cluster.join(&node, SignedDuration::from_hours(1)).await.unwrap();
            }
        };
        let leave = async |number: u128| {
            if let Some(cluster) = store.cluster() {
                cluster.leave(NodeId(uuid(number))).await.unwrap();
            }
        };
        join(7).await;
        let claimed = claim_as(&store, Some(7), request(1, 1, 1), 0).await;
        let IdempotencyClaimResult::First(lost) = claimed else { panic!("{claimed:?}") };
        let again = claim_as(&store, Some(7), request(1, 1, 1), 1).await;
        assert_eq!(again, IdempotencyClaimResult::InProgress { since: at(0) });
        leave(7).await;
        join(8).await;
        let taken = claim_as(&store, Some(8), request(1, 1, 1), 2).await;
        let IdempotencyClaimResult::First(taken) = taken else { panic!("{taken:?}") };
        assert!(write(&store, lost, 2).await.is_err());
        write(&store, taken, 2).await.unwrap();
        leave(8).await;
        let late = claim_as(&store, Some(9), request(1, 1, 1), 3).await;
        let expected = match database.is_postgres() {
            // The node may only be unable to renew its lease, and store its response soon.
            true => IdempotencyClaimResult::InProgress { since: at(2) },
            false => IdempotencyClaimResult::ResponseLost,
        };
        assert_eq!(late, expected);
        let late = claim_as(&store, Some(9), request(1, 1, 1), 2 + ABANDONED_AFTER_S).await;
        assert_eq!(late, IdempotencyClaimResult::ResponseLost);
    }

    async fn node_without_a_lease_respects_its_own_claim(database) {
        let store = with_accounts(database, 1).await;
        let claimed = claim_as(&store, Some(7), request(1, 1, 1), 0).await;
        assert!(matches!(claimed, IdempotencyClaimResult::First(_)), "{claimed:?}");
        let again = claim_as(&store, Some(7), request(1, 1, 1), 1).await;
        assert_eq!(again, IdempotencyClaimResult::InProgress { since: at(0) });
        assert!(store.is_idempotency_key_in_progress(&new_claim(Some(7), request(1, 1, 1), 1)).await.unwrap());
    }

    async fn claim_does_not_wait_for_a_transaction_of_the_same_request(database) {
        let store = with_accounts(database, 1).await;
        if !database.is_postgres() {
            // SQLite has one process.
            return;
        }
        let other = open(database).await;
        let claimed = first(&store, request(1, 1, 1), 0).await;
        let (marked, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let inputs = (claimed, Arc::clone(&marked), Arc::clone(&release));
        let writing = store.commit(inputs, |(claim, marked, release), unit| {
            Box::pin(async move {
                // Locks the claim, as the end of a transaction that has written does.
                unit.fail_idempotency_key(claim, 503).await?;
                marked.notify_one();
                release.notified().await;
                Ok(())
            })
        });
        let repeat = async {
            marked.notified().await;
            let repeat = claim(&other, request(1, 1, 1), 1).await;
            release.notify_one();
            repeat
        };
        let (written, repeat) = tokio::join!(writing, repeat);
        written.unwrap();
        assert_eq!(repeat, IdempotencyClaimResult::InProgress { since: at(0) });
    }
}
