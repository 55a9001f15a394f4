//! Firings: each once, with its history entry and its event.

use std::sync::Arc;

use alerts::condition::Side;
use alerts::transition::HistoryStatus;
use alerts::{HistoryAction, Revision, Status, transition};
use jiff::Timestamp;
use market::{Decimal, Price};
use serde_json::json;
use store::model::{
    AccountId, EvaluationCommit, EventId, Firing, FiringComposer, FiringResult, LatestQuote, PageRequest,
    RsiSideUpdate, StoredAlert,
};
use store::{Store, StoreOptions};
use testkit::on_both_databases;

use crate::support::{
    add, add_many, add_many_of, alert_of, asked, at, change, delete, now, open, pause, price, symbol, uuid,
    with_accounts,
};

/// Composes event data from alert and firing.
pub(crate) fn composer() -> Arc<dyn FiringComposer> {
    Arc::new(|alert: &StoredAlert, firing: &Firing| {
        json!({"status": alert.alert.status.name(), "reason": firing.reason}).to_string()
    })
}

/// A firing of an alert at its evaluated revision.
pub(crate) fn firing(alert: &StoredAlert, seconds: i64) -> Firing {
    Firing {
        alert: alert.alert.id,
        revision: alert.alert.revision,
        at: at(seconds),
        crossed_at: None,
        price: Some(price("198.66")),
        metric: Some(Decimal::from_micros(198_660_000)),
        reason: "the price is \"above\" 1 \u{1F4C8}".to_owned(),
        terms: Vec::new(),
        lifecycle: None,
        judged_at: None,
        event: EventId(uuid(0xE000_0000 + alert.alert.id.0.as_u128())),
    }
}

pub(crate) async fn fire(store: &Store, firings: Vec<Firing>) -> Vec<FiringResult> {
    let commit = EvaluationCommit {
        firings,
        ..EvaluationCommit::default()
    };
    store.commit_evaluation(commit, composer()).await.unwrap().firings
}

pub(crate) const ALL: PageRequest = PageRequest { page: 1, limit: 1_000 };

/// Number of firings in an alert's history.
async fn firings_of(store: &Store, alert: &StoredAlert) -> usize {
    let history = store
        .history(AccountId(uuid(1)), alert.alert.id, ALL)
        .await
        .unwrap()
        .unwrap();
    let fired = history
        .items
        .iter()
        .filter(|row| row.entry.action == HistoryAction::Triggered);
    fired.count()
}

pub(crate) fn quote(name: &str, last: &str, seconds: i64) -> LatestQuote {
    LatestQuote {
        symbol: symbol(name),
        session: jiff::civil::date(2024, 7, 1),
        open: price("190"),
        high: price("300"),
        low: price("100"),
        last: price(last),
        volume: Some(1_000),
        at: at(seconds),
        made_at: None,
        bid: None,
        ask: None,
        vwap: None,
    }
}

