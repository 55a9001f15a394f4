//! Histories of alerts, and firings of accounts.

use alerts::HistoryAction;
use alerts::transition::{HistoryStatus, StatusChange};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use store::Store;
use store::model::{HistoryPosition, HistoryRow, ListRequest, Page, PageRequest, ScopeRole, StoredAlert};
use testkit::on_both_databases;

use super::{OTHER, OWNER, assert_unknown, check, check_while_it_changes};
use crate::firings::{fire, firing};
use crate::support::{add, add_many, alert_of, asked_price, at, with_accounts};
use crate::totals::{add_over_many_stocks, tamper};

fn entry(alert: &StoredAlert, action: HistoryAction, seconds: i64) -> HistoryRow {
    HistoryRow {
        alert: alert.alert.id,
        symbol: alert.alert.symbol,
        entry: StatusChange {
            action,
            previous_status: Some(alert.alert.status),
            new_status: HistoryStatus::Of(alert.alert.status),
        },
        at: at(seconds),
        price: None,
        details: None,
    }
}

async fn append(store: &Store, row: &HistoryRow) {
    let appended = store.commit(row.clone(), |row, unit| Box::pin(unit.append_history(row)));
    appended.await.unwrap();
}

async fn history(
    store: &Store,
    alert: &StoredAlert,
    since: Option<i64>,
    request: ListRequest<HistoryPosition>,
) -> Page<(HistoryPosition, HistoryRow)> {
    let since = since.map(at);
    let page = store.history_since(OWNER, alert.alert.id, since, request).await;
    page.unwrap().unwrap().map(|listed| (listed.position, listed.row))
}

/// The ids of an alert's entries, all on one page.
async fn entry_ids(store: &Store, alert: &StoredAlert) -> Vec<HistoryPosition> {
    let all = PageRequest { page: 1, limit: 1_000 };
    let page = history(store, alert, None, all.into()).await;
    page.items.into_iter().map(|(id, _)| id).collect()
}

