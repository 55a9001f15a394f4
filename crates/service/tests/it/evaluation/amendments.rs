//! Amendments of insider filings, which withdraw the original.

use alerts::{AlertId, Plan, Status};
use foundation::Actor;
use jiff::civil::{Date, date};
use market::Decimal;
use market::records::{Batch, InsiderRow, TransactionSide, WithdrawnFiling};
use serde_json::json;

use crate::support::{TestApp, on_each_database, symbol};

on_each_database! {
    both_filings_count_without_an_amendment
    amendment_that_lowers_the_amount_prevents_a_firing
    withdrawn_filing_does_not_count_again_without_its_amendment
    amendment_counts_without_the_original
    amendment_keeps_filings_of_other_insiders
    undated_filing_is_found_by_its_period
    repeated_amendment_changes_nothing
    amendment_without_trades_withdraws_the_whole_filing
    future_amendment_withdraws_nothing
}

/// Friday.
const TODAY: Date = date(2024, 3, 8);

fn trade(insider: &str, filed: i8, dollars: i64) -> InsiderRow {
    InsiderRow {
        symbol: symbol("AAPL"),
        filed_on: date(2024, 3, filed),
        traded_on: Some(date(2024, 3, 4)),
        insider: insider.to_owned(),
        code: 'P',
        side: TransactionSide::Buy,
        shares: Decimal::from_units(dollars / 100).unwrap(),
        price: Decimal::from_units(100).unwrap(),
    }
}

/// Jane's filing of the 6th, amended today.
fn withdrawn() -> WithdrawnFiling {
    WithdrawnFiling {
        symbol: symbol("AAPL"),
        insider: "DOE JANE".to_owned(),
        filed_on: Some(date(2024, 3, 6)),
        traded_from: Some(date(2024, 3, 4)),
        amended_on: TODAY,
    }
}

fn filing(trades: Vec<InsiderRow>) -> Batch {
    Batch {
        insider_transactions: trades,
        ..Batch::default()
    }
}

fn amendment(withdrawn: WithdrawnFiling, trades: Vec<InsiderRow>) -> Batch {
    Batch {
        withdrawn_filings: vec![withdrawn],
        ..filing(trades)
    }
}

impl TestApp {
    async fn take(&self, batch: Batch) {
        assert_eq!(self.service.market_intake.ingest(batch).await.unwrap(), []);
    }

    /// Creates an alert on insider trades above `threshold` dollars.
    async fn insiders(&self, actor: &Actor, threshold: i64) -> AlertId {
        let body = json!({"symbol": "AAPL", "condition": "insider_transactions", "threshold": threshold});
        self.create(actor, body).await.stored.alert.id
    }

    /// Returns the stored filings by insider, day and dollars.
    async fn filed(&self) -> Vec<(String, i8, i64)> {
        let rows = self.store().await.insider_trades(date(2024, 1, 1)).await.unwrap();
        let rows = rows.into_iter().map(|row| {
            let shares = row.shares.micros() / 1_000_000;
            (row.insider, row.filed_on.day(), shares * 100)
        });
        rows.collect()
    }
}

fn filed(insider: &str, day: i8, dollars: i64) -> (String, i8, i64) {
    (insider.to_owned(), day, dollars)
}

