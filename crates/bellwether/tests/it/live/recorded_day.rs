//! A recorded day from a provider's stream and from a data folder: the same alerts fire at the same times for the
//! same reasons.

use std::fmt::Write as _;
use std::path::Path;

use alerts::AlertId;
use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york;
use market::{Bar, Calendar, Symbol};
use serde_json::{Value, json};
use sources::folder;
use testdata::TestMarketData;
use testkit::Database;

use crate::live::exchange::{ExchangeData, FakeExchange};
use crate::live::test_server::{DataSource, RecordedFiring, TestServer};

/// A day in the crash of 2020: the market fell by ten percent, and some stocks rose.
const RECORDED_DAY: Date = date(2020, 3, 12);
/// The New York times of the four prices of a daily bar.
const PRICE_TIMES: [(i8, i8); 4] = [(9, 30), (11, 40), (13, 50), (15, 59)];

/// A stock with its earlier bars, and the day's prices in the order in which they are published.
struct Stock {
    symbol: Symbol,
    before: Vec<Bar>,
    prices: [String; 4],
}

/// Returns the stocks.
fn stocks() -> Vec<Stock> {
    let source = TestMarketData::find();
    let (data, _) = folder::read(&source.path("unadjusted"), &Calendar::nyse(), |_| {}).unwrap();
    let stocks = data.bars.iter().filter_map(|(&symbol, bars)| {
        let day = bars.daily.iter().find(|bar| bar.date == RECORDED_DAY)?;
        let before = bars
            .daily
            .iter()
            .filter(|bar| bar.date < RECORDED_DAY)
            .copied()
            .collect();
        let prices = [day.open, day.low, day.high, day.close].map(|price| price.to_string());
        Some(Stock { symbol, before, prices })
    });
    let stocks: Vec<Stock> = stocks.collect();
    assert!(stocks.len() >= source.pick(26, 2), "{}", stocks.len());
    stocks
}

/// Returns the alerts on each stock.
fn alert_bodies(stock: &Stock) -> Vec<Value> {
    let close = stock.before.last().unwrap().close.as_f64();
    let body = |condition: &str, threshold: Option<f64>| {
        let mut body = json!({"symbol": stock.symbol.as_str(), "condition": condition});
        if let Some(threshold) = threshold {
            body["threshold"] = json!((threshold * 100.0).round() / 100.0);
        }
        body
    };
    vec![
        body("price_above", Some(close * 1.02)),
        body("price_below", Some(close * 0.93)),
        body("price_change_up", Some(3.0)),
        body("price_change_down", Some(9.5)),
        body("new_low", None),
        body("new_high", None),
        body("ma_touch_below", Some(200.0)),
        body("ma_touch_above", Some(20.0)),
        body("rsi_limit", Some(30.0)),
        body("ma_crossover_death", None),
    ]
}

fn instants() -> [Timestamp; 4] {
    PRICE_TIMES.map(|(hour, minute)| new_york(RECORDED_DAY, hour, minute))
}

/// Long before the open, because a busy machine may need minutes of the test's clock to load all bars.
fn start_time() -> Timestamp {
    new_york(RECORDED_DAY, 9, 1)
}

fn data(stocks: &[Stock]) -> ExchangeData {
    let names: Vec<String> = stocks.iter().map(|stock| stock.symbol.to_string()).collect();
    let bar = |bar: &Bar| {
        let prices = [bar.open, bar.high, bar.low, bar.close].map(|price| price.to_string());
        (new_york(bar.date, 0, 0), prices)
    };
    let days = stocks.iter().map(|stock| {
        let bars = stock.before.iter().map(bar).collect();
        (stock.symbol.to_string(), bars)
    });
    ExchangeData {
        days: days.collect(),
        names,
        ..ExchangeData::default()
    }
}

/// Writes the same data to a data folder.
fn write_folder(folder: &Path, stocks: &[Stock]) {
    let mut daily = "symbol,date,open,high,low,close,volume\n".to_owned();
    let mut intraday = "symbol,time,open,high,low,close,volume\n".to_owned();
    let mut catalog = "symbol,name\n".to_owned();
    for stock in stocks {
        let symbol = stock.symbol;
        writeln!(catalog, "{symbol},{symbol} Inc.").unwrap();
        for bar in &stock.before {
            let Bar {
                date,
                open,
                high,
                low,
                close,
                ..
            } = bar;
            writeln!(daily, "{symbol},{date},{open},{high},{low},{close},100").unwrap();
        }
        for (price, time) in stock.prices.iter().zip(instants()) {
            writeln!(intraday, "{symbol},{time},{price},{price},{price},{price},100").unwrap();
        }
    }
    std::fs::create_dir_all(folder.join("bars")).unwrap();
    std::fs::write(folder.join("bars/daily.csv"), daily).unwrap();
    std::fs::write(folder.join("bars/intraday.csv"), intraday).unwrap();
    std::fs::write(folder.join("stocks.csv"), catalog).unwrap();
}

