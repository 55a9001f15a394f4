//! Rows dated in the future, because the clock was ahead when they were written.

use jiff::SignedDuration;
use jiff::civil::date;
use market::Bar;
use market::records::{BarRow, Batch};
use store::Store;
use store::model::{
    AccountId, EvaluationCommit, LatestQuote, MessageChannel, SettlementDecision, SupersededQuote, WatchlistItemId,
};
use testkit::on_both_databases;

use crate::deliveries::{claim, fired};
use crate::firings::{composer, quote};
use crate::messages;
use crate::support::{at, open, price, symbol, uuid};

const DAY_S: i64 = 86_400;

fn bar(day: i8) -> BarRow {
    let all = price("190");
    BarRow {
        symbol: symbol("AAPL"),
        bar: Bar {
            date: date(2024, 7, day),
            open: all,
            high: all,
            low: all,
            close: all,
            volume: 1,
        },
    }
}

async fn record_bars(store: &Store, days: [i8; 2]) {
    let bars = days.map(bar).to_vec();
    crate::market::record(
        store,
        Batch {
            bars,
            ..Batch::default()
        },
    )
    .await;
}

async fn record_observed(store: &Store, days: [i8; 2]) {
    let bars = days.map(bar).to_vec();
    let recorded = store.commit(bars, |bars, unit| Box::pin(unit.replace_observed_bars(bars)));
    recorded.await.unwrap();
}

/// Claims the only message one day ahead and settles it.
async fn settle_a_day_ahead(store: &Store, outcome: &str, decision: SettlementDecision) {
    let claimed = messages::claim(store, MessageChannel::Email, DAY_S, 1).await;
    assert_eq!(claimed.len(), 1);
    let settled = vec![messages::settled(&claimed[0], outcome, decision)];
    store
        .settle_messages(MessageChannel::Email, settled, at(DAY_S))
        .await
        .unwrap();
}

async fn ask_the_analyst(store: &Store, seconds: i64) {
    let (item, account) = (WatchlistItemId(uuid(1)), AccountId(uuid(2)));
    let asked = store.commit((), move |(), unit| {
        Box::pin(unit.request_analysis(item, account, at(seconds)))
    });
    asked.await.unwrap();
}

/// Replaces a quote of day 2 by one of day 1.
async fn supersede(store: &Store, unfinished_bar: i8) -> Vec<LatestQuote> {
    let commit = |quotes, superseded| EvaluationCommit {
        quotes,
        superseded,
        ..EvaluationCommit::default()
    };
    let later = commit(vec![quote("AAPL", "3", DAY_S), quote("MSFT", "3", DAY_S)], vec![]);
    store.commit_evaluation(later, composer()).await.unwrap();
    let superseded = SupersededQuote {
        symbol: symbol("AAPL"),
        unfinished_bar: Some(date(2024, 7, unfinished_bar)),
    };
    let present = commit(vec![quote("AAPL", "2", 60), quote("MSFT", "2", 60)], vec![superseded]);
    store.commit_evaluation(present, composer()).await.unwrap();
    store.latest_quotes().await.unwrap()
}

async fn bar_dates(store: &Store) -> Vec<i8> {
    let bars = store.bars(symbol("AAPL"), date(2024, 1, 1)).await.unwrap();
    bars.iter().map(|bar| bar.date.day()).collect()
}

