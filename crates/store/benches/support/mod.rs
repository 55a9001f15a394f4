//! Shared helpers of the benchmarks.

#![allow(dead_code, reason = "each bench uses a part")]

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alerts::alert::Alert;
use alerts::condition::{Condition, Side};
use alerts::routing::{ChannelRoute, parse_route};
use alerts::transition::{HistoryStatus, StatusChange};
use alerts::{AlertId, Channel, HistoryAction, Plan, Revision, Status};
use jiff::{SignedDuration, Timestamp};
use market::{Price, Symbol};
use serde_json::json;
use store::model::{
    Account, AccountId, AlertOwner, ChannelThrottle, EvaluationCommit, EventId, Firing, FiringComposer, FiringResult,
    HistoryRow, NotificationChannel, NotificationChannelId, NotificationChannelType, StoredAlert,
};
use store::{Store, StoreError, UnitOfWork};
use uuid::Uuid;

/// Whether cargo runs benchmarks. Otherwise (`cargo test --benches`) everything runs once at a small scale.
pub(crate) fn is_measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Whether a database is selected: all are, unless one is named (`cargo bench -p store -- sqlite`).
pub(crate) fn is_selected(kind: &str) -> bool {
    let mut names = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .peekable();
    names.peek().is_none() || names.any(|name| kind.eq_ignore_ascii_case(&name))
}

/// The current instant, for measuring.
#[expect(
    clippy::disallowed_methods,
    reason = "a bench measures time; nothing is judged by it"
)]
pub(crate) fn stopwatch() -> Instant {
    Instant::now()
}

/// A number of seconds after a fixed instant.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_700_000_000 + seconds)
}

/// Shuffles with a linear congruential generator and a fixed seed, so that each run is the same.
pub(crate) fn shuffle<T>(items: &mut [T]) {
    let mut state: u64 = 42;
    for place in (1..items.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let other = (state >> 33) % (u64::try_from(place).unwrap() + 1);
        items.swap(place, usize::try_from(other).unwrap());
    }
}

/// An id that does not reveal the order of creation, like a UUID of version 4.
pub(crate) fn id(number: u64) -> Uuid {
    let scattered = u128::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    Uuid::from_u128(scattered)
}

pub(crate) fn account(number: u64) -> Account {
    Account {
        id: AccountId(id(number)),
        email: format!("{number}@example.com"),
        password_hash: None,
        full_name: None,
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
        time_zone: "UTC".to_owned(),
        created_at: at(0),
        profile: store::model::Profile::default(),
    }
}

/// The alert with a number, spread over a thousand accounts and a thousand stocks.
pub(crate) fn alert(number: u64) -> StoredAlert {
    let ticker = format!("S{}", number % 1_000);
    let alert = Alert {
        id: AlertId(id(number)),
        revision: Revision(0),
        symbol: ticker.parse::<Symbol>().unwrap(),
        condition: Condition::Price {
            side: Side::Above,
            threshold: Price::from_micros(1_000_000 + i64::try_from(number).unwrap()).unwrap(),
        },
        notification: Channel::Email,
        parameters: json!({"source": "web", "note": "as a bench writes them"})
            .as_object()
            .cloned(),
        note: None,
        options: alerts::options::AlertOptions::default(),
        routing: alerts::Routing::default(),
        lifecycle: None,
        tags: alerts::Tags::default(),
        status: Status::Active,
        initial_price: Price::from_micros(200_000_000).ok(),
        created_at: at(i64::try_from(number).unwrap()),
        armed_at: at(0),
        threshold_set_at: at(0),
        initial_price_set_at: at(0),
        rsi_side: None,
        triggered_at: None,
    };
    StoredAlert {
        alert,
        owner: AlertOwner::Account(AccountId(id(number % 1_000))),
        created_by: Some("key: laptop".to_owned()),
        role: store::model::ScopeRole::Single,
        managed_by: None,
    }
}

