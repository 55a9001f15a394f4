//! Sessions: refresh tokens are exchanged once, and ended sessions remain ended.

use futures_util::future::join_all;
use store::Store;
use store::model::{AccountId, RefreshOutcome, SessionId, UserSession};
use testkit::on_both_databases;

use crate::support::{at, open, uuid, with_accounts};

const DAY_S: i64 = 24 * 3600;

/// A session of account 1 that expires after a day.
fn session(number: u128) -> UserSession {
    UserSession {
        id: SessionId(uuid(number)),
        account: AccountId(uuid(1)),
        created_at: at(0),
        last_seen_at: at(0),
        expires_at: at(DAY_S),
        ended_at: None,
        client: None,
    }
}

/// Inserts a session whose cookie hash and first refresh token hash come from its number.
async fn begin(store: &Store, number: u8) -> UserSession {
    let session = session(number.into());
    let begun = store.commit((), move |(), unit| {
        Box::pin(async move {
            unit.insert_session(&session, Some([number; 32])).await?;
            unit.insert_refresh_token(session.id, [number; 32], at(0)).await
        })
    });
    assert!(begun.await.unwrap());
    session
}

async fn refresh(store: &Store, hash: u8, seconds: i64) -> RefreshOutcome {
    store
        .commit((), move |(), unit| {
            Box::pin(unit.use_refresh_token([hash; 32], at(seconds)))
        })
        .await
        .unwrap()
}

async fn end_all(store: &Store, but: Option<SessionId>) -> u64 {
    store
        .commit((), move |(), unit| {
            Box::pin(unit.end_sessions(AccountId(uuid(1)), but, at(50)))
        })
        .await
        .unwrap()
}

async fn is_live(store: &Store, session: UserSession, seconds: i64) -> bool {
    let (found, account) = store.session(session.id).await.unwrap().unwrap();
    assert_eq!(account.id, session.account);
    found.is_live(at(seconds))
}

on_both_databases! {
    async fn session_is_found_by_cookie_until_it_expires(database) {
        let store = with_accounts(database, 1).await;
        let session = begin(&store, 7).await;
        let (found, account) = store.session_by_cookie([7; 32]).await.unwrap().unwrap();
        assert_eq!((found, account.id), (session, session.account));
        assert!(store.session_by_cookie([8; 32]).await.unwrap().is_none());
        assert!(is_live(&store, session, DAY_S - 1).await && !is_live(&store, session, DAY_S).await);
        assert!(matches!(refresh(&store, 7, DAY_S).await, RefreshOutcome::Unknown), "the session is over");
    }

    async fn one_of_fifty_concurrent_exchanges_succeeds_and_session_ends(database) {
        let processes = [with_accounts(database, 1).await, open(database).await];
        let session = begin(&processes[0], 7).await;
        let exchanges = (0..50).map(|number| refresh(&processes[number % 2], 7, 5));
        let refreshed = join_all(exchanges).await;
        let good = refreshed.iter().filter(|refreshed| matches!(refreshed, RefreshOutcome::Valid(_)));
        let reused = refreshed.iter().filter(|refreshed| matches!(refreshed, RefreshOutcome::Reused(_)));
        assert_eq!((good.count(), reused.count()), (1, 49));
        assert!(!is_live(&processes[0], session, 5).await);
    }

    async fn unknown_token_ends_nothing(database) {
        let store = with_accounts(database, 1).await;
        let session = begin(&store, 7).await;
        assert!(matches!(refresh(&store, 9, 5).await, RefreshOutcome::Unknown));
        assert!(is_live(&store, session, 5).await);
    }

    async fn all_sessions_end_except_the_given_one(database) {
        let store = with_accounts(database, 1).await;
        let (spared, one, other) = (begin(&store, 1).await, begin(&store, 2).await, begin(&store, 3).await);
        assert_eq!(end_all(&store, Some(spared.id)).await, 2);
        assert!(is_live(&store, spared, 60).await);
        assert!(!is_live(&store, one, 60).await && !is_live(&store, other, 60).await);
        assert_eq!(end_all(&store, None).await, 1);
        assert!(matches!(refresh(&store, 1, 60).await, RefreshOutcome::Unknown));
    }

    async fn touching_never_revives_or_shortens_session(database) {
        let store = with_accounts(database, 1).await;
        let session = begin(&store, 1).await;
        store.touch_session(session.id, at(100), at(2 * DAY_S), None).await.unwrap();
        store.touch_session(session.id, at(50), at(DAY_S), None).await.unwrap();
        let (found, _) = store.session(session.id).await.unwrap().unwrap();
        assert_eq!((found.last_seen_at, found.expires_at), (at(100), at(2 * DAY_S)));
        assert_eq!(end_all(&store, None).await, 1);
        store.touch_session(session.id, at(200), at(3 * DAY_S), None).await.unwrap();
        assert!(!is_live(&store, session, 200).await);
    }

    async fn only_long_expired_rows_are_purged(database) {
        let store = with_accounts(database, 1).await;
        let (old, young) = (begin(&store, 1).await, begin(&store, 2).await);
        store.touch_session(young.id, at(100), at(9 * DAY_S), None).await.unwrap();
        assert_eq!(store.purge_sessions_and_codes(at(DAY_S), 100).await.unwrap(), 0);
        assert_eq!(store.purge_sessions_and_codes(at(DAY_S + 1), 100).await.unwrap(), 1);
        assert!(store.session(old.id).await.unwrap().is_none());
        assert!(matches!(refresh(&store, 1, 5).await, RefreshOutcome::Unknown), "its tokens went with it");
        assert!(matches!(refresh(&store, 2, 5).await, RefreshOutcome::Valid(_)));
    }
}
