//! Stocks: figures, fundamentals, candles, and search.

use evaluation::stocks::{CandleRange, StockView};
use jiff::Span;
use jiff::civil::{Date, date};
use market::calendar::new_york_date;
use market::{Calendar, Decimal, Price};
use serde_json::{Value, json};

use crate::support::{OPEN, TestApp, at, kind, on_each_database, symbol};

on_each_database! {
    stock_is_known_by_catalog_or_price
    figures_use_the_price_as_todays_close
    close_of_a_completed_session_counts_once
    high_of_52_weeks_covers_364_days_and_the_running_session
    ratios_follow_the_price
    candles_end_with_the_running_session
    candles_are_in_todays_shares
    quotes_leave_out_unknown_stocks
    search_finds_stocks_by_symbol_and_name
}

/// Returns the last `count` completed sessions before the present day, oldest first.
fn sessions(count: usize) -> Vec<Date> {
    let today = new_york_date(at(OPEN));
    let calendar = Calendar::nyse();
    let from = today.checked_sub(Span::new().years(3)).unwrap();
    let days: Vec<_> = calendar
        .sessions(from, today.yesterday().unwrap())
        .map(|session| session.date)
        .collect();
    days[days.len() - count..].to_vec()
}

/// Returns bars of ACME: the n-th closes at 100 + n, with a range of a dollar up and down and a volume of n
/// thousand.
fn bars(count: usize) -> Value {
    let bar = |(n, date): (usize, Date)| {
        let close = 100 + n;
        json!({
            "symbol": "ACME", "date": date.to_string(), "open": close, "high": close + 1, "low": close - 1, "close": close,
            "volume": 1000 * n
        })
    };
    let bars: Vec<_> = sessions(count).into_iter().enumerate().map(bar).collect();
    json!({"bars": bars})
}

async fn shown(app: &TestApp) -> StockView {
    app.service.stocks.stock(symbol("ACME")).await.unwrap()
}

