//! All data except the prices of the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::civil::date;
use market::records::{BarRow, SplitRow, StockRow};
use market::{Bar, Decimal};
use sources::live::RefreshKind;
use sources::provider::{Capability, DataRequest, DataResponse, PriceAdjustment};

use crate::live::fixture::{Fixture, FixtureConfig, KnownState, at, friday, no_answer, symbol};

fn all() -> Vec<Capability> {
    Capability::ALL
        .into_iter()
        .filter(|&capability| capability != Capability::Stream)
        .collect()
}

fn about(requests: &[DataRequest]) -> Vec<&'static str> {
    requests.iter().map(|request| request.capability().name()).collect()
}

#[tokio::test]
async fn newly_watched_stock_requests_its_history_splits_first() {
    let config = FixtureConfig {
        capabilities: all(),
        ..FixtureConfig::at(friday("12:00:00"), &[])
    };
    let fixture = Fixture::begin(config, |_| Ok(DataResponse::default())).await;
    let _ = fixture.sent_requests();
    fixture.watched.send_replace(Arc::new(vec![symbol("AAPL")]));
    fixture.settle().await;
    let requests: Vec<DataRequest> = fixture
        .sent_requests()
        .into_iter()
        .filter(|request| !matches!(request, DataRequest::Quotes(_)))
        .collect();
    let facts = ["fundamentals", "earnings", "dividends", "insider_trades", "mentions"];
    assert_eq!(about(&requests), [["splits", "daily_bars"].as_slice(), &facts].concat());
    let DataRequest::DailyBars(symbols, days) = &requests[1] else {
        panic!()
    };
    assert_eq!(
        (symbols.as_slice(), days.from, days.to),
        ([symbol("AAPL")].as_slice(), date(2019, 3, 5), date(2024, 3, 7))
    );
}

#[tokio::test]
async fn known_stock_requests_bars_since_its_last_one() {
    let config = FixtureConfig {
        capabilities: vec![Capability::DailyBars],
        known: KnownState {
            bars: [(symbol("AAPL"), date(2024, 3, 1))].into(),
            ..KnownState::default()
        },
        ..FixtureConfig::at(friday("12:00:00"), &["AAPL"])
    };
    let fixture = Fixture::begin(config, |_| Ok(DataResponse::default())).await;
    let requests = fixture.sent_requests();
    let of_apple = requests
        .iter()
        .find(|request| request.symbols() == [symbol("AAPL")])
        .unwrap();
    let DataRequest::DailyBars(_, days) = of_apple else {
        panic!("{of_apple:?}")
    };
    assert_eq!((days.from, days.to), (date(2024, 2, 23), date(2024, 3, 7)));
}

#[tokio::test]
async fn nightly_and_morning_requests_are_sent() {
    let config = FixtureConfig {
        capabilities: all(),
        ..FixtureConfig::at(at("2024-03-07T12:00:00Z"), &["AAPL"])
    };
    let fixture = Fixture::begin(config, |_| Ok(DataResponse::default())).await;
    let not_prices = |requests: Vec<DataRequest>| -> Vec<DataRequest> {
        let is_price = |request: &DataRequest| matches!(request, DataRequest::Quotes(_) | DataRequest::MinuteBars(..));
        requests.into_iter().filter(|request| !is_price(request)).collect()
    };
    // 08:45 and 22:30 in New York.
    fixture.clock.set(at("2024-03-07T13:44:59Z"));
    fixture.settle().await;
    let _ = fixture.sent_requests();
    fixture.clock.set(at("2024-03-07T13:45:00Z"));
    fixture.settle().await;
    assert_eq!(
        about(&not_prices(fixture.sent_requests())),
        ["splits", "dividends", "earnings"]
    );
    fixture.clock.set(friday("03:29:59"));
    fixture.settle().await;
    let _ = fixture.sent_requests();
    fixture.clock.set(friday("03:30:00"));
    fixture.settle().await;
    let requests = not_prices(fixture.sent_requests());
    assert_eq!(
        about(&requests),
        [
            "catalog",
            "splits",
            "daily_bars",
            "benchmark",
            "fundamentals",
            "earnings",
            "dividends",
            "insider_trades"
        ]
    );
    let DataRequest::DailyBars(_, days) = &requests[2] else {
        panic!()
    };
    assert_eq!(days.to, date(2024, 3, 7), "the session that is over");
}

