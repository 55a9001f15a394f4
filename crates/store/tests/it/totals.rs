//! The numbers of alerts that are kept beside the alerts, compared with a count.

use alerts::transition::{ChangedAlert, HistoryAction, HistoryStatus, StatusChange, Transition};
use alerts::{Alert, AlertId, AlertScope, Note, Status};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use sqlx::{Connection, PgConnection, SqliteConnection};
use store::Store;
use store::model::{
    AccountId, AlertFilter, AlertOwner, AlertRevision, AlertSort, AlertSortField, PageRequest, ScopeRole, StoredAlert,
    UndoId,
};
use testkit::{Database, on_both_databases};

use crate::firings::{fire, firing};
use crate::support::{activate, add, alert_of, asked_price, at, change, delete, now, pause, uuid, with_accounts};

const OWNER: AccountId = AccountId(uuid::Uuid::from_u128(1));
const NEWEST_FIRST: AlertSort = AlertSort {
    field: AlertSortField::CreatedAt,
    ascending: false,
};
const ALL: PageRequest = PageRequest { page: 1, limit: 1_000 };

async fn totals(store: &Store, status: Option<Status>) -> (usize, u64) {
    let filter = AlertFilter {
        status,
        ..AlertFilter::default()
    };
    let page = store.alerts(OWNER, &filter, NEWEST_FIRST, ALL).await.unwrap();
    (page.items.len(), page.total)
}

/// Compares each number that is not counted with the alerts themselves.
async fn assert_totals_are_right(store: &Store, context: &str) {
    for status in Status::ALL.iter().copied().map(Some).chain([None]) {
        let (listed, total) = totals(store, status).await;
        assert_eq!(listed as u64, total, "{status:?} {context}");
    }
    let everything = store
        .commit((), |(), unit| Box::pin(unit.lock_alerts_of_account(OWNER)))
        .await
        .unwrap();
    let of = |status: Status| {
        let counted = everything
            .iter()
            .filter(|stored| stored.scope().is_none() && stored.alert.status == status);
        counted.count() as u64
    };
    let expected: Vec<_> = Status::ALL
        .iter()
        .map(|status| (*status, of(*status)))
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(store.count_alerts(OWNER).await.unwrap(), expected, "{context}");
    let active = store
        .commit((), |(), unit| Box::pin(unit.count_active_alerts(OWNER)))
        .await
        .unwrap();
    assert_eq!(u64::from(active), of(Status::Active), "{context}");
}

fn scoped(number: u128, role: ScopeRole) -> StoredAlert {
    StoredAlert {
        role,
        ..alert_of(1, number, asked_price(200), 0)
    }
}

/// Adds an alert over many stocks with some members, whose numbers follow its own.
pub(crate) async fn add_over_many_stocks(
    store: &Store,
    number: u128,
    member_count: u128,
) -> (StoredAlert, Vec<StoredAlert>) {
    let scope = AlertScope::read(&json!({"symbols": ["AAPL", "MSFT"]})).unwrap();
    let parent = scoped(number, ScopeRole::Scoped(scope));
    add(store, &parent).await;
    let mut members = Vec::new();
    for member in number + 1..=number + member_count {
        let member = scoped(member, ScopeRole::Member(parent.alert.id));
        add(store, &member).await;
        members.push(member);
    }
    (parent, members)
}

/// The owner's revision, and the alerts that the owner's list shows.
async fn shown(store: &Store) -> (AlertRevision, Vec<StoredAlert>) {
    let revision = store.alert_revision(OWNER).await.unwrap();
    let page = store.alerts(OWNER, &AlertFilter::default(), NEWEST_FIRST, ALL).await;
    (revision, page.unwrap().items)
}

async fn undo(store: &Store, undo: UndoId) {
    let restored = store.commit((), move |(), unit| {
        Box::pin(unit.restore_states(undo, OWNER, at(0), at(9_000)))
    });
    restored.await.unwrap();
}

async fn keep(store: &Store, undo: UndoId, alert: AlertId) {
    let kept = store.commit((), move |(), unit| {
        Box::pin(unit.keep_state(undo, OWNER, alert, at(1_000)))
    });
    kept.await.unwrap();
}

/// Runs a statement on the database beside the store.
pub(crate) async fn tamper(database: &Database, sql: &'static str) {
    if database.is_postgres() {
        let mut connection = PgConnection::connect(database.url()).await.unwrap();
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    } else {
        let mut connection = SqliteConnection::connect(database.url()).await.unwrap();
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    }
}

