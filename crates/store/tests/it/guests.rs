//! Guest alerts: taken over by an account, or purged.

use alerts::{AlertId, Status};
use jiff::SignedDuration;
use store::Store;
use store::model::{AccountId, AlertOwner, NewCode, PageRequest, StoredAlert};
use testkit::on_both_databases;

use crate::support::{account, add, add_account, alert_of, asked_price, at, now, open, uuid, with_accounts};

const ALL: PageRequest = PageRequest { page: 1, limit: 100 };

/// A guest's alert, created a number of seconds after the start.
fn of_guest(email: &str, number: u32, status: Status, seconds: i64) -> StoredAlert {
    let mut stored = alert_of(1, u128::from(number), asked_price(number), seconds);
    stored.alert.status = status;
    stored.owner = AlertOwner::Guest {
        email: email.to_owned(),
    };
    stored
}

async fn found(store: &Store, id: u128) -> Option<StoredAlert> {
    let found = store.commit((), move |(), unit| Box::pin(unit.lock_guest_alert(AlertId(uuid(id)))));
    found.await.unwrap()
}

async fn give(store: &Store, id: u128, account: u128) -> bool {
    let (alert, account) = (AlertId(uuid(id)), AccountId(uuid(account)));
    let given = store.commit((), move |(), unit| Box::pin(unit.assign_guest_alert(alert, account)));
    given.await.unwrap()
}

async fn active_of(store: &Store, email: &'static str) -> u32 {
    let counted = store.commit((), move |(), unit| Box::pin(unit.count_active_alerts_of_guest(email)));
    counted.await.unwrap()
}

fn code(number: u8, payload: &str, seconds: i64) -> NewCode {
    NewCode {
        purpose: "verify_alert",
        account: None,
        subject: "guest@example.com".to_owned(),
        payload: Some(payload.to_owned()),
        hash: [number; 32],
        created_at: at(seconds),
        expires_at: at(seconds + 1_000),
    }
}

