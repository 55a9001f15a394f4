//! Rows that are dated in the future, because the clock was ahead when they were written.

use jiff::SignedDuration;
use jiff::civil::date;
use market::Bar;
use market::records::{BarRow, Batch};
use store::Store;
use store::model::{
    AccountId, EvaluationCommit, LatestQuote, MessageChannel, MessageVerdict, SupersededQuote, WatchlistItemId,
};
use testkit::on_both;

use crate::deliveries::{claim, fired};
use crate::firings::{composer, quote};
use crate::messages;
use crate::support::{at, boxed, open, price, symbol, uuid, work};

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
    let batch = Batch {
        bars,
        ..Batch::default()
    };
    let recorded = store.write(work(move |unit| {
        let batch = batch.clone();
        boxed(async move { Ok(unit.record_market(&batch).await?) })
    }));
    recorded.await.unwrap();
}

async fn record_observed(store: &Store, days: [i8; 2]) {
    let bars = days.map(bar).to_vec();
    let recorded = store.write(work(move |unit| {
        let bars = bars.clone();
        boxed(async move { Ok(unit.replace_observed_bars(&bars).await?) })
    }));
    recorded.await.unwrap();
}

/// Claims the only message a day ahead, and settles it.
async fn settle_a_day_ahead(store: &Store, outcome: &str, verdict: MessageVerdict) {
    let claimed = messages::claim(store, MessageChannel::Email, DAY_S, 1).await;
    assert_eq!(claimed.len(), 1);
    let settled = vec![messages::settled(&claimed[0], outcome, verdict)];
    store
        .settle_messages(MessageChannel::Email, settled, at(DAY_S))
        .await
        .unwrap();
}

async fn ask_the_analyst(store: &Store, seconds: i64) {
    let asked = store.write(work(move |unit| {
        let item = WatchlistItemId(uuid(1));
        boxed(async move { Ok(unit.ask_analyst(item, AccountId(uuid(2)), at(seconds)).await?) })
    }));
    asked.await.unwrap();
}

/// Replaces an observation of day 2 by one of day 1.
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