on_both_databases! {
    async fn firing_updates_alert_and_writes_one_entry_and_one_event(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        let firing = firing(&alert, 60);
        let settled = fire(&store, vec![firing.clone()]).await;

        let mut fired = alert.clone();
        fired.alert.status = Status::Triggered;
        fired.alert.triggered_at = Some(at(60));
        fired.alert.revision = Revision(1);
        assert_eq!(settled, [FiringResult::Fired(Box::new(fired.clone()))]);
        assert_eq!(now(&store, &alert).await, Some(fired));

        let history = store.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap().unwrap();
        assert_eq!(history.total, 2);
        let entry = &history.items[0];
        assert_eq!(entry.entry.action, HistoryAction::Triggered);
        assert_eq!(entry.entry.previous_status, Some(Status::Active));
        assert_eq!(entry.entry.new_status, HistoryStatus::Of(Status::Triggered));
        assert_eq!((entry.at, entry.price), (at(60), Some(price("198.66"))));
        let details = json!({"reason": firing.reason, "metric": 198.66});
        assert_eq!(entry.details.as_ref(), details.as_object());

        let events = store.events_after(AccountId(uuid(1)), 0, 10).await.unwrap();
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].id, events[0].alert, events[0].at), (firing.event, alert.alert.id, at(60)));
        let data = json!({"status": "triggered", "reason": firing.reason});
        assert_eq!(Some(&events[0].data), data.as_object());
        assert_eq!(store.events_after(AccountId(uuid(1)), events[0].seq, 10).await.unwrap(), []);
    }

    async fn changed_alert_does_not_fire(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 4).await;
        let firings: Vec<_> = alerts.iter().map(|alert| firing(alert, 60)).collect();
        assert!(pause(&store, &alerts[0].alert).await);
        let same = alerts[1].alert.clone();
        assert!(change(&store, &alerts[1].alert, move |alert| {
            let change = alerts::request::AlertChange {
                condition: same.condition.clone(),
                notification: same.notification,
                parameters: None,
                note: None,
                tags: alerts::Tags::default(),
                options: alerts::options::AlertOptions::default(),
                routing: alerts::Routing::default(),
                managed_by: None,
                rearms: true,
            };
            transition::update(alert, change, transition::PriceAvailability::Unknown, at(30)).unwrap()
        }).await);
        assert!(delete(&store, &alerts[2].alert).await);
        fire(&store, vec![firings[3].clone()]).await;

        let settled = fire(&store, firings).await;
        for (place, expected) in [Some(Status::Paused), Some(Status::Active), None, Some(Status::Triggered)]
            .into_iter().enumerate()
        {
            let FiringResult::Stale(current) = &settled[place] else {
                panic!("{:?} was taken", settled[place]);
            };
            assert_eq!(current.as_ref().map(|alert| alert.alert.status), expected);
            assert_eq!(current.as_deref().cloned(), now(&store, &alerts[place]).await);
        }
        assert_eq!(firings_of(&store, &alerts[0]).await, 0);
        assert_eq!(firings_of(&store, &alerts[3]).await, 1);
        assert_eq!(store.events_after(AccountId(uuid(1)), 0, 10).await.unwrap().len(), 1);
    }

    async fn without_compare_and_set_every_firing_is_accepted(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        let careless = Store::open(StoreOptions {
            unsafe_without_compare_and_set: true,
            ..StoreOptions::new(database.url())
        }).await.unwrap();
        for number in [7, 8] {
            let again = Firing { event: EventId(uuid(number)), ..firing(&alert, 60) };
            let settled = fire(&careless, vec![again]).await;
            assert!(matches!(settled[..], [FiringResult::Fired(_)]));
        }
        assert_eq!(firings_of(&store, &alert).await, 2);
    }

    async fn alert_fires_once_per_evaluation(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        let mut second = firing(&alert, 61);
        second.event = EventId(uuid(7));
        let settled = fire(&store, vec![firing(&alert, 60), second]).await;
        assert!(matches!(settled[0], FiringResult::Fired(_)));
        let FiringResult::Stale(Some(current)) = &settled[1] else { panic!("{:?}", settled[1]) };
        assert_eq!(current.alert.triggered_at, Some(at(60)));
        assert_eq!(firings_of(&store, &alert).await, 1);
    }

    async fn daily_reminder_stays_active_and_fires_again(database) {
        let store = with_accounts(database, 1).await;
        let alert = alert_of(1, 1, asked("AAPL", "daily_reminder", &json!({})), 0);
        add(&store, &alert).await;
        let settled = fire(&store, vec![firing(&alert, 60)]).await;
        let [FiringResult::Fired(fired)] = &settled[..] else { panic!("{settled:?}") };
        assert_eq!((fired.alert.status, fired.alert.revision), (Status::Active, Revision(1)));
        assert!(matches!(&fire(&store, vec![firing(&alert, 120)]).await[..], [FiringResult::Stale(Some(_))]));
        let next = Firing { event: EventId(uuid(7)), ..firing(fired, 120) };
        assert!(matches!(&fire(&store, vec![next]).await[..], [FiringResult::Fired(_)]));
        assert_eq!(firings_of(&store, &alert).await, 2);
    }

    async fn results_of_thousands_of_firings_keep_their_order(database) {
        let store = with_accounts(database, 1).await;
        let mut alerts = add_many(&store, 4_500).await;
        let number = alerts.len();
        // A step that is coprime to the number of alerts visits all of them.
        alerts = (0..number).map(|place| alerts[place * 1_009 % number].clone()).collect();
        let mut stale: Vec<_> = alerts.iter().map(|alert| firing(alert, 60)).collect();
        let unknown = firing(&alert_of(1, 9_999, asked("AAPL", "new_high", &json!({})), 0), 60);
        stale.insert(100, unknown);
        let before = store.write_stats().commits;
        let settled = fire(&store, stale).await;
        // On PostgreSQL another connection writes the alert without an account.
        let chunks = if database.is_postgres() { 4 } else { 3 };
        assert_eq!(store.write_stats().commits - before, chunks);
        assert_eq!(settled.len(), number + 1);
        assert_eq!(settled[100], FiringResult::Stale(None));
        let settled = settled.iter().enumerate().filter(|(place, _)| *place != 100).map(|(_, settled)| settled);
        for (alert, settled) in alerts.iter().zip(settled) {
            let FiringResult::Fired(fired) = settled else { panic!("{settled:?}") };
            assert_eq!((fired.alert.id, fired.alert.status), (alert.alert.id, Status::Triggered));
        }
        let events = store.events_after(AccountId(uuid(1)), 0, 10_000).await.unwrap();
        assert_eq!(events.len(), number);
        let ids: std::collections::BTreeSet<_> = events.iter().map(|event| event.alert).collect();
        assert_eq!(ids.len(), number);
        for event in &events {
            assert_eq!(event.id.0.as_u128(), 0xE000_0000 + event.alert.0.as_u128(), "each with its own event");
        }
    }

    async fn many_firings_of_two_accounts_are_written_with_the_quote_of_their_evaluation(database) {
        let store = with_accounts(database, 2).await;
        let alerts = add_many_of(&store, 2, 3_000).await;
        let commit = EvaluationCommit {
            firings: alerts.iter().map(|alert| firing(alert, 60)).collect(),
            quotes: vec![quote("AAPL", "3", 60)],
            ..EvaluationCommit::default()
        };
        let before = store.write_stats().commits;
        let settled = store.commit_evaluation(commit, composer()).await.unwrap().firings;
        assert_eq!(store.write_stats().commits - before, 3, "two chunks, and the quote");
        for (alert, settled) in alerts.iter().zip(&settled) {
            let FiringResult::Fired(fired) = settled else { panic!("{settled:?}") };
            assert_eq!((fired.alert.id, fired.owner.clone()), (alert.alert.id, alert.owner.clone()));
        }
        for account in [1, 2] {
            assert_eq!(store.events_after(AccountId(uuid(account)), 0, 10_000).await.unwrap().len(), 1_500);
        }
        assert_eq!(store.latest_quotes().await.unwrap(), [quote("AAPL", "3", 60)]);
    }

    async fn event_of_guest_alert_has_no_account(database) {
        let store = with_accounts(database, 1).await;
        let mut alert = alert_of(1, 1, asked("AAPL", "new_high", &json!({})), 0);
        alert.owner = store::model::AlertOwner::Guest { email: "guest@example.com".to_owned() };
        add(&store, &alert).await;
        assert!(matches!(&fire(&store, vec![firing(&alert, 60)]).await[..], [FiringResult::Fired(_)]));
        assert_eq!(store.events_after(AccountId(uuid(1)), 0, 10).await.unwrap(), []);
    }

    async fn rsi_side_is_stored_for_evaluated_revision_only(database) {
        let store = with_accounts(database, 1).await;
        let rsi = asked("AAPL", "rsi_limit", &json!({"threshold": 70, "parameters": {"direction": "both"}}));
        let alert = alert_of(1, 1, rsi, 0);
        add(&store, &alert).await;
        let decide = |revision| EvaluationCommit {
            sides: vec![RsiSideUpdate { alert: alert.alert.id, revision: Revision(revision), side: Side::Below }],
            ..EvaluationCommit::default()
        };
        store.commit_evaluation(decide(7), composer()).await.unwrap();
        assert_eq!(now(&store, &alert).await.unwrap().alert.rsi_side, None);
        store.commit_evaluation(decide(0), composer()).await.unwrap();
        let now = now(&store, &alert).await.unwrap();
        assert_eq!((now.alert.rsi_side, now.alert.revision), (Some(Side::Below), Revision(0)));
        let settled = fire(&store, vec![firing(&alert, 60)]).await;
        assert!(matches!(&settled[..], [FiringResult::Fired(fired)] if fired.alert.rsi_side == Some(Side::Below)));
    }

    async fn quotes_and_clock_are_stored_with_firings_and_never_go_back(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        assert_eq!((store.clock().await.unwrap(), store.latest_quotes().await.unwrap()), (None, vec![]));
        let commit = |firings, quotes, clock| EvaluationCommit { firings, quotes, clock: Some(clock), ..EvaluationCommit::default() };
        let before = store.write_stats().commits;
        let quotes = vec![quote("MSFT", "1", 59), quote("AAPL", "2", 50), quote("AAPL", "3", 60), quote("AAPL", "4", 40)];
        store.commit_evaluation(commit(vec![firing(&alert, 60)], quotes, at(60)), composer()).await.unwrap();
        assert_eq!(store.write_stats().commits - before, 1);
        assert_eq!(store.latest_quotes().await.unwrap(), [quote("AAPL", "3", 60), quote("MSFT", "1", 59)]);
        assert_eq!(store.clock().await.unwrap(), Some(at(60)));

        let quotes = vec![quote("AAPL", "5", 59), quote("MSFT", "6", 61)];
        store.commit_evaluation(commit(vec![], quotes, at(30)), composer()).await.unwrap();
        assert_eq!(store.latest_quotes().await.unwrap(), [quote("AAPL", "3", 60), quote("MSFT", "6", 61)]);
        assert_eq!(store.latest_quote(symbol("MSFT")).await.unwrap(), Some(quote("MSFT", "6", 61)));
        assert_eq!(store.latest_quote(symbol("GOOG")).await.unwrap(), None);
        assert_eq!(store.clock().await.unwrap(), Some(at(60)));
    }

    async fn empty_evaluation_writes_nothing(database) {
        let store = open(database).await;
        let outcome = store.commit_evaluation(EvaluationCommit::default(), composer()).await.unwrap();
        assert_eq!(outcome.firings, []);
        assert_eq!(store.write_stats().commits, 0);
    }

    async fn firing_without_price_and_metric_stores_nulls(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        let bare = Firing { price: None, metric: None, ..firing(&alert, 60) };
        fire(&store, vec![bare]).await;
        let history = store.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap().unwrap();
        let (price, details) = (history.items[0].price, history.items[0].details.as_ref().unwrap());
        assert_eq!((price, &details["metric"]), (None::<Price>, &json!(null)));
    }
}

/// An instant with microseconds, to test that they are kept.
pub(crate) fn odd_instant() -> Timestamp {
    "2024-07-01T15:00:00.123456Z".parse().unwrap()
}
