//! Notes and tags of alerts, and lists filtered by tags.

use alerts::transition::{PriceAvailability, update};
use alerts::{Alert, Status};
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::{Value, json};
use store::Store;
use store::model::{AccountId, AlertFilter, AlertSort, AlertSortField, PageRequest, StoredAlert};
use testkit::on_both_databases;

use crate::firings::{fire, firing};
use crate::support::{add, alert_of, asked, at, change, delete, now, pause, symbol, uuid, with_accounts};

const NEWEST_FIRST: AlertSort = AlertSort {
    field: AlertSortField::CreatedAt,
    ascending: false,
};

fn tagged(owner: u128, number: u128, tags: &[&str]) -> StoredAlert {
    let more = json!({"threshold": number, "tags": tags});
    alert_of(owner, number, asked("AAPL", "price_above", &more), 0)
}

fn filter(tags: &[&str]) -> AlertFilter {
    AlertFilter {
        tags: alerts::Tags::read(tags.iter().copied()).unwrap(),
        ..AlertFilter::default()
    }
}

/// The numbers of an account's listed alerts, and the total.
async fn list(store: &Store, filter: &AlertFilter) -> (Vec<u128>, u64) {
    let page = PageRequest { page: 1, limit: 50 };
    let page = store
        .alerts(AccountId(uuid(1)), filter, NEWEST_FIRST, page)
        .await
        .unwrap();
    let numbers = page.items.iter().map(|alert| alert.alert.id.0.as_u128());
    (numbers.collect(), page.total)
}

/// Applies the body of an update request.
async fn apply(store: &Store, alert: &Alert, body: Value) -> bool {
    change(store, alert, move |alert| {
        let context = alerts::request::ParseContext {
            now: at(5),
            time_zone: &TimeZone::UTC,
            calendar: &Calendar::nyse(),
        };
        let change = alerts::request::parse_update(alert, &body, &context).unwrap();
        update(alert, change, PriceAvailability::Unknown, at(5)).unwrap()
    })
    .await
}

on_both_databases! {
    async fn hostile_notes_and_tags_are_read_back_unchanged(database) {
        let store = with_accounts(database, 1).await;
        for (number, note) in [
            (1, "<script>alert(1)</script>\r\nBcc: eve@example.org".to_owned()),
            (2, "\u{202e}kcots\u{2066} '; DROP TABLE alerts; -- $1 ?".to_owned()),
            (3, "🚀".repeat(2_000)),
        ] {
            let tags = ["a'b\"c", "[]", "$1", "%_\\", "\u{202e}x", "🚀", "Zoë 李"];
            let more = json!({"threshold": 1, "note": note, "tags": tags});
            let alert = alert_of(1, number, asked("AAPL", "price_above", &more), 0);
            add(&store, &alert).await;
            assert_eq!(now(&store, &alert).await.as_ref(), Some(&alert));
            let exported = store.alerts_after(AccountId(uuid(1)), 0, 10).await.unwrap().pop().unwrap();
            assert_eq!(exported.stored, alert);
            for tag in tags {
                assert_eq!(list(&store, &filter(&[tag])).await.1, u64::try_from(number).unwrap(), "{tag}");
            }
        }
    }

    async fn list_contains_the_alerts_that_have_all_tags(database) {
        let store = with_accounts(database, 2).await;
        for alert in [
            tagged(1, 1, &["swing", "earnings"]), tagged(1, 2, &["swing"]), tagged(1, 3, &[]), tagged(1, 4, &["Swing"]),
            tagged(2, 5, &["swing"]), tagged(1, 6, &["earnings", "big caps", "swing"]),
        ] {
            add(&store, &alert).await;
        }
        for (tags, expected) in [
            (&[][..], vec![6, 4, 3, 2, 1]),
            (&["swing"], vec![6, 2, 1]),
            (&["Swing"], vec![4]),
            (&["swing", "earnings"], vec![6, 1]),
            (&["earnings", "swing", "big caps"], vec![6]),
            (&["swin"], vec![]),
            (&["swing", "Swing"], vec![]),
        ] {
            let total = u64::try_from(expected.len()).unwrap();
            assert_eq!(list(&store, &filter(tags)).await, (expected, total), "{tags:?}");
        }
    }

    async fn tags_can_be_combined_with_other_filters(database) {
        let store = with_accounts(database, 1).await;
        for number in 1..=4 {
            add(&store, &tagged(1, number, &["swing"])).await;
        }
        assert!(pause(&store, &tagged(1, 2, &["swing"]).alert).await);
        let paused = AlertFilter { status: Some(Status::Paused), ..filter(&["swing"]) };
        assert_eq!(list(&store, &paused).await, (vec![2], 1));
        let searched = AlertFilter { search: Some("aap".to_owned()), ..filter(&["swing"]) };
        assert_eq!(list(&store, &searched).await, (vec![4, 3, 2, 1], 4));
        let other = AlertFilter { symbol: Some(symbol("MSFT")), search: Some("aap".to_owned()), ..filter(&["swing"]) };
        assert_eq!(list(&store, &other).await, (vec![], 0));
    }

    async fn list_follows_updates_and_deletions(database) {
        let store = with_accounts(database, 1).await;
        let (first, second) = (tagged(1, 1, &["old"]), tagged(1, 2, &["old"]));
        add(&store, &first).await;
        add(&store, &second).await;
        assert!(apply(&store, &first.alert, json!({"tags": ["new", "newer"]})).await);
        assert_eq!(list(&store, &filter(&["old"])).await, (vec![2], 1));
        assert_eq!(list(&store, &filter(&["new", "newer"])).await, (vec![1], 1));
        assert!(apply(&store, &first.alert, json!({"note": "only a note"})).await);
        assert_eq!(list(&store, &filter(&["new"])).await, (vec![1], 1));
        assert!(apply(&store, &first.alert, json!({"tags": null})).await);
        assert_eq!(list(&store, &filter(&["new"])).await, (vec![], 0));
        assert!(delete(&store, &second.alert).await);
        assert_eq!(list(&store, &filter(&["old"])).await, (vec![], 0));
    }

    async fn alert_fires_although_its_note_changed_since_the_evaluation(database) {
        let store = with_accounts(database, 1).await;
        let alert = tagged(1, 1, &["swing"]);
        add(&store, &alert).await;
        let firing = firing(&alert, 60);
        assert!(apply(&store, &alert.alert, json!({"note": "sell half"})).await);
        fire(&store, vec![firing]).await;
        let fired = now(&store, &alert).await.unwrap().alert;
        assert_eq!((fired.status, fired.note.unwrap().as_str()), (Status::Triggered, "sell half"));
    }

    async fn erased_account_keeps_no_notes_and_tags(database) {
        let store = with_accounts(database, 1).await;
        let alert = alert_of(1, 1, asked("AAPL", "new_high", &json!({"note": "mine", "tags": ["a"]})), 0);
        add(&store, &alert).await;
        let erased = store.commit((), |(), unit| Box::pin(async move {
            let account = unit.lock_account(AccountId(uuid(1))).await?.unwrap();
            unit.erase_account_data(&account, at(9)).await
        }));
        erased.await.unwrap();
        let kept = now(&store, &alert).await.unwrap().alert;
        assert_eq!((kept.note, kept.tags.is_empty()), (None, true));
        assert_eq!(list(&store, &filter(&["a"])).await, (vec![], 0));
    }
}
