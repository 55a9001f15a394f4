//! The newest prices in extended hours.

use jiff::civil::date;
use store::model::{EvaluationCommit, LatestExtendedPrice};
use testkit::on_both_databases;

use crate::firings::composer;
use crate::support::{at, open, price, symbol};

fn newest(name: &str, last: &str, seconds: i64) -> LatestExtendedPrice {
    LatestExtendedPrice {
        symbol: symbol(name),
        session: date(2024, 7, 2),
        price: price(last),
        at: at(seconds),
        bid: Some(price("189.5")),
        ask: None,
    }
}

on_both_databases! {
    async fn last_price_of_each_stock_replaces_the_one_before(database) {
        let store = open(database).await;
        for (prices, expected) in [
            (vec![newest("MSFT", "1", 60), newest("AAPL", "2", 60), newest("AAPL", "3", 60)], vec![newest("AAPL", "3", 60), newest("MSFT", "1", 60)]),
            // A clock that was ahead does not keep its price.
            (vec![newest("AAPL", "4", 59)], vec![newest("AAPL", "4", 59), newest("MSFT", "1", 60)]),
        ] {
            let commit = EvaluationCommit { extended_prices: prices, ..EvaluationCommit::default() };
            store.commit_evaluation(commit, composer()).await.unwrap();
            assert_eq!(store.latest_extended_prices().await.unwrap(), expected);
        }
    }
}
