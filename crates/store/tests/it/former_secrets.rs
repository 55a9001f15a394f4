//! Webhook secrets that rotations have replaced.

use jiff::Timestamp;
use store::Store;
use store::model::{FormerSecret, Webhook};
use testkit::on_both_databases;

use crate::deliveries::{claim, fired};
use crate::support::at;

fn former_secret(number: i64, expires_at: i64) -> FormerSecret {
    FormerSecret {
        secret: vec![u8::try_from(number).unwrap()],
        expires_at: at(expires_at),
    }
}

async fn keep(store: &Store, webhook: &Webhook, former: FormerSecret, max_kept: usize, now: Timestamp) {
    let id = webhook.id;
    let kept = store.commit(former, move |former, unit| {
        Box::pin(unit.insert_former_secret(id, former, max_kept, now))
    });
    kept.await.unwrap();
}

on_both_databases! {
    async fn claimed_delivery_contains_newest_unexpired_former_secrets(database) {
        let (store, hook) = fired(database, 1).await;
        for number in 1..=5_i64 {
            let former = former_secret(number, 1_000 * number);
            keep(&store, &hook, former, 4, at(0)).await;
        }
        let claimed = claim(&store, 100, 1, 1).await.remove(0);
        let expected: Vec<_> = [5, 4, 3, 2].into_iter().map(|number| former_secret(number, 1_000 * number)).collect();
        assert_eq!(claimed.secrets.former, expected);
        // By the time of the next rotation, two secrets have expired, one of them at that very instant.
        keep(&store, &hook, former_secret(6, 6_000), 4, at(3_000)).await;
        let claimed = claim(&store, 200, 2, 1).await.remove(0);
        let numbers: Vec<_> = claimed.secrets.former.iter().map(|former| former.secret[0]).collect();
        assert_eq!(numbers, [6, 5, 4]);
    }
}
