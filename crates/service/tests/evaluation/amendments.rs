//! Filings of insiders are amended: what they said is taken back.

use alerts::{AlertId, Plan, Status};
use jiff::civil::{Date, date};
use market::Decimal;
use market::records::{Batch, InsiderRow, TransactionSide, WithdrawnFiling};
use serde_json::json;
use service::Actor;

use super::support::{World, on_each_database, symbol};

on_each_database! {
    without_the_amendment_both_filings_count
    an_amendment_that_lowers_the_amount_keeps_an_alert_from_firing
    what_was_taken_back_does_not_come_back_alone
    an_amendment_counts_by_itself
    what_another_insider_filed_stays
    a_filing_that_is_not_dated_is_found_by_its_period
    an_amendment_that_is_delivered_again_changes_nothing
    an_amendment_without_trades_takes_back_all_of_a_filing
    an_amendment_of_tomorrow_takes_nothing_back
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

impl World {
    async fn take(&self, batch: Batch) {
        assert_eq!(self.service.market_intake.ingest(batch).await.unwrap(), []);
    }

    /// An alert on insiders' trades of so many dollars.
    async fn insiders(&self, actor: &Actor, threshold: i64) -> AlertId {
        let body = json!({"symbol": "AAPL", "condition": "insider_transactions", "threshold": threshold});
        self.create(actor, body).await.stored.alert.id
    }

    /// What is kept of filings, by insider, day and dollars.
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

async fn without_the_amendment_both_filings_count(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let alert = world.insiders(&ann, 12_000).await;
    world.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Active);
    world.take(filing(vec![trade("DOE JANE", 8, 2_000)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Triggered);
}

async fn an_amendment_that_lowers_the_amount_keeps_an_alert_from_firing(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let alert = world.insiders(&ann, 12_000).await;
    world.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    world
        .take(amendment(withdrawn(), vec![trade("DOE JANE", 8, 2_000)]))
        .await;
    assert_eq!(world.filed().await, [filed("DOE JANE", 8, 2_000)]);
    // With what was taken back this would be enough.
    world.take(filing(vec![trade("ROE MARY", 8, 9_900)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Active);
    let world = world.restarted().await;
    world.take(filing(vec![trade("ROE MARY", 7, 0)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Active);
    world.take(filing(vec![trade("ROE MARY", 8, 100)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Triggered);
}

async fn what_was_taken_back_does_not_come_back_alone(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let alert = world.insiders(&ann, 12_000).await;
    world
        .take(amendment(withdrawn(), vec![trade("DOE JANE", 8, 2_000)]))
        .await;
    // Of today's filings there is no list yet, and on that of the 6th the original stands.
    world
        .take(filing(vec![trade("DOE JANE", 6, 10_000), trade("ROE MARY", 6, 9_900)]))
        .await;
    assert_eq!(
        world.filed().await,
        [filed("ROE MARY", 6, 9_900), filed("DOE JANE", 8, 2_000)]
    );
    assert_eq!(world.status(&ann, alert).await, Status::Active);
    // The amendment itself comes again, and is not counted again.
    world.take(filing(vec![trade("DOE JANE", 8, 2_000)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Active);
    world.take(filing(vec![trade("ROE MARY", 8, 100)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Triggered);
}

async fn an_amendment_counts_by_itself(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let alert = world.insiders(&ann, 12_000).await;
    world.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    world
        .take(amendment(withdrawn(), vec![trade("DOE JANE", 8, 12_000)]))
        .await;
    assert_eq!(world.status(&ann, alert).await, Status::Triggered);
}

async fn what_another_insider_filed_stays(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let alert = world.insiders(&ann, 12_000).await;
    let both = vec![trade("DOE JANE", 6, 1_000), trade("ROE MARY", 6, 10_000)];
    world.take(filing(both)).await;
    world
        .take(amendment(withdrawn(), vec![trade("DOE JANE", 8, 1_900)]))
        .await;
    assert_eq!(
        world.filed().await,
        [filed("ROE MARY", 6, 10_000), filed("DOE JANE", 8, 1_900)]
    );
    assert_eq!(world.status(&ann, alert).await, Status::Active);
    world.take(filing(vec![trade("DOE JANE", 8, 100)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Triggered);
}

async fn a_filing_that_is_not_dated_is_found_by_its_period(world: World) {
    let later = InsiderRow {
        traded_on: Some(date(2024, 3, 6)),
        ..trade("DOE JANE", 7, 300)
    };
    world.take(filing(vec![trade("DOE JANE", 6, 10_000), later])).await;
    let withdrawn = WithdrawnFiling {
        filed_on: None,
        ..withdrawn()
    };
    for _ in 0..2 {
        let amendment = amendment(withdrawn.clone(), vec![trade("DOE JANE", 8, 2_000)]);
        world.take(amendment).await;
        assert_eq!(
            world.filed().await,
            [filed("DOE JANE", 7, 300), filed("DOE JANE", 8, 2_000)]
        );
    }
}

async fn an_amendment_that_is_delivered_again_changes_nothing(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let alert = world.insiders(&ann, 4_000).await;
    let amendment = || {
        let same_day = WithdrawnFiling {
            filed_on: Some(TODAY),
            ..withdrawn()
        };
        amendment(same_day, vec![trade("DOE JANE", 8, 2_000)])
    };
    for _ in 0..2 {
        world.take(amendment()).await;
        assert_eq!(world.filed().await, [filed("DOE JANE", 8, 2_000)]);
    }
    let world = world.restarted().await;
    world.take(amendment()).await;
    assert_eq!(world.filed().await, [filed("DOE JANE", 8, 2_000)]);
    world.take(filing(vec![trade("ROE MARY", 8, 1_900)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Active);
    world.take(filing(vec![trade("ROE MARY", 8, 100)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Triggered);
}

async fn an_amendment_without_trades_takes_back_all_of_a_filing(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let alert = world.insiders(&ann, 12_000).await;
    world.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    world.take(amendment(withdrawn(), Vec::new())).await;
    assert_eq!(world.filed().await, []);
    world.take(filing(vec![trade("ROE MARY", 8, 11_900)])).await;
    assert_eq!(world.status(&ann, alert).await, Status::Active);
}

async fn an_amendment_of_tomorrow_takes_nothing_back(world: World) {
    world.take(filing(vec![trade("DOE JANE", 6, 10_000)])).await;
    let tomorrow = WithdrawnFiling {
        amended_on: TODAY.tomorrow().unwrap(),
        ..withdrawn()
    };
    world.take(amendment(tomorrow, Vec::new())).await;
    assert_eq!(world.filed().await, [filed("DOE JANE", 6, 10_000)]);
}