/// The chat channel of an account.
pub(crate) fn channel(account: u64, throttle: ChannelThrottle) -> NotificationChannel {
    NotificationChannel {
        seq: 0,
        id: NotificationChannelId(id(account + 2_000_000_000)),
        account: AccountId(id(account)),
        channel_type: NotificationChannelType::Slack,
        name: "Trading room".to_owned(),
        config: Some(b"sealed".to_vec()),
        webhook: None,
        templates: None,
        throttle,
        created_at: at(0),
        verified_at: Some(at(0)),
        last_success_at: None,
        last_error: None,
        is_enabled: true,
        link: None,
    }
}

/// The route to one channel.
pub(crate) fn route_to(channel: &NotificationChannel) -> Option<ChannelRoute> {
    parse_route(&json!({"channels": [channel.id.0.to_string()]})).unwrap()
}

/// The firing of the alert with a number.
pub(crate) fn firing(number: u64, at: Timestamp) -> Firing {
    let alert = alert(number).alert;
    Firing {
        alert: alert.id,
        revision: alert.revision,
        at,
        crossed_at: None,
        price: Price::from_micros(200_000_000).ok(),
        metric: None,
        reason: format!("{} is at 200, at or above your 198.66", alert.symbol),
        terms: Vec::new(),
        lifecycle: None,
        judged_at: None,
        event: EventId(id(number + 1_000_000_000)),
    }
}

/// Inserts accounts and alerts by number.
pub(crate) async fn insert_fixtures(store: &Store, accounts: Range<u64>, alerts: Range<u64>) {
    let inserted = store.commit((accounts, alerts), |(accounts, alerts), unit| {
        Box::pin(async move {
            for number in accounts.clone() {
                unit.insert_account(&account(number)).await?;
            }
            for number in alerts.clone() {
                insert(unit, &alert(number)).await?;
            }
            Ok(())
        })
    });
    inserted.await.unwrap();
}

pub(crate) async fn insert(unit: &mut UnitOfWork, alert: &StoredAlert) -> Result<(), StoreError> {
    let row = HistoryRow {
        alert: alert.alert.id,
        symbol: alert.alert.symbol,
        entry: StatusChange {
            action: HistoryAction::Created,
            previous_status: None,
            new_status: HistoryStatus::Of(Status::Active),
        },
        at: alert.alert.created_at,
        price: None,
        details: None,
    };
    unit.insert_alert(alert, &row).await
}

/// Composes events like the service. The time of a commit is counted from an instant.
pub(crate) struct Composer(std::time::Instant);

impl FiringComposer for Composer {
    fn data(&self, alert: &StoredAlert, firing: &Firing) -> String {
        compose(alert, firing)
    }

    fn now(&self) -> Option<Timestamp> {
        Some(at(1_000_000) + self.0.elapsed())
    }
}

/// The `data` of an event, as long as that of the service.
pub(crate) fn compose(alert: &StoredAlert, firing: &Firing) -> String {
    let alert = &alert.alert;
    json!({
        "alert": {"id": alert.id.to_string(), "symbol": alert.symbol.as_str(), "condition": alert.condition.kind().name(),
            "threshold": 198.66, "status": alert.status.name(), "notification": alert.notification.name(),
            "triggered_at": firing.at.to_string(), "triggered_value": 200, "initial_price": 190,
            "parameters": alert.parameters},
        "stock": {"symbol": alert.symbol.as_str(), "price": 200, "change": 1.25, "change_percent": 0.63},
        "company_name": "A Company Incorporated", "reason": firing.reason,
    })
    .to_string()
}

/// Fires alerts, and checks that each firing is accepted.
pub(crate) async fn fire(store: &Store, firings: Vec<Firing>) {
    let commit = EvaluationCommit {
        firings,
        ..EvaluationCommit::default()
    };
    let composer = Arc::new(Composer(stopwatch()));
    let outcome = store.commit_evaluation(commit, composer).await.unwrap();
    let is_fired = |result: &FiringResult| matches!(result, FiringResult::Fired(_));
    assert!(outcome.firings.iter().all(is_fired));
}

/// Prints how much faster `ours` is than `theirs`, and whether that is the goal.
pub(crate) fn compare(what: &str, ours: Duration, other: &str, theirs: Duration, goal: f64) {
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    let found = format!("{ratio:.2} times as fast as {other}, goal at least {goal} ({ours:.2?} against {theirs:.2?})");
    testkit::print_goal(what, &found, ratio >= goal);
}
