//! Shared helpers of these tests.

use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, HistoryStatus, StatusChange, Transition};
use alerts::{Alert, AlertId, NewAlert, Plan};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, Price, Symbol};
use serde_json::{Value, json};
use store::model::{Account, AccountId, AlertOwner, HistoryRow, StoredAlert};
use store::{Store, StoreError, StoreOptions, UnitOfWork};
use testkit::Database;
use uuid::Uuid;

/// Monday, 2024-07-01, 11:00 in New York.
const NOW: &str = "2024-07-01T15:00:00Z";

/// A number of seconds after `NOW`.
pub(crate) fn at(seconds: i64) -> Timestamp {
    NOW.parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
}

pub(crate) fn price(text: &str) -> Price {
    text.parse().unwrap()
}

pub(crate) fn symbol(text: &str) -> Symbol {
    text.parse().unwrap()
}

pub(crate) fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

pub(crate) async fn open(database: &Database) -> Store {
    Store::open(StoreOptions::new(database.url())).await.unwrap()
}

pub(crate) fn account(number: u128) -> Account {
    Account {
        id: AccountId(uuid(number)),
        email: format!("{number}@example.com"),
        password_hash: Some("$argon2id$...".to_owned()),
        full_name: Some("Ann Example".to_owned()),
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
        time_zone: "Europe/Berlin".to_owned(),
        created_at: at(0),
        profile: store::model::Profile::default(),
    }
}

/// A store with a number of accounts, numbered from 1.
pub(crate) async fn with_accounts(database: &Database, number: u128) -> Store {
    let store = open(database).await;
    for number in 1..=number {
        add_account(&store, account(number)).await;
    }
    store
}

pub(crate) async fn add_account(store: &Store, account: Account) {
    let added = store.commit(account, move |account, unit| Box::pin(unit.insert_account(account)));
    assert!(added.await.unwrap());
}

/// Parses the request to create an alert with a condition and further fields.
pub(crate) fn asked(symbol: &str, condition: &str, more: &Value) -> NewAlert {
    let mut body = json!({"symbol": symbol, "condition": condition});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let context = ParseContext {
        now: at(0),
        time_zone: &TimeZone::UTC,
        calendar: &Calendar::nyse(),
    };
    parse_create(&body, &context).unwrap_or_else(|error| panic!("{body}: {error}"))
}

pub(crate) fn asked_price(threshold: u32) -> NewAlert {
    asked("AAPL", "price_above", &json!({"threshold": threshold}))
}

/// An active alert of an account, created a number of seconds after `NOW` at a price of 200.
pub(crate) fn alert_of(owner: u128, id: u128, asked: NewAlert, seconds: i64) -> StoredAlert {
    let verified = transition::OwnerVerification::Verified;
    let awaited = transition::PriceAvailability::Awaited;
    let made = transition::create(asked, AlertId(uuid(id)), verified, awaited, at(seconds));
    StoredAlert {
        alert: Alert {
            initial_price: Some(price("200")),
            ..made.unwrap().alert
        },
        owner: AlertOwner::Account(AccountId(uuid(owner))),
        created_by: Some("key: laptop".to_owned()),
        role: store::model::ScopeRole::Single,
        managed_by: None,
    }
}

pub(crate) fn created(alert: &Alert) -> HistoryRow {
    HistoryRow {
        alert: alert.id,
        symbol: alert.symbol,
        entry: StatusChange {
            action: alerts::HistoryAction::Created,
            previous_status: None,
            new_status: HistoryStatus::Of(alert.status),
        },
        at: alert.created_at,
        price: None,
        details: None,
    }
}

pub(crate) async fn insert(unit: &mut UnitOfWork, alert: &StoredAlert) -> Result<(), StoreError> {
    unit.insert_alert(alert, &created(&alert.alert)).await
}

pub(crate) async fn add(store: &Store, alert: &StoredAlert) {
    let added = store.commit(alert.clone(), |alert, unit| Box::pin(insert(unit, alert)));
    added.await.unwrap();
}

/// Adds alerts to the first account, with price thresholds and ids 1, 2, ...
pub(crate) async fn add_many(store: &Store, number: u32) -> Vec<StoredAlert> {
    add_many_of(store, 1, number).await
}

/// Adds alerts, each of the next one of the first accounts.
pub(crate) async fn add_many_of(store: &Store, accounts: u32, number: u32) -> Vec<StoredAlert> {
    let owner = |number| u128::from(1 + number % accounts);
    let alerts: Vec<_> = (1..=number)
        .map(|number| {
            alert_of(
                owner(number),
                u128::from(number),
                asked_price(number),
                i64::from(number),
            )
        })
        .collect();
    let added = store.commit(alerts.clone(), |alerts, unit| {
        Box::pin(async move {
            for alert in alerts {
                insert(unit, alert).await?;
            }
            Ok(())
        })
    });
    added.await.unwrap();
    alerts
}

/// Changes an alert of the first account. Returns `false` if its revision had changed.
pub(crate) async fn change(
    store: &Store,
    alert: &Alert,
    change: impl Fn(&Alert) -> Transition + Send + Sync + 'static,
) -> bool {
    let changed = store.commit((alert.id, change), |(id, change), unit| {
        Box::pin(async move {
            let alert = unit.lock_alert(AccountId(uuid(1)), *id).await?.unwrap().alert;
            match change(&alert) {
                Transition::Unchanged => Ok(true),
                Transition::Changed(changed) => unit.update_alert(&changed, &alert, at(1_000), None).await,
            }
        })
    });
    changed.await.unwrap()
}

pub(crate) async fn pause(store: &Store, alert: &Alert) -> bool {
    change(store, alert, |alert| transition::pause(alert).unwrap()).await
}

pub(crate) async fn activate(store: &Store, alert: &Alert) -> bool {
    let (verified, awaited) = (
        transition::OwnerVerification::Verified,
        transition::PriceAvailability::Awaited,
    );
    change(store, alert, move |alert| {
        transition::activate(alert, verified, awaited, at(5_000)).unwrap()
    })
    .await
}

pub(crate) async fn delete(store: &Store, alert: &Alert) -> bool {
    let deleted = store.commit(alert.clone(), |alert, unit| {
        Box::pin(unit.delete_alert(alert, at(2_000)))
    });
    deleted.await.unwrap()
}

/// An alert as it is now.
pub(crate) async fn now(store: &Store, alert: &StoredAlert) -> Option<StoredAlert> {
    store.alerts_by_id(&[alert.alert.id]).await.unwrap().pop()
}