on_both_databases! {
    async fn guest_alert_is_found_until_assigned(database) {
        let store = with_accounts(database, 1).await;
        let guest = of_guest("guest@example.com", 1, Status::Inactive, 0);
        add(&store, &guest).await;
        add(&store, &alert_of(1, 2, asked_price(2), 0)).await;
        assert_eq!(found(&store, 1).await.as_ref(), Some(&guest));
        assert_eq!(found(&store, 2).await, None);
        assert_eq!(found(&store, 3).await, None);
        assert!(give(&store, 1, 1).await);
        assert_eq!(found(&store, 1).await, None);
    }

    async fn one_of_many_concurrent_accounts_gets_guest_alert(database) {
        let store = with_accounts(database, 20).await;
        add(&store, &of_guest("guest@example.com", 1, Status::Active, 0)).await;
        let given = futures_util::future::join_all((1..=20).map(|account| give(&store, 1, account))).await;
        assert_eq!(given.iter().filter(|given| **given).count(), 1);
        let winner = given.iter().position(|given| *given).unwrap() + 1;
        let winner = AccountId(uuid(u128::try_from(winner).unwrap()));
        let stored = store.alert(winner, AlertId(uuid(1))).await.unwrap().unwrap();
        assert_eq!(stored.owner, AlertOwner::Account(winner));
        let history = store.history(winner, AlertId(uuid(1)), ALL).await.unwrap().unwrap();
        assert_eq!(history.total, 1);
    }

    async fn count_includes_only_active_alerts_of_the_guest(database) {
        let store = open(database).await;
        add_account(&store, account(1)).await;
        add(&store, &of_guest("guest@example.com", 1, Status::Active, 0)).await;
        add(&store, &of_guest("guest@example.com", 2, Status::Active, 0)).await;
        add(&store, &of_guest("guest@example.com", 3, Status::Inactive, 0)).await;
        add(&store, &of_guest("guest@example.com", 4, Status::Triggered, 0)).await;
        add(&store, &of_guest("other@example.com", 5, Status::Active, 0)).await;
        add(&store, &alert_of(1, 6, asked_price(6), 0)).await;
        assert_eq!(active_of(&store, "guest@example.com").await, 2);
        assert!(give(&store, 1, 1).await);
        assert_eq!(active_of(&store, "guest@example.com").await, 1);
        assert_eq!(active_of(&store, "GUEST@example.com\0").await, 0);
    }

    async fn only_unverified_guest_alerts_are_purged_with_history(database) {
        let store = with_accounts(database, 1).await;
        let mut kept = Vec::new();
        for (number, status, seconds) in [
            (1, Status::Inactive, 99),
            (2, Status::Inactive, 98),
            (3, Status::Inactive, 100),
            (4, Status::Active, 1),
            (5, Status::Triggered, 1),
        ] {
            let stored = of_guest("guest@example.com", number, status, seconds);
            add(&store, &stored).await;
            if number > 2 {
                kept.push(stored);
            }
        }
        let mut own = alert_of(1, 6, asked_price(6), 1);
        own.alert.status = Status::Inactive;
        add(&store, &own).await;
        kept.push(own);
        assert_eq!(store.purge_unverified_alerts(at(100), 1).await.unwrap(), 1);
        assert_eq!(store.purge_unverified_alerts(at(100), 10).await.unwrap(), 1);
        assert_eq!(store.purge_unverified_alerts(at(100), 10).await.unwrap(), 0);
        for stored in &kept {
            assert_eq!(now(&store, stored).await.as_ref(), Some(stored));
        }
        for number in [1, 2] {
            let gone = of_guest("guest@example.com", number, Status::Inactive, 0);
            assert_eq!(now(&store, &gone).await, None);
        }
        let (changed, _) = store.changed_since(0, 100).await.unwrap();
        let mut changed: Vec<u128> = changed.iter().map(|changed| changed.id.0.as_u128()).collect();
        changed.sort_unstable();
        assert_eq!(changed, [3, 4, 5, 6], "the history of what is gone is gone, too");
    }

    async fn codes_are_counted_and_revoked_by_payload(database) {
        let store = open(database).await;
        let counted = store.commit((), move |(), unit| Box::pin(async move {
            for (number, payload, seconds) in [(1, "a", 0), (2, "a", 10), (3, "b", 10)] {
                unit.insert_code(&code(number, payload, seconds)).await?;
            }
            let guest = "guest@example.com";
            let mut counts = Vec::new();
            for (payload, since) in [("a", -1), ("a", 0), ("b", 0), ("c", 0), ("a", 10)] {
                counts.push(unit.count_codes_with_payload("verify_alert", guest, payload, at(since)).await?);
            }
            counts.push(unit.count_codes_with_payload("sign_in", guest, "a", at(-1)).await?);
            counts.push(unit.count_codes_with_payload("verify_alert", "other@example.com", "a", at(-1)).await?);
            counts.push(unit.count_codes_for_purpose("verify_alert", at(-1)).await?);
            counts.push(unit.count_codes_for_purpose("verify_alert", at(0)).await?);
            counts.push(unit.revoke_codes_with_payload("verify_alert", guest, "a", at(20)).await?);
            counts.push(unit.revoke_codes_with_payload("verify_alert", guest, "a", at(20)).await?);
            Ok(counts)
        }));
        assert_eq!(counted.await.unwrap(), [2, 1, 1, 0, 0, 0, 0, 3, 2, 2, 0]);
        let used = store.commit((), move |(), unit| Box::pin(async move {
            let mut used = Vec::new();
            for number in 1..=3 {
                let later = at(30) + SignedDuration::from_secs(1);
                used.push(unit.use_code([number; 32], later).await?.and_then(|used| used.payload));
            }
            Ok(used)
        }));
        assert_eq!(used.await.unwrap(), [None, None, Some("b".to_owned())]);
    }
}