on_both_databases! {
    async fn history_after_an_entry_continues_the_pages(database) {
        use HistoryAction::{NotEvaluated, NotificationSent, Paused, Triggered, Updated};
        let store = with_accounts(database, 2).await;
        let single = add_many(&store, 1).await.remove(0);
        let (parent, members) = add_over_many_stocks(&store, 100, 3).await;
        let mut random = ChaCha8Rng::seed_from_u64(7);
        // The entries that each of the two alerts shows, oldest first.
        let mut shown = [vec![], vec![]];
        for (alert, shown) in [&single, &parent].into_iter().zip(&mut shown) {
            shown.push(crate::support::created(&alert.alert));
        }
        for _ in 0..60 {
            let action = [Triggered, NotEvaluated, NotificationSent, Paused, Updated][random.random_range(0..5)];
            // Many entries have the same time, and some are older than the entries before them.
            let seconds = random.random_range(0..4);
            let (alert, of) = match random.random_range(0..5) {
                0 | 1 => (&single, Some(0)),
                2 => (&parent, Some(1)),
                member => (&members[member - 3], [Triggered, NotEvaluated, NotificationSent].contains(&action).then_some(1)),
            };
            let row = entry(alert, action, seconds);
            append(&store, &row).await;
            if let Some(of) = of {
                let owner = [&single, &parent][of].alert.id;
                shown[of].push(HistoryRow { alert: owner, ..row });
            }
        }
        for (alert, shown) in [&single, &parent].into_iter().zip(shown) {
            for since in [None, Some(2), Some(1_000)] {
                let expected = shown.iter().rev().filter(|row| since.is_none_or(|since| row.at >= at(since)));
                let expected: Vec<_> = expected.cloned().collect();
                let read = async |request| history(&store, alert, since, request).await;
                let all = read(PageRequest { page: 1, limit: 1_000 }.into()).await.items;
                assert_eq!(all.iter().map(|(_, row)| row.clone()).collect::<Vec<_>>(), expected);
                check(&all, read, |(id, _)| *id).await;
            }
            let stable = entry_ids(&store, alert).await;
            let read = async |request| history(&store, alert, None, request).await.items.into_iter().map(|(id, _)| id).collect();
            check_while_it_changes(&stable, read, async || append(&store, &entry(alert, Updated, 1)).await).await;
        }
    }

    async fn entries_from_before_the_migration_are_in_the_history_of_their_alert(database) {
        const SQLITE: &str = include_str!("../../../migrations/sqlite/0030_list_positions.sql");
        let store = with_accounts(database, 1).await;
        let (parent, members) = add_over_many_stocks(&store, 100, 2).await;
        for (number, member) in (1..).zip(&members) {
            append(&store, &entry(member, HistoryAction::Paused, 1)).await;
            fire(&store, vec![firing(member, number)]).await;
        }
        let before = entry_ids(&store, &parent).await;
        assert_eq!(before.len(), 3);
        tamper(database, "UPDATE history SET parent_seq = NULL").await;
        assert_eq!(entry_ids(&store, &parent).await.len(), 1);
        let update = SQLITE.split(';').map(str::trim).find(|statement| statement.starts_with("UPDATE")).unwrap();
        tamper(database, update).await;
        assert_eq!(entry_ids(&store, &parent).await, before);
    }

    async fn history_after_an_entry_of_another_alert_is_refused(database) {
        let store = with_accounts(database, 2).await;
        let alerts = add_many(&store, 2).await;
        let (parent, members) = add_over_many_stocks(&store, 100, 1).await;
        let known = entry_ids(&store, &alerts[0]).await[0];
        let unshown = entry_ids(&store, &members[0]).await[0];
        for (alert, after) in [(&alerts[1], known), (&alerts[0], HistoryPosition(99)), (&alerts[0], HistoryPosition(i64::MAX)), (&parent, unshown)] {
            assert_unknown(store.history_since(OWNER, alert.alert.id, None, ListRequest::following(after, 1)).await);
        }
        assert_unknown(store.firings_of_account(OWNER, None, ListRequest::following(known, 1)).await);
        // The oldest entry, and the history of a deleted alert.
        assert!(crate::support::delete(&store, &alerts[0].alert).await);
        assert_eq!(history(&store, &alerts[0], None, ListRequest::following(known, 5)).await.items, []);
        let deletion = entry_ids(&store, &alerts[0]).await[0];
        let rest = history(&store, &alerts[0], None, ListRequest::following(deletion, 5)).await;
        assert_eq!((rest.items.len(), rest.items[0].0, rest.total), (1, known, 2));
    }

    async fn firings_behind_a_firing_continue_the_pages(database) {
        let store = with_accounts(database, 2).await;
        let singles = add_many(&store, 20).await;
        let (parent, members) = add_over_many_stocks(&store, 100, 10).await;
        let theirs = alert_of(2, 200, asked_price(5), 0);
        add(&store, &theirs).await;
        let mut expected = Vec::new();
        for (number, alert) in singles.iter().chain(&members).enumerate() {
            let seconds = i64::try_from(number / 7 % 3).unwrap();
            fire(&store, vec![firing(alert, seconds)]).await;
            let shown = if alert.role == ScopeRole::Single { alert } else { &parent };
            expected.insert(0, (shown.alert.id, at(seconds)));
            if number == 9 {
                fire(&store, vec![firing(&theirs, 0)]).await;
            }
        }
        let all = PageRequest { page: 1, limit: 1_000 };
        let read = async |since: Option<i64>, account, request: ListRequest<HistoryPosition>| {
            let page = store.firings_of_account(account, since.map(at), request).await.unwrap();
            page.map(|listed| (listed.position, listed.row.alert, listed.row.at))
        };
        for since in [None, Some(1), Some(2), Some(9)] {
            let expected: Vec<_> = expected.iter().copied().filter(|(_, fired)| since.is_none_or(|since| *fired >= at(since))).collect();
            let listed = read(since, OWNER, all.into()).await.items;
            assert_eq!(listed.iter().map(|(_, alert, fired)| (*alert, *fired)).collect::<Vec<_>>(), expected);
            check(&listed, async |request| read(since, OWNER, request).await, |(id, ..)| *id).await;
        }
        let of_another = read(None, OTHER, all.into()).await.items[0].0;
        assert_unknown(store.firings_of_account(OWNER, None, ListRequest::following(of_another, 1)).await);
        // The history of the alert over many stocks has the firings of its members.
        let fired = history(&store, &parent, None, all.into()).await;
        assert_eq!(fired.total, 11);
    }
}
