//! Sealed values and the key check value.

use store::model::{IdempotencyKey, NewIdempotencyClaim};
use store::{KeyRotation, KeyRotationError, ResealOutcome, SealedLocation, SealedValue, StoreError, StoreOptions};
use testkit::Database;

use crate::support::{at, open, with_accounts};

async fn values(store: &store::Store) -> Vec<SealedValue> {
    store
        .commit((), move |(), unit| {
            Box::pin(async move {
                let mut values = Vec::new();
                unit.for_each_sealed_value(&mut |value| values.push(value)).await?;
                Ok(values)
            })
        })
        .await
        .unwrap()
}

/// Stores responses to a number of requests.
async fn with_answers(database: &Database, requests: u8) -> store::Store {
    let store = with_accounts(database, 1).await;
    for number in 0..requests {
        store
            .commit((), move |(), unit| {
                Box::pin(async move {
                    let new = NewIdempotencyClaim {
                        key: IdempotencyKey {
                            requester: store::model::RequesterId(crate::support::uuid(1)),
                            key_hash: [number; 32],
                            body_hash: [1; 32],
                        },
                        process: None,
                        now: at(1),
                        abandoned: at(0),
                        forgotten: at(0),
                    };
                    let claimed = unit.claim_idempotency_key(&new).await?;
                    let store::model::IdempotencyClaimResult::First(claim) = claimed else {
                        panic!("{claimed:?}")
                    };
                    let answer = store::model::StoredResponse {
                        status: 200,
                        body: vec![number; 3],
                    };
                    unit.store_response(&claim, &answer).await?;
                    Ok(())
                })
            })
            .await
            .unwrap();
    }
    store
}

testkit::on_both_databases! {
    async fn key_check_value_is_inserted_once(database) {
        let store = open(database).await;
        assert_eq!(store.key_check().await.unwrap(), None);
        for (sealed, is_first) in [(b"first", true), (b"other", false)] {
            let making = store.commit((), move |(), unit| Box::pin(unit.insert_key_check(sealed, at(0))));
            assert_eq!(making.await.unwrap(), is_first);
        }
        assert_eq!(store.key_check().await.unwrap().as_deref(), Some(&b"first"[..]));
    }

    async fn reseals_all_values_or_none(database) {
        let store = with_answers(database, 3).await;
        store.close().await;
        let options = StoreOptions::new(database.url());
        let mut rekeying = KeyRotation::begin::<&str>(&options).await.unwrap();
        let mut left = 2;
        let mut refuse_second = |value: &SealedValue| {
            left -= 1;
            if left == 0 { Err("a bad one") } else { Ok(ResealOutcome::Sealed([&value.sealed[..], b"!"].concat())) }
        };
        let refused = rekeying.reseal(b"check", at(2), &mut refuse_second).await;
        assert!(matches!(refused, Err(KeyRotationError::Refused("a bad one"))));
        rekeying.close().await;
        let store = open(database).await;
        assert!(values(&store).await.iter().all(|value| value.sealed.len() == 3));
        assert_eq!(store.key_check().await.unwrap(), None);
        store.close().await;

        let mut rekeying = KeyRotation::begin::<&str>(&options).await.unwrap();
        let mut anew = |value: &SealedValue| Ok::<_, &str>(ResealOutcome::Sealed([&value.sealed[..], b"!"].concat()));
        rekeying.reseal(b"check", at(2), &mut anew).await.unwrap();
        rekeying.close().await;
        let store = open(database).await;
        let found = values(&store).await;
        assert_eq!(found.len(), 3);
        for (number, value) in (0_u8..).zip(&found) {
            assert!(matches!(value.location, SealedLocation::StoredResponse(request) if request.key_hash == [number; 32]));
            assert_eq!(value.sealed, [number, number, number, b'!']);
        }
        assert_eq!(store.key_check().await.unwrap().as_deref(), Some(&b"check"[..]));
    }

    async fn key_rotation_requires_and_holds_exclusive_access(database) {
        let store = open(database).await;
        let options = StoreOptions::new(database.url());
        let in_use = KeyRotation::begin::<&str>(&options).await;
        assert!(matches!(in_use, Err(KeyRotationError::InUse)), "{in_use:?}");
        store.close().await;
        let rekeying = KeyRotation::begin::<&str>(&options).await.unwrap();
        if database.is_postgres() {
            let refused = store::Store::open(options.clone()).await.unwrap_err();
            assert!(matches!(&refused, StoreError::Open { .. }), "{refused}");
            assert!(refused.to_string().contains("rotate-key"), "{refused}");
        }
        drop(rekeying);
        open(database).await.close().await;
    }
}

/// Every column of bytes, and whether it is sealed.
#[test]
fn every_sealed_column_is_known() {
    const SEALED: [&str; 7] = [
        "messages.content",
        "notification_channels.config",
        "outbox.content",
        "repeatable_requests.body",
        "web_push_keys.private_key",
        "webhook_former_secrets.secret",
        "webhooks.secret",
    ];
    testkit::run(async {
        let database = Database::sqlite();
        open(&database).await.close().await;
        let pool = sqlx::SqlitePool::connect(database.url()).await.unwrap();
        let columns: Vec<(String, String)> = sqlx::query_as(
            "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
             WHERE m.type = 'table' AND c.type = 'BLOB' ORDER BY 1, 2",
        )
        .fetch_all(&pool)
        .await
        .unwrap();
        // Ids, hashes and the key check value are not sealed.
        let is_open = |table: &str, column: &str| {
            table == "_sqlx_migrations"
                || column == "id"
                || column.ends_with("_id")
                || column.ends_with("hash")
                || table == "key_check"
        };
        let sealed: Vec<String> = columns
            .iter()
            .filter(|(table, column)| !is_open(table, column))
            .map(|(table, column)| format!("{table}.{column}"))
            .collect();
        assert_eq!(sealed, SEALED, "add a new sealed column to crates/store/src/sealed");
    });
}
