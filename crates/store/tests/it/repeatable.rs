//! Requests that may be repeated.

use store::model::{AccountId, Claim, Claimed, FirstAnswer, RepeatableRequest};
use store::{Store, StoreError};
use testkit::on_both;

use crate::support::{at, boxed, uuid, with_accounts, work};

const ABANDONED_AFTER_S: i64 = 60;
const KEPT_FOR_S: i64 = 86_400;

fn request(account: u128, key: u8, body: u8) -> RepeatableRequest {
    RepeatableRequest {
        requester: AccountId(uuid(account)).into(),
        key_hash: [key; 32],
        body_hash: [body; 32],
    }
}

fn answer(status: u16) -> FirstAnswer {
    FirstAnswer {
        status,
        body: b"{\"success\":true}".to_vec(),
    }
}

/// Tries to claim a request so many seconds after the beginning.
async fn claim(store: &Store, request: RepeatableRequest, seconds: i64) -> Claimed {
    let claimed = store.write(work(move |unit| {
        boxed(async move {
            let (abandoned, forgotten) = (at(seconds - ABANDONED_AFTER_S), at(seconds - KEPT_FOR_S));
            Ok(unit.claim_request(&request, at(seconds), abandoned, forgotten).await?)
        })
    }));
    claimed.await.unwrap()
}

/// Claims a request, for it is the first.
async fn first(store: &Store, request: RepeatableRequest, seconds: i64) -> Claim {
    match claim(store, request, seconds).await {
        Claimed::First(claim) => claim,
        other => panic!("{other:?}"),
    }
}

async fn finish(store: &Store, claim: Claim, status: u16) -> bool {
    let finished = store.write(work(move |unit| {
        boxed(async move { Ok(unit.finish_request(&claim, &answer(status)).await?) })
    }));
    finished.await.unwrap()
}

async fn release(store: &Store, claim: Claim) {
    let released = store.write(work(move |unit| {
        boxed(async move {
            let done: Result<(), StoreError> = unit.release_request(&claim).await;
            Ok(done?)
        })
    }));
    released.await.unwrap();
}

on_both! {
    async fn a_request_is_claimed_once_and_its_answer_kept(database) {
        let store = with_accounts(database, 1).await;
        let claimed = first(&store, request(1, 1, 1), 0).await;
        let unfinished = Claimed::Unfinished { since: at(0) };
        assert_eq!(claim(&store, request(1, 1, 1), 1).await, unfinished);
        assert_eq!(claim(&store, request(1, 1, 2), 1).await, Claimed::OfAnotherBody);
        assert!(finish(&store, claimed, 201).await);
        assert_eq!(claim(&store, request(1, 1, 1), 2).await, Claimed::Answered(answer(201)));
        assert_eq!(claim(&store, request(1, 1, 2), 2).await, Claimed::OfAnotherBody);
    }

    async fn keys_and_accounts_have_claims_of_their_own(database) {
        let store = with_accounts(database, 2).await;
        let _ = first(&store, request(1, 1, 1), 0).await;
        let _ = first(&store, request(1, 2, 1), 0).await;
        let _ = first(&store, request(2, 1, 1), 0).await;
    }

    async fn a_claim_that_is_given_up_may_be_taken_at_once(database) {
        let store = with_accounts(database, 1).await;
        let given_up = first(&store, request(1, 1, 1), 0).await;
        release(&store, given_up).await;
        let _ = first(&store, request(1, 1, 2), 0).await;
    }

    async fn a_claim_that_nobody_finishes_goes_to_the_next_and_stays_theirs(database) {
        let store = with_accounts(database, 1).await;
        let lost = first(&store, request(1, 1, 1), 0).await;
        let early = claim(&store, request(1, 1, 1), ABANDONED_AFTER_S - 1).await;
        assert_eq!(early, Claimed::Unfinished { since: at(0) });
        let taken = first(&store, request(1, 1, 1), ABANDONED_AFTER_S).await;
        assert!(!finish(&store, lost, 500).await, "it comes too late");
        release(&store, lost).await;
        assert!(finish(&store, taken, 200).await);
        assert_eq!(claim(&store, request(1, 1, 1), 100).await, Claimed::Answered(answer(200)));
    }

    async fn an_answer_is_kept_for_its_time_and_no_longer(database) {
        let store = with_accounts(database, 1).await;
        let claimed = first(&store, request(1, 1, 1), 0).await;
        assert!(finish(&store, claimed, 200).await);
        let kept = claim(&store, request(1, 1, 1), KEPT_FOR_S - 1).await;
        assert_eq!(kept, Claimed::Answered(answer(200)));
        let _ = first(&store, request(1, 1, 2), KEPT_FOR_S).await;
    }

    async fn of_many_that_claim_at_once_one_gets_it_and_no_other(database) {
        let store = with_accounts(database, 1).await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let store = store.clone();
            tasks.spawn(async move { claim(&store, request(1, 1, 1), 0).await });
        }
        let claims = tasks.join_all().await;
        let firsts = claims.iter().filter(|claimed| matches!(claimed, Claimed::First(_)));
        assert_eq!(firsts.count(), 1);
    }
}
