//! A recorded day, told by the stream of a provider and by a folder: the same alerts fire, at the same instants, for the same
//! reasons.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use alerts::AlertId;
use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york;
use market::{Bar, Calendar, Symbol};
use serde_json::{Value, json};
use sources::folder;
use testkit::Database;

use crate::exchange::{Books, Exchange};
use crate::house::{Fired, From, Live};

/// The day, in the crash of 2020: the market fell by a tenth, and some stocks rose.
const DAY: Date = date(2020, 3, 12);
/// When its prices were made, in New York: a bar has four.
const TIMES: [(i8, i8); 4] = [(9, 30), (11, 40), (13, 50), (15, 59)];

/// A stock: its bars of before, and the day's prices in the order in which they are told.
struct Stock {
    symbol: Symbol,
    before: Vec<Bar>,
    prices: [String; 4],
}

/// The recorded stocks; `None`, with a word about it, where there are none.
fn recorded() -> Option<Vec<Stock>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/unadjusted");
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    let (data, _) = folder::read(&path, &Calendar::nyse(), |_| {}).unwrap();
    let stocks = data.bars.iter().filter_map(|(&symbol, bars)| {
        let day = bars.daily.iter().find(|bar| bar.date == DAY)?;
        let before = bars.daily.iter().filter(|bar| bar.date < DAY).copied().collect();
        let prices = [day.open, day.low, day.high, day.close].map(|price| price.to_string());
        Some(Stock { symbol, before, prices })
    });
    let stocks: Vec<Stock> = stocks.collect();
    assert!(stocks.len() > 25, "{}", stocks.len());
    Some(stocks)
}

/// What somebody wants to hear of each stock.
fn orders(stock: &Stock) -> Vec<Value> {
    let close = stock.before.last().unwrap().close.as_f64();
    let order = |condition: &str, threshold: Option<f64>| {
        let mut body = json!({"symbol": stock.symbol.as_str(), "condition": condition});
        if let Some(threshold) = threshold {
            body["threshold"] = json!((threshold * 100.0).round() / 100.0);
        }
        body
    };
    vec![
        order("price_above", Some(close * 1.02)),
        order("price_below", Some(close * 0.93)),
        order("price_change_up", Some(3.0)),
        order("price_change_down", Some(9.5)),
        order("new_low", None),
        order("new_high", None),
        order("ma_touch_below", Some(200.0)),
        order("ma_touch_above", Some(20.0)),
        order("rsi_limit", Some(30.0)),
        order("ma_crossover_death", None),
    ]
}

fn instants() -> [Timestamp; 4] {
    TIMES.map(|(hour, minute)| new_york(DAY, hour, minute))
}

/// Long before the open: it may take a busy machine minutes of the test's clock to know all bars.
fn morning() -> Timestamp {
    new_york(DAY, 9, 1)
}

fn books(stocks: &[Stock]) -> Books {
    let names: Vec<String> = stocks.iter().map(|stock| stock.symbol.to_string()).collect();
    let bar = |bar: &Bar| {
        let prices = [bar.open, bar.high, bar.low, bar.close].map(|price| price.to_string());
        (new_york(bar.date, 0, 0), prices)
    };
    let days = stocks.iter().map(|stock| {
        let bars = stock.before.iter().map(bar).collect();
        (stock.symbol.to_string(), bars)
    });
    Books {
        days: days.collect(),
        names,
        ..Books::default()
    }
}

/// The same as a data folder.
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

/// Lives through the day, and says what has fired. `tell` is called when it is time for each price.
async fn through_the_day(live: &Live, stocks: &[Stock], mut tell: impl FnMut(usize)) -> Vec<Fired> {
    // A stock is asked about when somebody watches it, and what depends on its price comes when that is known.
    let mut alerts: Vec<AlertId> = Vec::new();
    for stock in stocks {
        alerts.push(live.create(&orders(stock)[0]).await.stored.alert.id);
    }
    live.soon("the bars are known", async |live| {
        let is_known = |stock: &Stock| {
            live.service().market_intake.last_bar(stock.symbol) == stock.before.last().map(|bar| bar.date)
        };
        stocks.iter().all(is_known)
    })
    .await;
    for stock in stocks {
        for body in &orders(stock)[1..] {
            alerts.push(live.create(body).await.stored.alert.id);
        }
    }
    for (place, instant) in instants().into_iter().enumerate() {
        let told = instant.saturating_add(SignedDuration::from_secs(1)).unwrap();
        if place == 0 {
            // What looks once a second looks at the same second as what is told.
            let before = instant.saturating_sub(SignedDuration::from_secs(1)).unwrap();
            live.leap(before.saturating_sub(SignedDuration::from_secs(5)).unwrap());
            live.reach(before).await;
        }
        live.leap(told);
        tell(place);
        live.until("the prices are taken in", async |live| {
            let is_taken = |stock: &Stock| live.observed(stock.symbol.as_str()) == Some(told);
            stocks.iter().all(is_taken)
        })
        .await;
        live.service().evaluate().await.unwrap();
    }
    live.fired(&alerts).await
}

async fn by_stream(database: &Database, stocks: &[Stock]) -> Vec<Fired> {
    let exchange = Exchange::open(books(stocks), morning()).await;
    let live = Live::open(database, From::Alpaca(&exchange), morning()).await;
    let is_subscribed = |exchange: &Exchange| {
        let subscribed = exchange.books().subscribed.clone();
        stocks
            .iter()
            .all(|stock| subscribed.contains(&stock.symbol.to_string()))
    };
    let fired = through_the_day(&live, stocks, |place| {
        assert!(is_subscribed(&exchange));
        let trades: Vec<(&str, &str, Timestamp)> = stocks
            .iter()
            .map(|stock| (stock.symbol.as_str(), stock.prices[place].as_str(), instants()[place]))
            .collect();
        exchange.trade(&trades);
    })
    .await;
    live.house.close().await.unwrap();
    fired
}

async fn by_folder(database: &Database, stocks: &[Stock]) -> Vec<Fired> {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), stocks);
    let live = Live::open(database, From::Folder(folder.path()), morning()).await;
    let fired = through_the_day(&live, stocks, |_| {}).await;
    live.house.close().await.unwrap();
    fired
}

async fn fires_the_same(stream: &Database, file: &Database) {
    let Some(stocks) = recorded() else { return };
    let streamed = by_stream(stream, &stocks).await;
    let filed = by_folder(file, &stocks).await;
    assert_eq!(streamed, filed);
    assert!(streamed.len() > 50, "{} have fired", streamed.len());
    assert!(streamed.iter().all(|fired| fired.crossed_at.is_none()));
}

#[test]
fn a_recorded_day_fires_the_same_by_stream_and_by_folder_on_sqlite() {
    testkit::run(async { fires_the_same(&Database::sqlite(), &Database::sqlite()).await });
}

#[test]
fn a_recorded_day_fires_the_same_by_stream_and_by_folder_on_postgresql() {
    testkit::run(async { fires_the_same(&Database::postgres().await, &Database::postgres().await).await });
}
