//! Several processes on one database: what each of them has observed.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::date;
use market::Bar;
use market::records::BarRow;
use serde_json::json;
use store::Store;
use store::model::{EvaluationCommit, Firing, FiringComposer, FiringResult, LatestQuote, StoredAlert};
use testkit::on_both_databases;

use crate::firings::{firing, quote};
use crate::support::{add, alert_of, asked, at, open, price, symbol, with_accounts};

async fn observe(store: &Store, quote: LatestQuote) -> LatestQuote {
    let commit = EvaluationCommit {
        quotes: vec![quote],
        ..EvaluationCommit::default()
    };
    store
        .commit_evaluation(commit, Arc::new(PriceMadeAt(None)))
        .await
        .unwrap();
    store.latest_quotes().await.unwrap().remove(0)
}

fn with_extremes(high: &str, low: &str, quote: LatestQuote) -> LatestQuote {
    LatestQuote {
        high: price(high),
        low: price(low),
        ..quote
    }
}

/// Composes firings by a price that was made at an instant.
struct PriceMadeAt(Option<Timestamp>);

impl FiringComposer for PriceMadeAt {
    fn data(&self, _: &StoredAlert, _: &Firing) -> String {
        "{}".to_owned()
    }

    fn price_made_at(&self, _: &StoredAlert, _: &Firing) -> Option<Timestamp> {
        self.0
    }
}

async fn fires(store: &Store, alert: &StoredAlert, made_at: Option<Timestamp>) -> bool {
    let commit = EvaluationCommit {
        firings: vec![firing(alert, 70)],
        ..EvaluationCommit::default()
    };
    let outcome = store.commit_evaluation(commit, Arc::new(PriceMadeAt(made_at))).await;
    matches!(outcome.unwrap().firings[..], [FiringResult::Fired(_)])
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
        assert_eq!(observe(&store, next.clone()).await, next);
        // The last session has ended.
        assert_eq!(observe(&store, with_extremes("500", "80", quote("AAPL", "204", 62))).await, next);
    }

    async fn observed_bar_has_the_extremes_that_any_process_has_observed(database) {
        let store = open(database).await;
        let bar = |high: &str, low: &str| BarRow {
            symbol: symbol("AAPL"),
            bar: Bar::checked(date(2024, 7, 1), price("190"), price(high), price(low), price("195"), 1_000).unwrap(),
        };
        for row in [bar("310", "150"), bar("305", "90")] {
            let record = store.commit(row, |row, unit| Box::pin(unit.record_observed_bars(std::slice::from_ref(row))));
            record.await.unwrap();
        }
        let stored = store.bars(symbol("AAPL"), date(2024, 7, 1)).await.unwrap();
        assert_eq!(stored, [bar("310", "90").bar]);
    }

    async fn price_from_before_an_activation_fires_unless_a_later_one_was_judged(database) {
        let store = with_accounts(database, 1).await;
        let mut alerts = Vec::new();
        for number in 1..=4 {
            let alert = alert_of(1, number, asked("AAPL", "price_above", &json!({"threshold": 100 + number})), 50);
            add(&store, &alert).await;
            alerts.push(alert);
        }
        observe(&store, LatestQuote { made_at: Some(at(40)), ..quote("AAPL", "200", 60) }).await;
        assert!(fires(&store, &alerts[0], Some(at(40))).await, "no later price was judged");
        observe(&store, LatestQuote { made_at: Some(at(60)), ..quote("AAPL", "200", 61) }).await;
        assert!(fires(&store, &alerts[1], Some(at(50))).await, "the price was made after the activation");
        // Only PostgreSQL can have another process.
        assert_eq!(fires(&store, &alerts[2], Some(at(49))).await, !store.is_shared());
        assert!(fires(&store, &alerts[3], None).await, "no price made it fire");
    }
}