async fn both_filings_count_without_an_amendment(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.insiders(&ann, 12_000).await;
    app.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Active);
    app.take(filing(vec![trade("DOE JANE", 8, 2_000)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Triggered);
}

async fn amendment_that_lowers_the_amount_prevents_a_firing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.insiders(&ann, 12_000).await;
    app.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    app.take(amendment(withdrawn(), vec![trade("DOE JANE", 8, 2_000)]))
        .await;
    assert_eq!(app.filed().await, [filed("DOE JANE", 8, 2_000)]);
    // With the withdrawn filing this would be enough.
    app.take(filing(vec![trade("ROE MARY", 8, 9_900)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Active);
    let app = app.restarted().await;
    app.take(filing(vec![trade("ROE MARY", 7, 0)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Active);
    app.take(filing(vec![trade("ROE MARY", 8, 100)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Triggered);
}

async fn withdrawn_filing_does_not_count_again_without_its_amendment(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.insiders(&ann, 12_000).await;
    app.take(amendment(withdrawn(), vec![trade("DOE JANE", 8, 2_000)]))
        .await;
    // The list of today's filings is not available yet, and the list of the 6th has the original.
    app.take(filing(vec![trade("DOE JANE", 6, 10_000), trade("ROE MARY", 6, 9_900)]))
        .await;
    assert_eq!(
        app.filed().await,
        [filed("ROE MARY", 6, 9_900), filed("DOE JANE", 8, 2_000)]
    );
    assert_eq!(app.status(&ann, alert).await, Status::Active);
    // The amendment is delivered again, and does not count twice.
    app.take(filing(vec![trade("DOE JANE", 8, 2_000)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Active);
    app.take(filing(vec![trade("ROE MARY", 8, 100)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Triggered);
}

async fn amendment_counts_without_the_original(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.insiders(&ann, 12_000).await;
    app.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    app.take(amendment(withdrawn(), vec![trade("DOE JANE", 8, 12_000)]))
        .await;
    assert_eq!(app.status(&ann, alert).await, Status::Triggered);
}

async fn amendment_keeps_filings_of_other_insiders(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.insiders(&ann, 12_000).await;
    let both = vec![trade("DOE JANE", 6, 1_000), trade("ROE MARY", 6, 10_000)];
    app.take(filing(both)).await;
    app.take(amendment(withdrawn(), vec![trade("DOE JANE", 8, 1_900)]))
        .await;
    assert_eq!(
        app.filed().await,
        [filed("ROE MARY", 6, 10_000), filed("DOE JANE", 8, 1_900)]
    );
    assert_eq!(app.status(&ann, alert).await, Status::Active);
    app.take(filing(vec![trade("DOE JANE", 8, 100)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Triggered);
}

async fn undated_filing_is_found_by_its_period(app: TestApp) {
    let later = InsiderRow {
        traded_on: Some(date(2024, 3, 6)),
        ..trade("DOE JANE", 7, 300)
    };
    app.take(filing(vec![trade("DOE JANE", 6, 10_000), later])).await;
    let withdrawn = WithdrawnFiling {
        filed_on: None,
        ..withdrawn()
    };
    for _ in 0..2 {
        let amendment = amendment(withdrawn.clone(), vec![trade("DOE JANE", 8, 2_000)]);
        app.take(amendment).await;
        assert_eq!(
            app.filed().await,
            [filed("DOE JANE", 7, 300), filed("DOE JANE", 8, 2_000)]
        );
    }
}

async fn repeated_amendment_changes_nothing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.insiders(&ann, 4_000).await;
    let amendment = || {
        let same_day = WithdrawnFiling {
            filed_on: Some(TODAY),
            ..withdrawn()
        };
        amendment(same_day, vec![trade("DOE JANE", 8, 2_000)])
    };
    for _ in 0..2 {
        app.take(amendment()).await;
        assert_eq!(app.filed().await, [filed("DOE JANE", 8, 2_000)]);
    }
    let app = app.restarted().await;
    app.take(amendment()).await;
    assert_eq!(app.filed().await, [filed("DOE JANE", 8, 2_000)]);
    app.take(filing(vec![trade("ROE MARY", 8, 1_900)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Active);
    app.take(filing(vec![trade("ROE MARY", 8, 100)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Triggered);
}

async fn amendment_without_trades_withdraws_the_whole_filing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.insiders(&ann, 12_000).await;
    app.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    app.take(amendment(withdrawn(), Vec::new())).await;
    assert_eq!(app.filed().await, []);
    app.take(filing(vec![trade("ROE MARY", 8, 11_900)])).await;
    assert_eq!(app.status(&ann, alert).await, Status::Active);
}

async fn future_amendment_withdraws_nothing(app: TestApp) {
    app.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    let tomorrow = WithdrawnFiling {
        amended_on: TODAY.tomorrow().unwrap(),
        ..withdrawn()
    };
    app.take(amendment(tomorrow, Vec::new())).await;
    assert_eq!(app.filed().await, [filed("DOE JANE", 6, 10_000)]);
}
