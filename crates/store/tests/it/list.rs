//! Lists of alerts, and histories: filtered, sorted, paged.

use alerts::{AlertId, ConditionKind, HistoryAction, Status};
use market::records::{Batch, StockRow};
use serde_json::json;
use store::Store;
use store::model::{
    AccountId, AlertFilter, AlertSort, AlertSortField, ListError, ListRequest, PageRequest, StoredAlert,
};
use testkit::on_both_databases;

use crate::firings::{fire, firing};
use crate::support::{
    add, add_many, alert_of, asked, asked_price, delete, now, pause, price, symbol, uuid, with_accounts,
};

const NEWEST_FIRST: AlertSort = AlertSort {
    field: AlertSortField::CreatedAt,
    ascending: false,
};
const PAGE: PageRequest = PageRequest { page: 1, limit: 50 };

/// The numbers of the listed alerts, and the total.
async fn list(store: &Store, filter: &AlertFilter, sort: AlertSort, page: PageRequest) -> (Vec<u128>, u64) {
    let page = store.alerts(AccountId(uuid(1)), filter, sort, page).await.unwrap();
    let numbers = page.items.iter().map(|alert| alert.alert.id.0.as_u128());
    (numbers.collect(), page.total)
}

/// The numbers of the alerts after one of the first account's, read one by one.
async fn follow(store: &Store, sort: AlertSort, first: u128) -> Vec<u128> {
    let (mut numbers, mut last) = (Vec::new(), first);
    loop {
        let (account, all) = (AccountId(uuid(1)), AlertFilter::default());
        let request = ListRequest::following(AlertId(uuid(last)), 1);
        let mut page = store.alerts(account, &all, sort, request).await.unwrap();
        let Some(next) = page.items.pop() else {
            return numbers;
        };
        last = next.alert.id.0.as_u128();
        numbers.push(last);
    }
}

async fn found(store: &Store, search: &str) -> Vec<u128> {
    let filter = AlertFilter {
        search: Some(search.to_owned()),
        ..AlertFilter::default()
    };
    list(store, &filter, NEWEST_FIRST, PAGE).await.0
}

async fn name_stocks(store: &Store, names: &'static [(&'static str, &'static str)]) {
    let stocks = names
        .iter()
        .map(|(ticker, name)| StockRow::named(symbol(ticker), *name));
    let stocks = stocks.collect();
    crate::market::record(
        store,
        Batch {
            stocks,
            ..Batch::default()
        },
    )
    .await;
}

fn any(ticker: &str, number: u128) -> StoredAlert {
    alert_of(
        1,
        number,
        asked(ticker, "new_high", &json!({})),
        i64::try_from(number).unwrap(),
    )
}

