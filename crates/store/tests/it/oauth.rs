//! OAuth: codes and refresh tokens are exchanged once, and ended grants remain ended.

mod clients;

use futures_util::future::join_all;
use jiff::Timestamp;
use store::Store;
use store::model::{
    AccountId, AuthorizationCode, Grant, GrantId, NewTokens, OAuthClientId, PresentedToken, RegisteredClient,
};
use testkit::on_both_databases;

use crate::support::{account, at, open, uuid, with_accounts};

const HOUR_S: i64 = 3600;
const MAX_KEPT: u32 = 3;

fn grant(number: u128, made_at: Timestamp) -> Grant {
    Grant {
        id: GrantId(uuid(number)),
        account: AccountId(uuid(1)),
        client_id: "https://app.example.com/client.json".to_owned(),
        client_name: "App".to_owned(),
        scopes: vec!["alerts:read".to_owned(), "alerts:write".to_owned()],
        created_at: made_at,
        last_used_at: None,
        expires_at: at(24 * HOUR_S),
        ended_at: None,
    }
}

/// Inserts a grant with a code and tokens whose hashes come from its number: the access token from `number`, the
/// refresh token from `number + 100`.
async fn allow(store: &Store, number: u8) -> Grant {
    let grant = grant(number.into(), at(i64::from(number)));
    let done = store.commit(grant.clone(), move |grant, unit| {
        Box::pin(async move {
            unit.insert_grant(grant, MAX_KEPT).await?;
            let code = AuthorizationCode {
                hash: [number; 32],
                redirect_uri: "https://app.example.com/back".to_owned(),
                challenge: "challenge".to_owned(),
                expires_at: at(60),
            };
            let tokens = NewTokens {
                access: [number; 32],
                scopes: vec!["alerts:read".to_owned()],
                expires_at: at(HOUR_S),
                refresh: [number + 100; 32],
            };
            Ok(unit.insert_authorization_code(grant.id, &code).await?
                && unit.insert_grant_tokens(grant.id, &tokens, at(0)).await?)
        })
    });
    assert!(done.await.unwrap());
    grant
}

async fn insert(store: &Store, grant: Grant) {
    store
        .commit(grant, move |grant, unit| Box::pin(unit.insert_grant(grant, MAX_KEPT)))
        .await
        .unwrap();
}

/// Inserts further tokens of a grant, both with the same hash.
async fn renew(store: &Store, grant: u128, hash: u8, seconds: i64) {
    let done = store.commit((), move |(), unit| {
        Box::pin(async move {
            let tokens = NewTokens {
                access: [hash; 32],
                scopes: vec!["alerts:read".to_owned()],
                expires_at: at(HOUR_S),
                refresh: [hash; 32],
            };
            unit.insert_grant_tokens(GrantId(uuid(grant)), &tokens, at(seconds))
                .await
        })
    });
    assert!(done.await.unwrap());
}

async fn live(store: &Store, seconds: i64) -> Vec<u128> {
    let live = store.grants(AccountId(uuid(1)), at(seconds)).await.unwrap();
    live.into_iter().map(|grant| grant.id.0.as_u128()).collect()
}

async fn use_code(store: &Store, hash: u8) -> bool {
    store
        .commit((), move |(), unit| {
            Box::pin(unit.use_authorization_code([hash; 32], at(5)))
        })
        .await
        .unwrap()
}

async fn use_refresh(store: &Store, hash: u8) -> bool {
    store
        .commit((), move |(), unit| {
            Box::pin(unit.use_grant_refresh_token([hash; 32], at(5)))
        })
        .await
        .unwrap()
}

async fn end_all(store: &Store) -> u64 {
    store
        .commit((), move |(), unit| {
            Box::pin(unit.end_grants(AccountId(uuid(1)), at(50)))
        })
        .await
        .unwrap()
}

async fn shown(store: &Store, hash: u8) -> PresentedToken {
    store.grant_access_token([hash; 32]).await.unwrap().unwrap()
}

async fn register(store: &Store, number: u128, seconds: i64) {
    let client = client(number, seconds);
    store
        .commit(client, move |client, unit| {
            Box::pin(unit.insert_oauth_client(client, MAX_KEPT))
        })
        .await
        .unwrap();
}

fn client(number: u128, seconds: i64) -> RegisteredClient {
    RegisteredClient {
        id: OAuthClientId(uuid(number)),
        name: "App \u{1f514}".to_owned(),
        redirect_uris: vec!["http://127.0.0.1/back".to_owned(), "com.example.app:/back".to_owned()],
        created_at: at(seconds),
    }
}

async fn touch(store: &Store, number: u128, seconds: i64) {
    store
        .commit((), move |(), unit| {
            Box::pin(unit.touch_oauth_client(OAuthClientId(uuid(number)), at(seconds)))
        })
        .await
        .unwrap();
}

async fn is_registered(store: &Store, number: u128) -> bool {
    store.oauth_client(OAuthClientId(uuid(number))).await.unwrap().is_some()
}

