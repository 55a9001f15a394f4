//! Clients that registered themselves.

use super::*;

on_both_databases! {
    async fn registered_client_is_read_back_unchanged(database) {
        let store = open(database).await;
        register(&store, 7, 5).await;
        let found = store.oauth_client(OAuthClientId(uuid(7))).await.unwrap();
        assert_eq!(found, Some(client(7, 5)));
        assert!(!is_registered(&store, 8).await);
    }

    async fn excess_client_evicts_oldest_unused_one(database) {
        let store = open(database).await;
        for number in 1..=3 {
            register(&store, number, i64::try_from(number).unwrap()).await;
        }
        touch(&store, 1, 10).await;
        register(&store, 4, 11).await;
        assert!(is_registered(&store, 1).await && !is_registered(&store, 2).await);
        assert!(is_registered(&store, 3).await && is_registered(&store, 4).await);
    }

    async fn excess_client_evicts_one_without_live_grant_if_all_were_used(database) {
        let store = with_accounts(database, 1).await;
        for number in 1..=3 {
            register(&store, number, 1).await;
            touch(&store, number, 10 + i64::try_from(number).unwrap()).await;
        }
        // The first two have live grants; the grant of the third has ended.
        for (number, ended_at) in [(1, None), (2, None), (3, Some(at(20)))] {
            insert(&store, Grant { client_id: uuid(number).to_string(), ended_at, ..grant(number, at(15)) }).await;
        }
        register(&store, 4, 30).await;
        assert!(!is_registered(&store, 3).await, "it has no live grant");
        touch(&store, 4, 31).await;
        register(&store, 5, 32).await;
        assert!(!is_registered(&store, 4).await, "it has no live grant");
        touch(&store, 5, 33).await;
        // The grants of the first two have expired too.
        register(&store, 6, 24 * HOUR_S).await;
        assert!(!is_registered(&store, 1).await && is_registered(&store, 2).await && is_registered(&store, 5).await);
    }

    async fn excess_client_evicts_least_recently_used_if_all_have_live_grants(database) {
        let store = with_accounts(database, 1).await;
        for (number, used) in [(1, 12), (2, 10), (3, 11)] {
            register(&store, number, 1).await;
            touch(&store, number, used).await;
            insert(&store, Grant { client_id: uuid(number).to_string(), ..grant(number, at(15)) }).await;
        }
        register(&store, 4, 30).await;
        assert!(is_registered(&store, 1).await && !is_registered(&store, 2).await && is_registered(&store, 3).await);
        assert_eq!(end_all(&store).await, 3);
    }

    async fn unused_clients_are_purged(database) {
        let store = open(database).await;
        for number in 1..=3 {
            register(&store, number, i64::try_from(number).unwrap()).await;
        }
        touch(&store, 3, 100).await;
        assert_eq!(store.purge_oauth_clients(at(2), at(100), 10).await.unwrap(), 1);
        assert!(!is_registered(&store, 1).await && is_registered(&store, 2).await && is_registered(&store, 3).await);
        assert_eq!(store.purge_oauth_clients(at(0), at(101), 10).await.unwrap(), 1);
        assert!(!is_registered(&store, 3).await);
    }
}