/// Runs through the day and returns the firings. `publish` is called when each price is due.
async fn run_day(test: &TestServer, stocks: &[Stock], mut publish: impl FnMut(usize)) -> Vec<RecordedFiring> {
    // A stock's data is requested when it is watched. The other alerts depend on its price, so they are created
    // later.
    let mut alerts: Vec<AlertId> = Vec::new();
    for stock in stocks {
        alerts.push(test.create(&alert_bodies(stock)[0]).await.stored.alert.id);
    }
    test.advance_until("the bars are known", async |test| {
        let is_known = |stock: &Stock| {
            test.service().market_intake.last_bar(stock.symbol) == stock.before.last().map(|bar| bar.date)
        };
        stocks.iter().all(is_known)
    })
    .await;
    for stock in stocks {
        for body in &alert_bodies(stock)[1..] {
            alerts.push(test.create(body).await.stored.alert.id);
        }
    }
    for (index, instant) in instants().into_iter().enumerate() {
        let published_at = instant.saturating_add(SignedDuration::from_secs(1)).unwrap();
        if index == 0 {
            // Tasks that run once per second see the same second as the published prices.
            let before = instant.saturating_sub(SignedDuration::from_secs(1)).unwrap();
            test.jump_to(before.saturating_sub(SignedDuration::from_secs(5)).unwrap());
            test.advance_to(before).await;
        }
        test.jump_to(published_at);
        publish(index);
        test.wait_until("the prices are ingested", async |test| {
            let is_ingested = |stock: &Stock| test.last_observed_at(stock.symbol.as_str()) == Some(published_at);
            stocks.iter().all(is_ingested)
        })
        .await;
        test.service().evaluate().await.unwrap();
    }
    test.fired(&alerts).await
}

async fn fire_by_stream(database: &Database, stocks: &[Stock]) -> Vec<RecordedFiring> {
    let exchange = FakeExchange::open(data(stocks), start_time()).await;
    let test = TestServer::open(database, DataSource::Alpaca(&exchange), start_time()).await;
    let is_subscribed = |exchange: &FakeExchange| {
        let subscribed = exchange.data().subscribed.clone();
        stocks
            .iter()
            .all(|stock| subscribed.contains(&stock.symbol.to_string()))
    };
    let fired = run_day(&test, stocks, |index| {
        assert!(is_subscribed(&exchange));
        let trades: Vec<(&str, &str, Timestamp)> = stocks
            .iter()
            .map(|stock| (stock.symbol.as_str(), stock.prices[index].as_str(), instants()[index]))
            .collect();
        exchange.trade(&trades);
    })
    .await;
    test.server.close().await.unwrap();
    fired
}

async fn fire_by_folder(database: &Database, stocks: &[Stock]) -> Vec<RecordedFiring> {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), stocks);
    let test = TestServer::open(database, DataSource::Folder(folder.path()), start_time()).await;
    let fired = run_day(&test, stocks, |_| {}).await;
    test.server.close().await.unwrap();
    fired
}

async fn assert_same_firings(stream: &Database, file: &Database) {
    let stocks = stocks();
    let streamed = fire_by_stream(stream, &stocks).await;
    let filed = fire_by_folder(file, &stocks).await;
    assert_eq!(streamed, filed);
    let at_least = TestMarketData::find().pick(51, 4);
    assert!(streamed.len() >= at_least, "{} have fired", streamed.len());
    assert!(streamed.iter().all(|fired| fired.crossed_at.is_none()));
}

#[test]
fn recorded_day_fires_the_same_by_stream_and_folder_on_sqlite() {
    testkit::run(async { assert_same_firings(&Database::sqlite(), &Database::sqlite()).await });
}

#[test]
fn recorded_day_fires_the_same_by_stream_and_folder_on_postgresql() {
    testkit::run(async { assert_same_firings(&Database::postgres().await, &Database::postgres().await).await });
}