on_both_databases! {
    async fn current_quote_replaces_future_quote_only_if_superseded(database) {
        let store = open(database).await;
        record_observed(&store, [1, 2]).await;
        let quotes = supersede(&store, 2).await;
        assert_eq!(quotes, [quote("AAPL", "2", 60), quote("MSFT", "3", DAY_S)]);
        assert_eq!(bar_dates(&store).await, [1], "the session of the 2nd goes on");
    }

    async fn superseded_quote_is_removed_without_another_quote(database) {
        let store = open(database).await;
        let later = EvaluationCommit { quotes: vec![quote("AAPL", "3", DAY_S)], ..EvaluationCommit::default() };
        store.commit_evaluation(later, composer()).await.unwrap();
        let superseded = SupersededQuote { symbol: symbol("AAPL"), unfinished_bar: None };
        let commit = EvaluationCommit { superseded: vec![superseded], ..EvaluationCommit::default() };
        store.commit_evaluation(commit, composer()).await.unwrap();
        assert_eq!(store.latest_quotes().await.unwrap(), []);
    }

    async fn superseded_quote_keeps_bar_that_is_not_the_last(database) {
        let store = open(database).await;
        record_observed(&store, [1, 2]).await;
        supersede(&store, 1).await;
        assert_eq!(bar_dates(&store).await, [1, 2]);
    }

    async fn superseded_quote_keeps_delivered_bar(database) {
        let store = open(database).await;
        record_bars(&store, [1, 2]).await;
        let quotes = supersede(&store, 2).await;
        assert_eq!(quotes[0], quote("AAPL", "2", 60));
        assert_eq!(bar_dates(&store).await, [1, 2]);
    }

    async fn message_postponed_by_fast_clock_is_due_now(database) {
        let (store, _) = fired(database, 1).await;
        settle_a_day_ahead(&store, "timeout", SettlementDecision::Retry { at: at(DAY_S + 60) }).await;
        store.reschedule_future_rows(at(2)).await.unwrap();
        assert_eq!(messages::claim(&store, MessageChannel::Email, 2, 2).await.len(), 1);
    }

    async fn message_postponed_by_quiet_hours_keeps_waiting(database) {
        let (store, _) = fired(database, 1).await;
        let until = at(DAY_S + 8 * 3_600);
        settle_a_day_ahead(&store, "quiet_hours", SettlementDecision::Postponed { until }).await;
        store.reschedule_future_rows(at(DAY_S)).await.unwrap();
        assert_eq!(messages::claim(&store, MessageChannel::Email, DAY_S, 2).await.len(), 0);
        // No quiet hours last that long.
        store.reschedule_future_rows(at(2)).await.unwrap();
        assert_eq!(messages::claim(&store, MessageChannel::Email, 2, 3).await.len(), 1);
    }

    async fn leases_of_fast_clock_on_message_and_analysis_end_now(database) {
        let (store, _) = fired(database, 1).await;
        assert_eq!(messages::claim(&store, MessageChannel::Email, DAY_S, 1).await.len(), 1);
        ask_the_analyst(&store, 0).await;
        let minute = SignedDuration::from_secs(60);
        let claim = async |now| store.claim_analyses(now, now + minute, 10).await.unwrap().len();
        assert_eq!(claim(at(DAY_S)).await, 1);
        store.reschedule_future_rows(at(2)).await.unwrap();
        assert_eq!(messages::claim(&store, MessageChannel::Email, 2, 2).await.len(), 1);
        assert_eq!(claim(at(2)).await, 1);
        store.reschedule_future_rows(at(3)).await.unwrap();
        assert_eq!(claim(at(3)).await, 0, "it is held");
    }

    async fn analysis_requested_by_fast_clock_is_due_now(database) {
        let store = open(database).await;
        ask_the_analyst(&store, DAY_S).await;
        store.reschedule_future_rows(at(0)).await.unwrap();
        let until = at(60);
        assert_eq!(store.claim_analyses(at(0), until, 10).await.unwrap().len(), 1);
    }

    async fn quote_is_stored_with_its_creation_time(database) {
        let store = open(database).await;
        let made_at = Some(at(50) + SignedDuration::from_millis(123));
        for made_at in [None, made_at, None] {
            let quote = LatestQuote { made_at, ..quote("AAPL", "2", 60) };
            let commit = EvaluationCommit { quotes: vec![quote], ..EvaluationCommit::default() };
            store.commit_evaluation(commit, composer()).await.unwrap();
            assert_eq!(store.latest_quotes().await.unwrap(), [quote]);
        }
    }

    async fn future_clock_mark_is_reset_and_past_one_stays(database) {
        let store = open(database).await;
        let mark = EvaluationCommit { clock: Some(at(60)), ..EvaluationCommit::default() };
        store.commit_evaluation(mark, composer()).await.unwrap();
        store.reschedule_future_rows(at(60)).await.unwrap();
        store.reschedule_future_rows(at(61)).await.unwrap();
        assert_eq!(store.clock().await.unwrap(), Some(at(60)));
        store.reschedule_future_rows(at(59)).await.unwrap();
        assert_eq!(store.clock().await.unwrap(), Some(at(59)));
    }

    async fn messages_and_deliveries_queued_in_the_future_are_due_now(database) {
        // The firing is dated one second after the start.
        let (store, _) = fired(database, 1).await;
        assert_eq!(claim(&store, 0, 1, 10).await.len(), 0);
        assert_eq!(messages::claim(&store, MessageChannel::Email, 0, 1).await.len(), 0);
        store.reschedule_future_rows(at(0)).await.unwrap();
        assert_eq!(claim(&store, 0, 2, 10).await.len(), 1);
        assert_eq!(messages::claim(&store, MessageChannel::Email, 0, 2).await.len(), 1);
    }

    async fn lease_beyond_maximum_is_ended(database) {
        let (store, _) = fired(database, 1).await;
        // It is claimed until a minute after that day.
        assert_eq!(claim(&store, DAY_S, 1, 10).await.len(), 1);
        let soon = at(DAY_S + 60) - SignedDuration::from_hours(2);
        store.reschedule_future_rows(soon).await.unwrap();
        assert_eq!(claim(&store, DAY_S - 7_140, 2, 10).await.len(), 0, "it may be held so long");
        store.reschedule_future_rows(soon - SignedDuration::from_secs(1)).await.unwrap();
        assert_eq!(claim(&store, DAY_S - 7_140, 2, 10).await.len(), 1);
    }
}