on_both_databases! {
    async fn access_token_returns_its_grant_and_account(database) {
        let store = with_accounts(database, 1).await;
        let grant = allow(&store, 7).await;
        let shown = shown(&store, 7).await;
        assert_eq!((&shown.grant, &shown.account), (&grant, &account(1)));
        assert_eq!((shown.scopes, shown.expires_at), (vec!["alerts:read".to_owned()], at(HOUR_S)));
        assert!(store.grant_access_token([8; 32]).await.unwrap().is_none());
        assert!(store.grant_access_token([107; 32]).await.unwrap().is_none(), "a refresh token is no access token");
        assert_eq!(store.grants(AccountId(uuid(1)), at(10)).await.unwrap(), [grant]);
        assert_eq!(store.grants(AccountId(uuid(2)), at(10)).await.unwrap(), []);
    }

    async fn authorization_code_is_read_with_its_bindings(database) {
        let store = with_accounts(database, 1).await;
        let grant = allow(&store, 7).await;
        let read = |hash: u8| store.commit((), move |(), unit| Box::pin(unit.authorization_code([hash; 32])));
        let found = read(7).await.unwrap().unwrap();
        assert_eq!(found.grant, grant);
        assert_eq!(found.code.redirect_uri, "https://app.example.com/back");
        assert_eq!((found.code.challenge.as_str(), found.code.expires_at, found.is_used), ("challenge", at(60), false));
        assert!(use_code(&store, 7).await);
        assert!(read(7).await.unwrap().unwrap().is_used);
        assert!(read(8).await.unwrap().is_none());
    }

    async fn one_of_fifty_concurrent_exchanges_is_first(database) {
        let processes = [with_accounts(database, 1).await, open(database).await];
        allow(&processes[0], 7).await;
        let codes = join_all((0..50).map(|number| use_code(&processes[number % 2], 7))).await;
        assert_eq!(codes.into_iter().filter(|is_first| *is_first).count(), 1);
        let tokens = join_all((0..50).map(|number| use_refresh(&processes[number % 2], 107))).await;
        assert_eq!(tokens.into_iter().filter(|is_first| *is_first).count(), 1);
        assert!(!use_refresh(&processes[0], 7).await, "an access token is no refresh token");
    }

    async fn ended_grant_stays_ended(database) {
        let store = with_accounts(database, 1).await;
        let (one, _) = (allow(&store, 1).await, allow(&store, 2).await);
        let end = |account: u128, id: GrantId| store.commit((), move |(), unit| Box::pin(unit.end_grant(AccountId(uuid(account)), id, at(9))));
        assert!(!end(2, one.id).await.unwrap(), "it belongs to another account");
        assert!(end(1, one.id).await.unwrap());
        assert!(!end(1, one.id).await.unwrap());
        assert!(shown(&store, 2).await.grant.is_live(at(10)));
        store.commit((), move |(), unit| Box::pin(unit.renew_grant(one.id, at(20), at(99 * HOUR_S)))).await.unwrap();
        assert_eq!(shown(&store, 1).await.grant.ended_at, Some(at(9)));
        assert_eq!(shown(&store, 1).await.grant.expires_at, at(24 * HOUR_S));
        assert_eq!(end_all(&store).await, 1);
        assert!(!shown(&store, 2).await.grant.is_live(at(60)));
    }

    async fn excess_grant_ends_least_recently_used_one(database) {
        let store = with_accounts(database, 1).await;
        for number in 1..=3 {
            allow(&store, number).await;
        }
        store.touch_grant(GrantId(uuid(1)), at(100)).await.unwrap();
        allow(&store, 4).await;
        assert_eq!(live(&store, 101).await, [1, 3, 4]);
    }

    async fn expired_grant_does_not_count_toward_limit(database) {
        let store = with_accounts(database, 1).await;
        for number in 1..=2 {
            allow(&store, number).await;
        }
        // Newer than all others, and expired: its code was never exchanged.
        insert(&store, Grant { expires_at: at(60), ..grant(3, at(50)) }).await;
        insert(&store, grant(4, at(60))).await;
        assert_eq!(live(&store, 60).await, [1, 2, 4]);
    }

    async fn live_grants_are_listed_and_all_grants_are_paged(database) {
        let store = with_accounts(database, 1).await;
        for (number, ended_at, expires_at) in [(1, None, 100), (2, Some(at(5)), 100), (3, None, 9), (4, None, 10), (5, None, 100)] {
            let grant = Grant { ended_at, expires_at: at(expires_at), ..grant(number, at(i64::try_from(number).unwrap())) };
            store.commit(grant, |grant, unit| Box::pin(unit.insert_grant(grant, 100))).await.unwrap();
        }
        assert_eq!(live(&store, 9).await, [1, 4, 5]);
        assert_eq!(live(&store, 10).await, [1, 5]);
        let (mut place, mut all) = (0, Vec::new());
        for expected in [2, 2, 1, 0] {
            let (page, next) = store.grants_after(AccountId(uuid(1)), place, 2).await.unwrap();
            assert_eq!(page.len(), expected);
            all.extend(page.into_iter().map(|grant| grant.id.0.as_u128()));
            place = next;
        }
        assert_eq!(all, [1, 2, 3, 4, 5]);
        let (others, _) = store.grants_after(AccountId(uuid(2)), 0, 2).await.unwrap();
        assert_eq!(others, []);
    }

    async fn nth_newest_creation_times_are_returned(database) {
        let store = with_accounts(database, 1).await;
        for number in 1..=3 {
            allow(&store, number).await;
        }
        for (offset, expected) in [(0, Some(at(3))), (2, Some(at(1))), (3, None)] {
            let made = store.commit((), move |(), unit| Box::pin(unit.nth_newest_grant_created_at(AccountId(uuid(1)), offset)));
            assert_eq!(made.await.unwrap(), expected);
        }
        renew(&store, 1, 50, 20).await;
        for (offset, expected) in [(0, Some(at(20))), (1, Some(at(0))), (2, None)] {
            let made = store.commit((), move |(), unit| Box::pin(unit.nth_newest_refresh_token_created_at(GrantId(uuid(1)), offset)));
            assert_eq!(made.await.unwrap(), expected);
        }
    }

    async fn grants_without_tokens_are_purged_early(database) {
        let store = with_accounts(database, 1).await;
        for number in [1, 2] {
            insert(&store, Grant { expires_at: at(60), ..grant(number, at(0)) }).await;
        }
        store.touch_grant(GrantId(uuid(2)), at(30)).await.unwrap();
        assert_eq!(store.purge_grants(at(0), at(60), 100).await.unwrap(), 0);
        assert_eq!(store.purge_grants(at(0), at(61), 100).await.unwrap(), 1);
        let (left, _) = store.grants_after(AccountId(uuid(1)), 0, 9).await.unwrap();
        assert_eq!(left.len(), 1, "the other one was used");
    }

    async fn used_refresh_tokens_are_kept_while_grant_is_live(database) {
        let store = with_accounts(database, 1).await;
        allow(&store, 1).await;
        renew(&store, 1, 50, 20).await;
        assert!(use_refresh(&store, 101).await, "at 5");
        assert_eq!(store.purge_grants(at(6), at(0), 100).await.unwrap(), 0);
        let of_used = store.commit((), move |(), unit| Box::pin(unit.grant_of_refresh_token([101; 32])));
        assert!(of_used.await.unwrap().is_some(), "presenting it again ends the grant");
        assert!(use_refresh(&store, 50).await);
    }

    async fn purge_limits_tokens_per_call(database) {
        let store = with_accounts(database, 1).await;
        allow(&store, 1).await;
        for number in 2..=5 {
            renew(&store, 1, number, 20).await;
        }
        assert_eq!(end_all(&store).await, 1);
        let mut removed = Vec::new();
        loop {
            match store.purge_grants(at(51), at(0), 2).await.unwrap() {
                0 => break,
                rows => removed.push(rows),
            }
        }
        // A code, five tokens of each kind, and the grant.
        assert_eq!(removed, [5, 4, 3]);
        assert_eq!(store.grants_after(AccountId(uuid(1)), 0, 9).await.unwrap(), (vec![], 0));
    }

    async fn only_long_expired_rows_are_purged(database) {
        let store = with_accounts(database, 1).await;
        let (_, young) = (allow(&store, 1).await, allow(&store, 2).await);
        let forget = |before| store.purge_grants(at(before), at(before), 100);
        assert_eq!(forget(HOUR_S).await.unwrap(), 0);
        store.commit((), move |(), unit| Box::pin(unit.renew_grant(young.id, at(20), at(99 * HOUR_S)))).await.unwrap();
        assert_eq!(forget(HOUR_S + 1).await.unwrap(), 2, "both access tokens");
        assert!(store.grant_access_token([2; 32]).await.unwrap().is_none());
        assert_eq!(forget(24 * HOUR_S + 1).await.unwrap(), 3, "a code, a refresh token and the grant");
        assert!(!use_code(&store, 1).await && !use_refresh(&store, 101).await, "they are deleted with it");
        assert!(use_code(&store, 2).await);
        assert_eq!(end_all(&store).await, 1);
        assert_eq!(forget(50).await.unwrap(), 0);
        assert_eq!(forget(51).await.unwrap(), 3);
        assert!(!use_refresh(&store, 102).await);
    }

    async fn erasing_account_deletes_its_grants(database) {
        let store = with_accounts(database, 1).await;
        allow(&store, 1).await;
        store.commit(account(1), |account, unit| Box::pin(unit.erase_account_data(account, at(5)))).await.unwrap();
        assert_eq!(store.grants_after(AccountId(uuid(1)), 0, 9).await.unwrap(), (vec![], 0));
        assert!(store.grant_access_token([1; 32]).await.unwrap().is_none());
        assert!(!use_code(&store, 1).await && !use_refresh(&store, 101).await);
    }
}
