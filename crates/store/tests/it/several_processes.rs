//! Several processes on one database: what each of them has observed.

use jiff::civil::date;
use market::Bar;
use market::records::BarRow;
use store::Store;
use store::model::{EvaluationCommit, LatestQuote};
use testkit::on_both_databases;

use crate::firings::{composer, quote};
use crate::support::{open, price, symbol};

async fn observe(store: &Store, quote: LatestQuote) -> LatestQuote {
    let commit = EvaluationCommit {
        quotes: vec![quote],
        ..EvaluationCommit::default()
    };
    store.commit_evaluation(commit, composer()).await.unwrap();
    store.latest_quotes().await.unwrap().remove(0)
}

fn with_extremes(high: &str, low: &str, quote: LatestQuote) -> LatestQuote {
    LatestQuote {
        high: price(high),
        low: price(low),
        ..quote
    }
}

on_both_databases! {
    async fn session_has_the_extremes_that_any_process_has_observed(database) {
        let store = open(database).await;
        observe(&store, with_extremes("310", "150", quote("AAPL", "200", 60))).await;
        let merged = observe(&store, with_extremes("305", "90", quote("AAPL", "201", 61))).await;
        assert_eq!(merged, with_extremes("310", "90", quote("AAPL", "201", 61)));
        // A process that is behind knows an extreme, and no later price.
        let merged = observe(&store, with_extremes("400", "100", quote("AAPL", "202", 50))).await;
        assert_eq!(merged, with_extremes("400", "90", quote("AAPL", "201", 61)));
        let next = LatestQuote { session: date(2024, 7, 2), ..quote("AAPL", "203", 90_000) };
        assert_eq!(observe(&store, next).await, next);
        // The last session has ended.
        assert_eq!(observe(&store, with_extremes("500", "80", quote("AAPL", "204", 62))).await, next);
    }

    async fn observed_bar_has_the_extremes_that_any_process_has_observed(database) {
        let store = open(database).await;
        let bar = |high: &str, low: &str| BarRow {
            symbol: symbol("AAPL"),
            bar: Bar {
                date: date(2024, 7, 1),
                open: price("190"),
                high: price(high),
                low: price(low),
                close: price("195"),
                volume: 1_000,
            },
        };
        for row in [bar("310", "150"), bar("305", "90")] {
            let record = store.commit(row, |row, unit| Box::pin(unit.record_observed_bars(std::slice::from_ref(row))));
            record.await.unwrap();
        }
        let stored = store.bars(symbol("AAPL"), date(2024, 7, 1)).await.unwrap();
        assert_eq!(stored, [bar("310", "90").bar]);
    }
}
