//! Accounts and their API keys.

use alerts::Plan;
use store::model::{Account, AccountId, ApiKey, ApiKeyId};
use testkit::on_both_databases;

use crate::support::{account, at, open, uuid, with_accounts};

fn key(number: u128) -> ApiKey {
    ApiKey {
        id: ApiKeyId(uuid(number)),
        account: AccountId(uuid(1)),
        name: format!("key {number} ✓"),
        prefix: "sk_0123".to_owned(),
        hash: [u8::try_from(number).unwrap(); 32],
        scopes: vec!["alerts:read".to_owned(), "alerts:write".to_owned()],
        created_at: at(i64::try_from(number).unwrap()),
        last_used_at: None,
    }
}

on_both_databases! {
    async fn inserted_account_is_read_back_unchanged(database) {
        let store = with_accounts(database, 2).await;
        assert_eq!(store.account(AccountId(uuid(1))).await.unwrap(), Some(account(1)));
        assert_eq!(store.account_by_email("2@example.com").await.unwrap(), Some(account(2)));
        assert_eq!(store.account_by_email("3@example.com").await.unwrap(), None);
        assert_eq!(store.account_by_email("\0").await.unwrap(), None);
    }

    async fn email_address_is_unique(database) {
        let store = with_accounts(database, 1).await;
        let second = Account { id: AccountId(uuid(2)), ..account(1) };
        let added = store.commit(second, |second, unit| Box::pin(unit.insert_account(second)));
        assert!(!added.await.unwrap());
        assert_eq!(store.account(AccountId(uuid(2))).await.unwrap(), None);
    }

    async fn account_is_updated_under_its_lock(database) {
        let store = with_accounts(database, 1).await;
        let changed = store.commit((), move |(), unit| Box::pin(async move {
            let mut account = unit.lock_account(AccountId(uuid(1))).await?.unwrap();
            account.plan = Plan::EarlyBird;
            account.password_hash = None;
            unit.update_account(&account).await
        }));
        assert!(changed.await.unwrap());
        let now = Account { plan: Plan::EarlyBird, password_hash: None, ..account(1) };
        assert_eq!(store.account(AccountId(uuid(1))).await.unwrap(), Some(now));
        let missing = store.commit((), move |(), unit| Box::pin(async move {
            assert_eq!(unit.lock_account(AccountId(uuid(9))).await?, None);
            unit.update_account(&account(9)).await
        }));
        assert!(!missing.await.unwrap());
    }

    async fn api_keys_are_found_by_hash_and_listed_oldest_first(database) {
        let store = with_accounts(database, 1).await;
        store.commit((), move |(), unit| Box::pin(async move {
            unit.insert_api_key(&key(2)).await?;
            unit.insert_api_key(&key(1)).await?;
            assert_eq!(unit.count_api_keys(AccountId(uuid(1))).await?, 2);
            Ok(())
        })).await.unwrap();
        assert_eq!(store.api_keys(AccountId(uuid(1))).await.unwrap(), [key(1), key(2)]);
        assert_eq!(store.api_key_by_hash([2; 32]).await.unwrap(), Some((key(2), account(1))));
        assert_eq!(store.api_key_by_hash([3; 32]).await.unwrap(), None);
    }

    async fn api_key_is_deleted_by_its_owner_only(database) {
        let store = with_accounts(database, 2).await;
        let deleted = store.commit((), move |(), unit| Box::pin(async move {
            unit.insert_api_key(&key(1)).await?;
            let by_other = unit.delete_api_key(AccountId(uuid(2)), ApiKeyId(uuid(1))).await?;
            let by_owner = unit.delete_api_key(AccountId(uuid(1)), ApiKeyId(uuid(1))).await?;
            Ok((by_other, by_owner))
        }));
        assert_eq!(deleted.await.unwrap(), (false, true));
        assert_eq!(store.api_keys(AccountId(uuid(1))).await.unwrap(), []);
    }

    async fn last_use_of_api_key_never_goes_back(database) {
        let store = with_accounts(database, 1).await;
        store.commit(key(1), |key, unit| Box::pin(unit.insert_api_key(key))).await.unwrap();
        store.touch_api_keys(&[(ApiKeyId(uuid(1)), at(50)), (ApiKeyId(uuid(7)), at(50))]).await.unwrap();
        store.touch_api_keys(&[(ApiKeyId(uuid(1)), at(40))]).await.unwrap();
        let used = store.api_keys(AccountId(uuid(1))).await.unwrap()[0].last_used_at;
        assert_eq!(used, Some(at(50)));
    }

    async fn written_data_survives_reopening(database) {
        with_accounts(database, 1).await.close().await;
        let store = open(database).await;
        assert_eq!(store.account(AccountId(uuid(1))).await.unwrap(), Some(account(1)));
        store.ping().await.unwrap();
    }
}