#[tokio::test]
async fn refresh_is_requested_at_once() {
    let config = FixtureConfig {
        capabilities: all(),
        ..FixtureConfig::at(friday("12:00:00"), &["AAPL"])
    };
    let fixture = Fixture::begin(config, |_| Ok(DataResponse::default())).await;
    let _ = fixture.sent_requests();
    for (kind, requests) in [
        (RefreshKind::Catalog, ["catalog"].as_slice()),
        (RefreshKind::Bars, &["splits", "daily_bars", "benchmark"]),
        (RefreshKind::Fundamentals, &["fundamentals"]),
        (RefreshKind::Events, &["splits", "dividends", "earnings"]),
    ] {
        let _ = fixture.refreshes.send(kind).unwrap();
        fixture.settle().await;
        assert_eq!(about(&fixture.sent_requests()), requests);
    }
}

#[tokio::test]
async fn failed_request_is_retried_after_a_minute() {
    let failures = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&failures);
    let config = FixtureConfig {
        capabilities: vec![Capability::Catalog],
        ..FixtureConfig::at(friday("12:00:00"), &[])
    };
    let mut fixture = Fixture::begin(config, move |_| {
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(no_answer());
        }
        let mut answer = DataResponse::default();
        answer.batch.stocks.push(StockRow::named(symbol("AAPL"), "Apple"));
        Ok(answer)
    })
    .await;
    fixture.until(friday("12:00:59")).await;
    assert!(fixture.updates().is_empty());
    fixture.until(friday("12:01:00")).await;
    let updates = fixture.updates();
    assert_eq!(updates[0].batch.stocks[0].name, "Apple");
    assert_eq!(
        (
            failures.load(Ordering::Relaxed),
            fixture.health.snapshot().failed_requests
        ),
        (2, 1)
    );
}

#[tokio::test]
async fn adjusted_bars_are_delivered_as_traded() {
    let split = SplitRow {
        symbol: symbol("AAPL"),
        date: date(2024, 3, 6),
        ratio: "4".parse::<Decimal>().unwrap().try_into().unwrap(),
    };
    let config = FixtureConfig {
        capabilities: vec![Capability::DailyBars, Capability::Splits],
        ..FixtureConfig::at(friday("12:00:00"), &["AAPL"])
    };
    let mut fixture = Fixture::begin(config, move |request| {
        let mut answer = DataResponse::default();
        match request {
            DataRequest::DailyBars(symbols, _) if symbols == &[symbol("AAPL")] => {
                answer.price_adjustment = PriceAdjustment::AdjustedForSplits;
                let price = "100".parse().unwrap();
                answer.batch.bars.push(BarRow {
                    symbol: symbol("AAPL"),
                    bar: Bar {
                        date: date(2024, 3, 5),
                        open: price,
                        high: price,
                        low: price,
                        close: price,
                        volume: 400,
                    },
                });
            }
            DataRequest::Splits(symbols, _) if symbols == &[symbol("AAPL")] => answer.batch.splits.push(split),
            _ => {}
        }
        Ok(answer)
    })
    .await;
    let bars: Vec<BarRow> = fixture
        .updates()
        .into_iter()
        .flat_map(|update| update.batch.bars)
        .collect();
    assert_eq!(
        (bars[0].bar.close.to_string(), bars[0].bar.volume),
        ("400".to_owned(), 100)
    );
}

#[tokio::test]
async fn stocks_with_paused_alerts_request_only_splits() {
    let config = FixtureConfig {
        capabilities: all(),
        ..FixtureConfig::at(friday("12:00:00"), &["AAPL"])
    };
    let fixture = Fixture::begin(config, |_| Ok(DataResponse::default())).await;
    let _ = fixture.sent_requests();
    let paused = [symbol("AAPL"), symbol("KO")];
    fixture.splits_only.send_replace(Arc::new(paused.into()));
    fixture.settle().await;
    let about_ko = |requests: Vec<DataRequest>| -> Vec<DataRequest> {
        let mut requests = requests;
        requests.retain(|request| format!("{request:?}").contains("KO"));
        requests
    };
    // AAPL is watched, so its splits have been requested.
    let requests = about_ko(fixture.sent_requests());
    let [DataRequest::Splits(symbols, days)] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    assert_eq!(
        (symbols.as_slice(), days.from),
        ([symbol("KO")].as_slice(), date(2019, 3, 5))
    );
    // The next morning.
    fixture.until(friday("13:45:01")).await;
    let requests = about_ko(fixture.sent_requests());
    let [DataRequest::Splits(symbols, days)] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    assert_eq!(
        (symbols.as_slice(), days.from),
        ([symbol("KO")].as_slice(), date(2024, 3, 1))
    );
}