fn text(number: Option<Decimal>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

fn price(price: Option<Price>) -> String {
    text(price.map(Price::decimal))
}

async fn stock_is_known_by_catalog_or_price(app: TestApp) {
    app.deliver(json!({"stocks": [{"symbol": "OTHER", "name": "Other"}]}))
        .await;
    assert_eq!(
        kind(&app.service.stocks.stock(symbol("ACME")).await.unwrap_err()),
        "no stock"
    );
    assert_eq!(
        kind(&app.service.stocks.fundamentals(symbol("ACME")).await.unwrap_err()),
        "no stock"
    );
    let candles = app.service.stocks.candles(symbol("ACME"), CandleRange::Max).await;
    assert_eq!(kind(&candles.unwrap_err()), "no stock");
    app.deliver(json!({"stocks": [{"symbol": "ACME", "name": "Acme", "sector": "Anvils"}]}))
        .await;
    let stock = shown(&app).await;
    assert_eq!(
        (stock.row.name.as_str(), stock.row.sector.as_deref()),
        ("Acme", Some("Anvils"))
    );
    assert_eq!(
        (stock.last_price, stock.rsi, stock.volume, stock.updated_at),
        (None, None, None, None)
    );
    app.quote("NEW", 3.0).await;
    assert_eq!(app.service.stocks.stock(symbol("NEW")).await.unwrap().row.name, "NEW");
}

async fn figures_use_the_price_as_todays_close(app: TestApp) {
    app.deliver(bars(200)).await;
    // Before the first price of the day the last close is the price.
    let stock = shown(&app).await;
    assert_eq!(
        (price(stock.last_price), price(stock.previous_close)),
        ("299".to_owned(), "298".to_owned())
    );
    assert_eq!(
        (text(stock.ma_50), text(stock.ma_200)),
        ("274.5".to_owned(), "199.5".to_owned())
    );
    assert_eq!(stock.updated_at, Some(at("2024-03-07T21:00:00Z")));
    assert_eq!(stock.volume, Some(199_000));

    let quote = json!({"quotes": [{"symbol": "ACME", "price": 314, "volume": 5000}]});
    app.deliver(quote).await;
    let stock = shown(&app).await;
    assert_eq!(
        (price(stock.last_price), price(stock.previous_close)),
        ("314".to_owned(), "299".to_owned())
    );
    assert_eq!(
        (text(stock.change), text(stock.change_percent)),
        ("15".to_owned(), "5.016722".to_owned())
    );
    // The last 49 closes are 251 to 299 and average 275, the last 199 are 101 to 299 and average 200.
    assert_eq!(
        (text(stock.ma_50), text(stock.ma_200)),
        ("275.78".to_owned(), "200.57".to_owned())
    );
    assert_eq!(text(stock.rsi), "100");
    assert_eq!((price(stock.high_52w), stock.volume), ("314".to_owned(), Some(5000)));
    // Completed sessions only: 180 to 199 thousand, 100 to 199 thousand.
    assert_eq!(
        (text(stock.volume_ma_20), text(stock.volume_ma_100)),
        ("189500".to_owned(), "149500".to_owned())
    );
    assert_eq!(stock.updated_at, Some(at(OPEN)));
}

async fn close_of_a_completed_session_counts_once(app: TestApp) {
    app.deliver(bars(200)).await;
    app.quote("ACME", 314.0).await;
    let running = shown(&app).await;
    app.clock.set(at("2024-03-08T21:00:00Z"));
    let bar = json!({
        "symbol": "ACME", "date": "2024-03-08", "open": 300, "high": 320, "low": 299, "close": 314, "volume": 9000
    });
    app.deliver(json!({"bars": [bar]})).await;
    let completed = shown(&app).await;
    assert_eq!(
        (completed.ma_50, completed.ma_200, completed.rsi),
        (running.ma_50, running.ma_200, running.rsi)
    );
    assert_eq!(completed.previous_close, running.previous_close);
    assert_eq!(
        (price(completed.high_52w), completed.volume),
        ("320".to_owned(), Some(9000))
    );
}

async fn high_of_52_weeks_covers_364_days_and_the_running_session(app: TestApp) {
    let day = |days: i64| new_york_date(at(OPEN)).checked_sub(Span::new().days(days)).unwrap();
    // A Thursday and the Friday after it, 365 and 364 days before.
    assert_eq!((day(365), day(364)), (date(2023, 3, 9), date(2023, 3, 10)));
    let bar = |days: i64, high: i64, low: i64| {
        json!({
            "symbol": "ACME", "date": day(days).to_string(), "open": 100, "high": high, "low": low, "close": 100,
            "volume": 1
        })
    };
    app.deliver(json!({"bars": [bar(365, 190, 40), bar(364, 180, 50), bar(1, 110, 90)]}))
        .await;
    let extremes = async || {
        let stock = shown(&app).await;
        (price(stock.high_52w), price(stock.low_52w))
    };
    assert_eq!(extremes().await, ("180".to_owned(), "50".to_owned()));
    app.quote("ACME", 181.0).await;
    app.quote("ACME", 49.0).await;
    assert_eq!(extremes().await, ("181".to_owned(), "49".to_owned()));
}

async fn ratios_follow_the_price(app: TestApp) {
    app.deliver(json!({
        "fundamentals": [{"symbol": "ACME", "as_of": "2024-02-01", "eps_ttm": 4, "eps_forward": 5, "beta": 1.2}],
        "earnings": [{"symbol": "ACME", "date": "2024-05-02"}, {"symbol": "ACME", "date": "2024-02-01"}],
        "dividends": [{"symbol": "ACME", "ex_date": "2024-02-09", "payment_date": "2024-02-15", "amount": 0.24}]
    }))
    .await;
    app.quote("ACME", 200.0).await;
    let known = app.service.stocks.fundamentals(symbol("ACME")).await.unwrap();
    assert_eq!(
        (text(known.pe_ratio), text(known.forward_pe)),
        ("50".to_owned(), "40".to_owned())
    );
    assert_eq!(
        (text(known.beta), known.updated_at),
        ("1.2".to_owned(), Some(date(2024, 2, 1)))
    );
    assert_eq!(known.next_earnings_date, Some(date(2024, 5, 2)));
    assert_eq!(known.ex_dividend_date, Some(date(2024, 2, 9)));
    assert_eq!(known.dividend_payment_date, Some(date(2024, 2, 15)));
    app.quote("ACME", 100.0).await;
    let known = app.service.stocks.fundamentals(symbol("ACME")).await.unwrap();
    assert_eq!(text(known.pe_ratio), "25");
}

async fn candles_end_with_the_running_session(app: TestApp) {
    app.deliver(bars(30)).await;
    for (price, volume) in [(130.0, 10), (134.0, 20), (128.0, 30), (131.0, 40)] {
        let quote = json!({"symbol": "ACME", "price": price, "volume": volume});
        app.deliver(json!({"quotes": [quote]})).await;
    }
    let candles = app
        .service
        .stocks
        .candles(symbol("ACME"), CandleRange::Max)
        .await
        .unwrap();
    assert_eq!(candles.len(), 31);
    assert!(candles.is_sorted_by_key(|candle| candle.date));
    let last = candles.last().unwrap();
    let prices = [last.open, last.high, last.low, last.close].map(|price| price.to_string());
    assert_eq!(prices, ["130", "134", "128", "131"]);
    assert_eq!((last.date, last.volume), (date(2024, 3, 8), 40));
    let month = app
        .service
        .stocks
        .candles(symbol("ACME"), CandleRange::Month1)
        .await
        .unwrap();
    assert_eq!(month.first().unwrap().date, date(2024, 2, 8));
}

async fn candles_are_in_todays_shares(app: TestApp) {
    app.deliver(bars(2)).await;
    app.deliver(json!({"splits": [{"symbol": "ACME", "date": "2024-03-08", "ratio": 4}]}))
        .await;
    app.quote("ACME", 26.0).await;
    let candles = app
        .service
        .stocks
        .candles(symbol("ACME"), CandleRange::Month1)
        .await
        .unwrap();
    let closes: Vec<_> = candles
        .iter()
        .map(|candle| (candle.close.to_string(), candle.volume))
        .collect();
    assert_eq!(
        closes,
        [("25".to_owned(), 0), ("25.25".to_owned(), 4000), ("26".to_owned(), 0)]
    );
    assert_eq!(price(shown(&app).await.previous_close), "25.25");
}

async fn quotes_leave_out_unknown_stocks(app: TestApp) {
    app.deliver(json!({"stocks": [{"symbol": "BARE", "name": "Bare"}]}))
        .await;
    app.deliver(bars(2)).await;
    app.quote("ACME", 104.03).await;
    let asked = ["ACME", "NOPE", "BARE"].map(symbol);
    let quotes = app.service.stocks.quotes(&asked).await;
    let symbols: Vec<_> = quotes.iter().map(|quote| quote.symbol.to_string()).collect();
    assert_eq!(symbols, ["ACME", "BARE"]);
    assert_eq!(
        (text(quotes[0].change), text(quotes[0].change_percent)),
        ("3.03".to_owned(), "3".to_owned())
    );
    assert_eq!((quotes[1].price, quotes[1].at), (None, None));
}

async fn search_finds_stocks_by_symbol_and_name(app: TestApp) {
    let stocks = [("AMD", "Advanced Micro Devices"), ("DOX", "Amdocs"), ("TAMD", "Tamed")];
    let rows: Vec<_> = stocks
        .iter()
        .map(|(symbol, name)| json!({"symbol": symbol, "name": name}))
        .collect();
    app.deliver(json!({"stocks": rows})).await;
    let found = |limit| {
        let rows = app.service.stocks.search_stocks("amd", limit);
        rows.iter().map(|row| row.symbol.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(10), ["AMD", "DOX", "TAMD"]);
    assert_eq!(found(1), ["AMD"]);
}
