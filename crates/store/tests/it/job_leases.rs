//! Leases of background jobs.

use jiff::SignedDuration;
use store::Store;
use testkit::{eventually, on_both_databases};

use crate::support::{open, uuid};

const JOB: &str = "cleanup";
const HOUR: SignedDuration = SignedDuration::from_hours(1);

async fn claim(store: &Store, holder: u128, duration: SignedDuration) -> bool {
    store.claim_job_lease(JOB, uuid(holder), duration).await.unwrap()
}

async fn release(store: &Store, holder: u128) {
    store.release_job_lease(JOB, uuid(holder)).await.unwrap();
}

on_both_databases! {
    async fn lease_has_one_holder_if_the_database_is_shared(database) {
        let (store, other) = (open(database).await, open(database).await);
        assert!(claim(&store, 1, HOUR).await);
        let is_claimed_again = claim(&other, 2, HOUR).await;
        assert_eq!(is_claimed_again, !store.is_shared());
        assert!(claim(&store, 1, HOUR).await, "the holder renews it");
        assert!(store.claim_job_lease("another job", uuid(2), HOUR).await.unwrap());
    }

    async fn released_lease_can_be_claimed_at_once(database) {
        let store = open(database).await;
        assert!(claim(&store, 1, HOUR).await);
        release(&store, 2).await;
        assert_eq!(claim(&store, 2, HOUR).await, !store.is_shared(), "only its holder releases it");
        release(&store, 1).await;
        assert!(claim(&store, 2, HOUR).await);
    }

    async fn end_of_the_last_lease_is_known_after_its_release(database) {
        let store = open(database).await;
        assert_eq!(store.job_lease_end(JOB).await.unwrap(), None);
        assert!(claim(&store, 1, HOUR).await);
        let claimed_until = store.job_lease_end(JOB).await.unwrap();
        assert_eq!(claimed_until.is_some(), store.is_shared());
        release(&store, 1).await;
        let released_at = store.job_lease_end(JOB).await.unwrap();
        if let Some((claimed_until, released_at)) = claimed_until.zip(released_at) {
            let earlier = claimed_until.duration_since(released_at);
            assert!(earlier > SignedDuration::from_mins(30), "it ends at its release, {earlier} earlier");
        }
    }

    async fn lease_ends_by_itself(database) {
        let store = open(database).await;
        assert!(claim(&store, 1, SignedDuration::from_millis(50)).await);
        eventually("another process takes over", async || claim(&store, 2, HOUR).await).await;
        assert_eq!(claim(&store, 1, HOUR).await, !store.is_shared(), "the first holder has lost it");
    }

    async fn one_of_many_concurrent_claims_succeeds_if_the_database_is_shared(database) {
        let (store, other) = (open(database).await, open(database).await);
        let mut claims = tokio::task::JoinSet::new();
        for holder in 0..20 {
            let store = if holder % 2 == 0 { store.clone() } else { other.clone() };
            claims.spawn(async move { claim(&store, holder, HOUR).await });
        }
        let claimed = claims.join_all().await.into_iter().filter(|claimed| *claimed).count();
        assert_eq!(claimed, if store.is_shared() { 1 } else { 20 });
    }
}