on_both_databases! {
    async fn totals_equal_a_count_and_the_revision_grows_after_any_changes(database) {
        let store = with_accounts(database, 2).await;
        let (mut shown, mut changes) = (shown(&store).await, 0);
        let mut random = ChaCha8Rng::seed_from_u64(18);
        let (mut alerts, mut undos): (Vec<StoredAlert>, Vec<UndoId>) = (Vec::new(), Vec::new());
        for step in 0..160_u32 {
            let number = 1_000 + u128::from(step) * 10;
            let chosen = alerts.choose(&mut random).cloned();
            let chosen = match chosen {
                Some(alert) => now(&store, &alert).await,
                None => None,
            };
            let context = match (random.random_range(0..10), chosen) {
                (0, _) => {
                    alerts.extend(add_over_many_stocks(&store, number, 2).await.1);
                    "an alert over two stocks"
                }
                (1, _) => {
                    let mut guest = alert_of(1, number, asked_price(step + 1), 0);
                    guest.owner = AlertOwner::Guest { email: "guest@example.com".to_owned() };
                    add(&store, &guest).await;
                    let assigned = store.commit(guest.alert.id, |id, unit| Box::pin(unit.assign_guest_alert(*id, OWNER)));
                    assert!(assigned.await.unwrap());
                    alerts.push(guest);
                    "a guest's alert"
                }
                (2, Some(alert)) => {
                    fire(&store, vec![firing(&alert, 60)]).await;
                    "a firing"
                }
                (3, Some(alert)) if alert.role == ScopeRole::Single && alert.alert.status == Status::Active => {
                    assert!(pause(&store, &alert.alert).await);
                    "a pause"
                }
                (4, Some(alert)) if alert.role == ScopeRole::Single => {
                    let undo = UndoId(uuid(number));
                    keep(&store, undo, alert.alert.id).await;
                    assert!(delete(&store, &alert.alert).await);
                    undos.push(undo);
                    "a deletion"
                }
                (5, Some(alert)) if alert.role == ScopeRole::Single && alert.alert.status != Status::Active => {
                    assert!(activate(&store, &alert.alert).await);
                    "an activation"
                }
                (7, Some(alert)) if alert.role == ScopeRole::Single => {
                    let edited = change(&store, &alert.alert, move |alert| Transition::Changed(Box::new(ChangedAlert {
                        alert: Alert {
                            revision: alert.revision.next(),
                            note: Note::read(&format!("step {step}")).unwrap(),
                            ..alert.clone()
                        },
                        entry: StatusChange {
                            action: HistoryAction::Updated,
                            previous_status: Some(alert.status),
                            new_status: HistoryStatus::Of(alert.status),
                        },
                    })));
                    assert!(edited.await);
                    "a note"
                }
                (8, Some(StoredAlert { role: ScopeRole::Member(parent), .. })) => {
                    let scope = AlertScope::read(&json!({"symbols": ["AAPL", "MSFT", format!("S{step}")]})).unwrap();
                    store.commit((), move |(), unit| Box::pin({
                        let scope = scope.clone();
                        async move { unit.set_scope(parent, &scope).await }
                    })).await.unwrap();
                    "a stock of an alert over two stocks"
                }
                (6, _) if !undos.is_empty() => {
                    undo(&store, undos.swap_remove(0)).await;
                    "an undone deletion"
                }
                _ => {
                    let alert = alert_of(1, number, asked_price(step + 1), 0);
                    add(&store, &alert).await;
                    alerts.push(alert);
                    "a new alert"
                }
            };
            let context = format!("step {step}: {context}");
            assert_totals_are_right(&store, &context).await;
            let before = std::mem::replace(&mut shown, self::shown(&store).await);
            // An alert that is paused does not fire.
            let has_changed = shown.1 != before.1;
            assert!(shown.0.0 > before.0.0 || !has_changed, "{context}");
            changes += u32::from(has_changed);
        }
        assert_eq!(store.correct_alert_totals().await.unwrap(), 0);
        assert!(changes > 130, "{changes} of 160 steps changed the list");
    }

    async fn reads_and_changes_of_others_leave_the_revision(database) {
        let store = with_accounts(database, 2).await;
        add(&store, &alert_of(1, 1, asked_price(1), 0)).await;
        let before = shown(&store).await;
        add(&store, &alert_of(2, 2, asked_price(2), 0)).await;
        assert_eq!(shown(&store).await, before);
    }

    async fn transaction_that_is_undone_counts_nothing(database) {
        let store = with_accounts(database, 1).await;
        let alert = alert_of(1, 1, asked_price(1), 0);
        add(&store, &alert).await;
        let before = shown(&store).await;
        // The second insert has the id of the first alert.
        let failed = store.commit(alert_of(1, 2, asked_price(2), 0), move |new, unit| {
            let alert = alert.clone();
            Box::pin(async move {
                crate::support::insert(unit, new).await?;
                crate::support::insert(unit, &alert).await
            })
        });
        failed.await.unwrap_err();
        assert_totals_are_right(&store, "after a failed transaction").await;
        assert_eq!(shown(&store).await, before);
        assert_eq!(totals(&store, None).await, (1, 1));
    }

    async fn wrong_totals_are_corrected_and_reported(database) {
        let store = with_accounts(database, 2).await;
        add(&store, &alert_of(1, 1, asked_price(1), 0)).await;
        add(&store, &alert_of(2, 2, asked_price(1), 0)).await;
        tamper(database, "UPDATE alert_totals SET alerts = 7 WHERE alerts = 1").await;
        assert_eq!(totals(&store, None).await, (1, 7));
        assert_eq!(store.correct_alert_totals().await.unwrap(), 2);
        assert_totals_are_right(&store, "after the correction").await;
        tamper(database, "DELETE FROM alert_totals").await;
        assert_eq!(store.correct_alert_totals().await.unwrap(), 2);
        assert_totals_are_right(&store, "after the second correction").await;
        assert_eq!(store.correct_alert_totals().await.unwrap(), 0);
    }
}