on_both! {
    async fn present_observation_replaces_a_later_one_only_if_that_is_superseded(database) {
        let store = open(database).await;
        record_observed(&store, [1, 2]).await;
        let quotes = supersede(&store, 2).await;
        assert_eq!(quotes, [quote("AAPL", "2", 60), quote("MSFT", "3", DAY_S)]);
        assert_eq!(bar_dates(&store).await, [1], "the session of the 2nd goes on");
    }

    async fn bar_that_is_not_the_last_one_stays_whatever_is_superseded(database) {
        let store = open(database).await;
        record_observed(&store, [1, 2]).await;
        supersede(&store, 1).await;
        assert_eq!(bar_dates(&store).await, [1, 2]);
    }

    async fn delivered_bar_stays_whatever_is_superseded(database) {
        let store = open(database).await;
        record_bars(&store, [1, 2]).await;
        let quotes = supersede(&store, 2).await;
        assert_eq!(quotes[0], quote("AAPL", "2", 60));
        assert_eq!(bar_dates(&store).await, [1, 2]);
    }

    async fn message_that_was_put_off_by_a_clock_ahead_is_due_now(database) {
        let (store, _) = fired(database, 1).await;
        settle_a_day_ahead(&store, "timeout", MessageVerdict::Retry { at: at(DAY_S + 60) }).await;
        store.bring_back_from_future(at(2)).await.unwrap();
        assert_eq!(messages::claim(&store, MessageChannel::Email, 2, 2).await.len(), 1);
    }

    async fn message_that_waits_for_the_end_of_quiet_hours_waits_on(database) {
        let (store, _) = fired(database, 1).await;
        let until = at(DAY_S + 8 * 3_600);
        settle_a_day_ahead(&store, "quiet_hours", MessageVerdict::PutOff { until }).await;
        store.bring_back_from_future(at(DAY_S)).await.unwrap();
        assert_eq!(messages::claim(&store, MessageChannel::Email, DAY_S, 2).await.len(), 0);
        // No quiet hours last so long.
        store.bring_back_from_future(at(2)).await.unwrap();
        assert_eq!(messages::claim(&store, MessageChannel::Email, 2, 3).await.len(), 1);
    }

    async fn message_and_analysis_that_a_clock_ahead_has_leased_are_due_now(database) {
        let (store, _) = fired(database, 1).await;
        assert_eq!(messages::claim(&store, MessageChannel::Email, DAY_S, 1).await.len(), 1);
        ask_the_analyst(&store, 0).await;
        let minute = SignedDuration::from_secs(60);
        let claim = async |now| store.claim_analyses(now, now + minute, 10).await.unwrap().len();
        assert_eq!(claim(at(DAY_S)).await, 1);
        store.bring_back_from_future(at(2)).await.unwrap();
        assert_eq!(messages::claim(&store, MessageChannel::Email, 2, 2).await.len(), 1);
        assert_eq!(claim(at(2)).await, 1);
        store.bring_back_from_future(at(3)).await.unwrap();
        assert_eq!(claim(at(3)).await, 0, "it is held");
    }

    async fn analysis_asked_for_by_a_clock_ahead_is_due_now(database) {
        let store = open(database).await;
        ask_the_analyst(&store, DAY_S).await;
        store.bring_back_from_future(at(0)).await.unwrap();
        let until = at(60);
        assert_eq!(store.claim_analyses(at(0), until, 10).await.unwrap().len(), 1);
    }

    async fn quote_is_kept_with_the_time_at_which_it_was_made(database) {
        let store = open(database).await;
        let made_at = Some(at(50) + SignedDuration::from_millis(123));
        for made_at in [None, made_at, None] {
            let quote = LatestQuote { made_at, ..quote("AAPL", "2", 60) };
            let commit = EvaluationCommit { quotes: vec![quote], ..EvaluationCommit::default() };
            store.commit_evaluation(commit, composer()).await.unwrap();
            assert_eq!(store.latest_quotes().await.unwrap(), [quote]);
        }
    }

    async fn clock_mark_in_the_future_comes_back_and_one_of_the_past_stays(database) {
        let store = open(database).await;
        let mark = EvaluationCommit { clock: Some(at(60)), ..EvaluationCommit::default() };
        store.commit_evaluation(mark, composer()).await.unwrap();
        store.bring_back_from_future(at(60)).await.unwrap();
        store.bring_back_from_future(at(61)).await.unwrap();
        assert_eq!(store.clock().await.unwrap(), Some(at(60)));
        store.bring_back_from_future(at(59)).await.unwrap();
        assert_eq!(store.clock().await.unwrap(), Some(at(59)));
    }

    async fn messages_and_deliveries_queued_in_the_future_are_due_now(database) {
        // The firing is dated one second after the beginning.
        let (store, _) = fired(database, 1).await;
        assert_eq!(claim(&store, 0, 1, 10).await.len(), 0);
        assert_eq!(messages::claim(&store, MessageChannel::Email, 0, 1).await.len(), 0);
        store.bring_back_from_future(at(0)).await.unwrap();
        assert_eq!(claim(&store, 0, 2, 10).await.len(), 1);
        assert_eq!(messages::claim(&store, MessageChannel::Email, 0, 2).await.len(), 1);
    }

    async fn lease_ends_that_lies_further_ahead_than_any_lease_lasts(database) {
        let (store, _) = fired(database, 1).await;
        // It is claimed until a minute after that day.
        assert_eq!(claim(&store, DAY_S, 1, 10).await.len(), 1);
        let soon = at(DAY_S + 60) - SignedDuration::from_hours(2);
        store.bring_back_from_future(soon).await.unwrap();
        assert_eq!(claim(&store, DAY_S - 7_140, 2, 10).await.len(), 0, "it may be held so long");
        store.bring_back_from_future(soon - SignedDuration::from_secs(1)).await.unwrap();
        assert_eq!(claim(&store, DAY_S - 7_140, 2, 10).await.len(), 1);
    }
}
