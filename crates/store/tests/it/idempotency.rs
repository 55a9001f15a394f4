//! Idempotency keys and stored responses.

use store::Store;
use store::model::{AccountId, IdempotencyClaim, IdempotencyClaimResult, IdempotencyKey, StoredResponse};
use testkit::on_both_databases;

use crate::support::{at, uuid, with_accounts};

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

/// Claims a key a number of seconds after the start.
async fn claim(store: &Store, request: IdempotencyKey, seconds: i64) -> IdempotencyClaimResult {
    let (abandoned, forgotten) = (at(seconds - ABANDONED_AFTER_S), at(seconds - KEPT_FOR_S));
    let claimed = store.commit(request, move |request, unit| {
        Box::pin(unit.claim_idempotency_key(request, at(seconds), abandoned, forgotten))
    });
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
            let abandoned = at(seconds - ABANDONED_AFTER_S);
            store.is_idempotency_key_in_progress(&request(1, 1, 1), abandoned).await.unwrap()
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
}
