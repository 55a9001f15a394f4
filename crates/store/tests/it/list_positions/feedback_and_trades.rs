//! Feedback and paper trades.

use alerts::Intention;
use store::Store;
use store::model::{
    AccountId, Feedback, FeedbackCategory, FeedbackId, ListRequest, PaperTrade, PaperTradeId, TimedPrice,
    WatchlistItemId,
};
use testkit::on_both_databases;

use super::{OTHER, OWNER, assert_unknown, check, check_while_it_changes};
use crate::support::{at, price, symbol, uuid, with_accounts};

async fn give_feedback(store: &Store, number: u128) {
    let feedback = Feedback {
        id: FeedbackId(uuid(number)),
        account: OWNER,
        title: "title".to_owned(),
        body: "body".to_owned(),
        category: FeedbackCategory::Other,
        likes: 0,
        created_at: at(0),
    };
    let inserted = store.commit(feedback, |feedback, unit| Box::pin(unit.insert_feedback(feedback)));
    inserted.await.unwrap();
}

async fn like(store: &Store, account: AccountId, number: u128) {
    let liked = store.commit((account, FeedbackId(uuid(number))), |(account, id), unit| {
        Box::pin(unit.like_feedback(*account, *id, true))
    });
    assert!(liked.await.unwrap().is_some());
}

async fn open_trade(store: &Store, account: AccountId, number: u128) {
    let trade = PaperTrade {
        id: PaperTradeId(uuid(number)),
        account,
        item: WatchlistItemId(uuid(number)),
        symbol: symbol("AAPL"),
        intention: Intention::Buy,
        notional: price("1000").decimal(),
        entry: TimedPrice {
            price: price("200"),
            at: at(0),
        },
        exit: None,
    };
    let inserted = store.commit(trade, |trade, unit| Box::pin(unit.insert_paper_trade(trade)));
    inserted.await.unwrap();
}

on_both_databases! {
    async fn feedback_after_an_entry_continues_the_pages(database) {
        let store = with_accounts(database, 3).await;
        check(&[], async |request: ListRequest<FeedbackId>| store.feedback(OWNER, request).await.unwrap(), |entry| entry.feedback.id).await;
        for number in 1..=12 {
            give_feedback(&store, number).await;
        }
        for (account, number) in [(1, 3), (2, 3), (3, 3), (1, 7), (2, 7), (1, 2), (2, 9), (3, 12)] {
            like(&store, AccountId(uuid(account)), number).await;
        }
        let expected = [3, 7, 12, 9, 2, 11, 10, 8, 6, 5, 4, 1].map(|number| FeedbackId(uuid(number)));
        let read = async |request: ListRequest<FeedbackId>| {
            store.feedback(OWNER, request).await.unwrap().map(|entry| entry.feedback.id)
        };
        check(&expected, read, |id| *id).await;
        let mut number = 100;
        check_while_it_changes(&expected[..5], async |request| read(request).await.items, async || {
            number += 1;
            give_feedback(&store, number).await;
        }).await;
        assert_unknown(store.feedback(OWNER, ListRequest::following(FeedbackId(uuid(99)), 1)).await);
    }

    async fn paper_trades_behind_a_trade_continue_the_pages(database) {
        let store = with_accounts(database, 2).await;
        for number in 1..=9 {
            open_trade(&store, OWNER, number).await;
        }
        open_trade(&store, OTHER, 50).await;
        let expected: Vec<PaperTradeId> = (1..=9).rev().map(|number| PaperTradeId(uuid(number))).collect();
        let read = async |request: ListRequest<PaperTradeId>| {
            store.paper_trades(OWNER, request).await.unwrap().map(|trade| trade.id)
        };
        check(&expected, read, |id| *id).await;
        let mut number = 100;
        check_while_it_changes(&expected, async |request| read(request).await.items, async || {
            number += 1;
            open_trade(&store, OWNER, number).await;
        }).await;
        for number in [50, 99] {
            assert_unknown(store.paper_trades(OWNER, ListRequest::following(PaperTradeId(uuid(number)), 1)).await);
        }
    }
}