on_both_databases! {
    async fn list_contains_own_undeleted_alerts(database) {
        let store = with_accounts(database, 2).await;
        let alerts = add_many(&store, 4).await;
        add(&store, &alert_of(2, 9, asked_price(9), 0)).await;
        assert!(delete(&store, &alerts[1].alert).await);
        assert_eq!(list(&store, &AlertFilter::default(), NEWEST_FIRST, PAGE).await, (vec![4, 3, 1], 3));
        let theirs = AccountId(uuid(2));
        assert_eq!(store.alert(theirs, alerts[0].alert.id).await.unwrap(), None);
        assert_eq!(store.alert(AccountId(uuid(1)), alerts[0].alert.id).await.unwrap().as_ref(), Some(&alerts[0]));
        assert_eq!(store.alert(AccountId(uuid(1)), alerts[1].alert.id).await.unwrap(), None);
    }

    async fn filters_can_be_combined(database) {
        let store = with_accounts(database, 1).await;
        for (number, ticker, condition) in [
            (1, "AAPL", "price_above"), (2, "AAPL", "price_below"), (3, "MSFT", "price_above"), (4, "AAPL", "price_above"),
        ] {
            add(&store, &alert_of(1, number, asked(ticker, condition, &json!({"threshold": 5})), 0)).await;
        }
        assert!(pause(&store, &any("AAPL", 4).alert).await);
        let all = AlertFilter::default();
        let paused = AlertFilter { status: Some(Status::Paused), ..all.clone() };
        assert_eq!(list(&store, &paused, NEWEST_FIRST, PAGE).await, (vec![4], 1));
        let above = AlertFilter { condition: Some(ConditionKind::PriceAbove), ..all.clone() };
        assert_eq!(list(&store, &above, NEWEST_FIRST, PAGE).await, (vec![4, 3, 1], 3));
        let apple = AlertFilter { symbol: Some(symbol("AAPL")), ..all.clone() };
        assert_eq!(list(&store, &apple, NEWEST_FIRST, PAGE).await, (vec![4, 2, 1], 3));
        let both = AlertFilter { symbol: Some(symbol("AAPL")), status: Some(Status::Active), ..above.clone() };
        assert_eq!(list(&store, &both, NEWEST_FIRST, PAGE).await, (vec![1], 1));
        let searched = AlertFilter { search: Some("aap".to_owned()), ..above };
        assert_eq!(list(&store, &searched, NEWEST_FIRST, PAGE).await, (vec![4, 1], 2));
        let none = AlertFilter { condition: Some(ConditionKind::SocialBuzz), ..all };
        assert_eq!(list(&store, &none, NEWEST_FIRST, PAGE).await, (vec![], 0));
    }

    async fn every_field_sorts_both_ways_with_nulls_last(database) {
        let store = with_accounts(database, 1).await;
        // Number, symbol, condition, threshold and initial price, each in a different order.
        for (number, ticker, condition, more, initial) in [
            (1, "B", "price_above", json!({"threshold": 30}), Some("300")),
            (2, "A", "new_high", json!({}), None),
            (3, "A.B", "price_below", json!({"threshold": 9.5}), Some("99")),
            (4, "AB", "daily_reminder", json!({}), Some("1000")),
            (5, "A-B", "price_above", json!({"threshold": 100}), Some("300")),
        ] {
            let mut alert = alert_of(1, number, asked(ticker, condition, &more), 100 - i64::try_from(number).unwrap());
            alert.alert.initial_price = initial.map(price);
            add(&store, &alert).await;
        }
        let fired = |number, seconds| {
            let mut alert = any("A", number);
            alert.alert.revision = alerts::Revision(0);
            firing(&alert, seconds)
        };
        fire(&store, vec![fired(5, 60), fired(3, 120)]).await;
        assert!(pause(&store, &any("AB", 4).alert).await);
        use AlertSortField as By;
        for (field, ascending, descending) in [
            (By::CreatedAt, [5, 4, 3, 2, 1], [1, 2, 3, 4, 5]),
            (By::Symbol, [2, 5, 3, 4, 1], [1, 4, 3, 5, 2]),
            (By::Condition, [4, 2, 5, 1, 3], [3, 5, 1, 2, 4]),
            (By::Status, [2, 1, 4, 5, 3], [5, 3, 4, 2, 1]),
            (By::Threshold, [3, 1, 5, 4, 2], [5, 1, 3, 4, 2]),
            (By::TriggeredAt, [5, 3, 4, 2, 1], [3, 5, 4, 2, 1]),
            (By::InitialPrice, [3, 5, 1, 4, 2], [4, 5, 1, 3, 2]),
        ] {
            for (is_ascending, expected) in [(true, ascending), (false, descending)] {
                let sort = AlertSort { field, ascending: is_ascending };
                let (numbers, total) = list(&store, &AlertFilter::default(), sort, PAGE).await;
                assert_eq!((numbers, total), (expected.to_vec(), 5), "{field:?}, ascending: {is_ascending}");
                let followed = follow(&store, sort, expected[0]).await;
                assert_eq!(followed, expected[1..], "{field:?}, ascending: {is_ascending}");
            }
        }
    }

    async fn pages_have_no_gap_and_no_overlap(database) {
        let store = with_accounts(database, 1).await;
        add_many(&store, 25).await;
        let page = |page| PageRequest { page, limit: 10 };
        let oldest_first = AlertSort { field: AlertSortField::CreatedAt, ascending: true };
        let mut all = Vec::new();
        for (number, expected) in [(1, 10), (2, 10), (3, 5), (4, 0)] {
            let (numbers, total) = list(&store, &AlertFilter::default(), oldest_first, page(number)).await;
            assert_eq!((numbers.len(), total), (expected, 25));
            all.extend(numbers);
        }
        assert_eq!(all, (1..=25).collect::<Vec<_>>());
        let far = PageRequest { page: u32::MAX, limit: u32::MAX };
        assert_eq!(list(&store, &AlertFilter::default(), oldest_first, far).await, (vec![], 25));
    }

    async fn deleted_alert_keeps_its_place_for_the_next_page(database) {
        let store = with_accounts(database, 2).await;
        let alerts = add_many(&store, 4).await;
        assert!(delete(&store, &alerts[2].alert).await);
        assert_eq!(follow(&store, NEWEST_FIRST, 3).await, [2, 1]);
        let filter = AlertFilter { symbol: Some(symbol("AAPL")), ..AlertFilter::default() };
        let request = ListRequest::following(AlertId(uuid(3)), 1);
        let page = store.alerts(AccountId(uuid(1)), &filter, NEWEST_FIRST, request).await.unwrap();
        assert_eq!((page.items.len(), page.total), (1, 3));
        for (account, unknown) in [(1, 99), (2, 1)] {
            let request = ListRequest::following(AlertId(uuid(unknown)), 10);
            let page = store.alerts(AccountId(uuid(account)), &filter, NEWEST_FIRST, request).await;
            assert!(matches!(page, Err(ListError::UnknownItem)), "{page:?}");
        }
    }

    async fn search_ignores_case_of_symbols_and_names(database) {
        let store = with_accounts(database, 1).await;
        name_stocks(&store, &[("AAPL", "Apple Inc."), ("BMW", "Bayerische Motoren Werke ÄG")]).await;
        for (number, ticker) in [(1, "AAPL"), (2, "BMW"), (3, "ZZ.TOP")] {
            add(&store, &any(ticker, number)).await;
        }
        for (search, expected) in [
            ("apple", vec![1]), ("APPLE inc", vec![1]), ("aap", vec![1]), ("p", vec![3, 1]), ("äg", vec![2]),
            ("ÄG", vec![2]), ("zz.", vec![3]), ("", vec![3, 2, 1]), ("nothing", vec![]),
        ] {
            assert_eq!(found(&store, search).await, expected, "{search:?}");
        }
    }

    async fn search_escapes_wildcards(database) {
        let store = with_accounts(database, 1).await;
        name_stocks(&store, &[("PCT", "100% Pure"), ("UND", "Under_score"), ("BSL", r"Back\slash"), ("QUO", "Quo'te")]).await;
        for (number, ticker) in [(1, "PCT"), (2, "UND"), (3, "BSL"), (4, "QUO"), (5, "AAPL")] {
            add(&store, &any(ticker, number)).await;
        }
        for (search, expected) in [
            ("%", vec![1]), ("_", vec![2]), (r"\", vec![3]), ("'", vec![4]), ("0%", vec![1]), ("r_s", vec![2]),
            ("A%L", vec![]), ("A__L", vec![]), ("\0", vec![]), ("$5", vec![]), ("?", vec![]),
        ] {
            assert_eq!(found(&store, search).await, expected, "{search:?}");
        }
        assert_eq!(found(&store, &"x".repeat(100_000)).await, []);
    }

    async fn history_is_paged_newest_first(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 2).await.remove(0);
        assert!(pause(&store, &alert.alert).await);
        assert!(delete(&store, &now(&store, &alert).await.unwrap().alert).await);
        let page = |page| PageRequest { page, limit: 2 };
        let owner = AccountId(uuid(1));
        let first = store.history(owner, alert.alert.id, page(1)).await.unwrap().unwrap();
        let actions: Vec<_> = first.items.iter().map(|row| row.entry.action).collect();
        assert_eq!((actions, first.total), (vec![HistoryAction::Deleted, HistoryAction::Paused], 3));
        assert!(first.items.iter().all(|row| (row.alert, row.symbol) == (alert.alert.id, symbol("AAPL"))));
        let second = store.history(owner, alert.alert.id, page(2)).await.unwrap().unwrap();
        assert_eq!(second.items, [crate::support::created(&alert.alert)]);
        let third = store.history(owner, alert.alert.id, page(3)).await.unwrap().unwrap();
        assert_eq!((third.items, third.total), (vec![], 3));
    }

    async fn history_is_visible_to_owner_only(database) {
        let store = with_accounts(database, 2).await;
        let alert = add_many(&store, 1).await.remove(0);
        assert_eq!(store.history(AccountId(uuid(2)), alert.alert.id, PAGE).await.unwrap(), None);
        assert_eq!(store.history(AccountId(uuid(1)), AlertId(uuid(99)), PAGE).await.unwrap(), None);
    }
}
