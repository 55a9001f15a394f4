//! Alpaca cases. The payloads follow the sample responses of docs.alpaca.markets ("Snapshots", "Historical bars", "Corporate
//! actions", "Assets"); their numbers are our own.

use sources::provider::alpaca::{Alpaca, AlpacaConfig, AlpacaFeed};
use sources::provider::http::AdapterSetup;
use sources::provider::{DataRequest, Provider, ProviderKey};

use crate::providers::conformance::conformance;
use crate::providers::stream_conformance::{StreamCase, stream_conformance};
use crate::providers::support::KEY;
use crate::providers::support::case::{AdapterCase, UnknownSymbolCase, days, fixture, symbols, times};

fn config(url: &str) -> AlpacaConfig {
    let key = ProviderKey::new(KEY).unwrap();
    AlpacaConfig {
        data_url: url.to_owned(),
        trading_url: url.to_owned(),
        feed: AlpacaFeed::Sip,
        ..AlpacaConfig::free(key.clone(), key)
    }
}

pub fn build(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    Box::new(Alpaca::new(config(url), setup).unwrap())
}

const HEADER: &str = "apca-api-secret-key: pk-open-sesame";

conformance! {
    catalog: AdapterCase {
        build,
        request: DataRequest::Catalog,
        routes: vec![("/v2/assets?status=active&asset_class=us_equity", fixture("alpaca/assets.json"))],
        expected: vec![
            "stock AAPL \"Apple Inc. Common Stock\" NASDAQ",
            "stock BRK.B \"Berkshire Hathaway Inc.\" NYSE",
        ],
        empty_routes: vec![("/v2/assets", "[]".into())],
        pages: None,
        unknown: None,
        header: HEADER,
    };
    quotes: AdapterCase {
        build,
        request: DataRequest::Quotes(symbols(&["AAPL", "BRK-B"])),
        routes: vec![("/v2/stocks/snapshots?symbols=AAPL%2CBRK.B&feed=sip", fixture("alpaca/snapshots.json"))],
        expected: vec![
            "quote AAPL 171.2 bid 171.19 ask 171.21 volume 31415926 vwap 171.34 at 2024-03-08T15:29:58.123456789Z",
            "quote BRK-B 405.123456 bid - ask - volume 1200 vwap 405.3 at 2024-03-08T15:29:01Z",
        ],
        empty_routes: vec![("/v2/stocks/snapshots", "{}".into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Quotes(symbols(&["AAPL", "BRK.B", "NOSUCH", "NULL"])),
            routes: vec![("/v2/stocks/snapshots", fixture("alpaca/snapshots.json"))],
            expected: vec![
                "quote AAPL 171.2 bid 171.19 ask 171.21 volume 31415926 vwap 171.34 at 2024-03-08T15:29:58.123456789Z",
                "quote BRK.B 405.123456 bid - ask - volume 1200 vwap 405.3 at 2024-03-08T15:29:01Z",
            ],
            unknown: vec!["NOSUCH", "NULL"],
        }),
        header: HEADER,
    };
    daily_bars: AdapterCase {
        build,
        request: DataRequest::DailyBars(symbols(&["AAPL", "BF.B"]), days("2024-03-06", "2024-03-07")),
        routes: vec![(
            "/v2/stocks/bars?timeframe=1Day symbols=AAPL%2CBF.B start=2024-03-06&end=2024-03-07 adjustment=raw",
            fixture("alpaca/bars.json"),
        )],
        expected: BARS.to_vec(),
        empty_routes: vec![("/v2/stocks/bars", r#"{"bars":{},"next_page_token":null}"#.into())],
        pages: Some((vec![
            ("/v2/stocks/bars", fixture("alpaca/bars_page_1.json")),
            ("/v2/stocks/bars page_token=QUFQTHxEfDE3MDk", fixture("alpaca/bars_page_2.json")),
        ], BARS.to_vec())),
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::DailyBars(symbols(&["AAPL", "BF.B", "NOSUCH"]), days("2024-03-06", "2024-03-07")),
            routes: vec![("/v2/stocks/bars", fixture("alpaca/bars.json"))],
            expected: BARS.to_vec(),
            // Days without bars are normal, so absence does not make a symbol unknown.
            unknown: vec![],
        }),
        header: HEADER,
    };
    benchmark: AdapterCase {
        build,
        request: DataRequest::Benchmark("AAPL".parse().unwrap(), days("2024-03-07", "2024-03-07")),
        routes: vec![("/v2/stocks/bars?timeframe=1Day symbols=AAPL", fixture("alpaca/bars.json"))],
        expected: vec!["bar AAPL 2024-03-07 169.15 170.73 168.49 169 71765061"],
        empty_routes: vec![("/v2/stocks/bars", r#"{"bars":{},"next_page_token":null}"#.into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Benchmark("NOSUCH".parse().unwrap(), days("2024-03-07", "2024-03-07")),
            routes: vec![("/v2/stocks/bars", r#"{"bars":{},"next_page_token":null}"#.into())],
            expected: vec![],
            unknown: vec![],
        }),
        header: HEADER,
    };
    minute_bars: AdapterCase {
        build,
        request: DataRequest::MinuteBars(symbols(&["SPY"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
        routes: vec![(
            "/v2/stocks/bars?timeframe=1Min start=2024-03-08T15%3A00%3A00Z&end=2024-03-08T15%3A02%3A00Z feed=sip",
            fixture("alpaca/minutes.json"),
        )],
        expected: vec![
            "minute SPY 2024-03-08T15:00:00Z 512.5 512.61 512.43 512.6 49378",
            "minute SPY 2024-03-08T15:01:00Z 512.6 512.7 512.59 512.65 38111",
        ],
        empty_routes: vec![("/v2/stocks/bars", r#"{"bars":{},"next_page_token":null}"#.into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::MinuteBars(symbols(&["NOSUCH"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
            routes: vec![("/v2/stocks/bars", r#"{"bars":{},"next_page_token":null}"#.into())],
            expected: vec![],
            unknown: vec![],
        }),
        header: HEADER,
    };
    splits: AdapterCase {
        build,
        request: DataRequest::Splits(symbols(&["NVDA", "OLDCO"]), days("2024-06-01", "2024-06-30")),
        routes: vec![(
            "/v1/corporate-actions?types=forward_split%2Creverse_split start=2024-06-01&end=2024-06-30",
            fixture("alpaca/splits.json"),
        )],
        expected: vec!["split NVDA 2024-06-10 10", "split OLDCO 2024-06-12 0.125"],
        empty_routes: vec![("/v1/corporate-actions", r#"{"corporate_actions":{},"next_page_token":null}"#.into())],
        pages: Some((vec![
            ("/v1/corporate-actions", fixture("alpaca/splits_page_1.json")),
            ("/v1/corporate-actions page_token=Mg", fixture("alpaca/splits.json")),
        ], vec!["split NVDA 2024-06-10 10", "split OLDCO 2024-06-05 0.5", "split OLDCO 2024-06-12 0.125"])),
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Splits(symbols(&["NOSUCH"]), days("2024-06-01", "2024-06-30")),
            routes: vec![("/v1/corporate-actions", r#"{"corporate_actions":{},"next_page_token":null}"#.into())],
            expected: vec![],
            unknown: vec![],
        }),
        header: HEADER,
    };
    dividends: AdapterCase {
        build,
        request: DataRequest::Dividends(symbols(&["AAPL", "BRK.B"]), days("2024-05-01", "2024-05-31")),
        routes: vec![("/v1/corporate-actions?types=cash_dividend symbols=AAPL%2CBRK.B", fixture("alpaca/dividends.json"))],
        expected: vec!["dividend AAPL 2024-05-10 paid 2024-05-16 0.25"],
        empty_routes: vec![("/v1/corporate-actions", r#"{"corporate_actions":{},"next_page_token":null}"#.into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Dividends(symbols(&["NOSUCH"]), days("2024-05-01", "2024-05-31")),
            routes: vec![("/v1/corporate-actions", r#"{"corporate_actions":{},"next_page_token":null}"#.into())],
            expected: vec![],
            unknown: vec![],
        }),
        header: HEADER,
    };
}

const BARS: [&str; 3] = [
    "bar AAPL 2024-03-06 171.06 171.24 168.68 169.12 68587707",
    "bar AAPL 2024-03-07 169.15 170.73 168.49 169 71765061",
    "bar BF.B 2024-03-06 58.1 58.9 57.95 58.42 1804221",
];

fn build_stream(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    let config = AlpacaConfig {
        stream_url: url.to_owned(),
        feed: AlpacaFeed::Iex,
        ..config("http://127.0.0.1:9")
    };
    Box::new(Alpaca::new(config, setup).unwrap())
}

fn trade(symbol: &str, price: &str, millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap();
    format!(r#"[{{"T":"t","i":96921,"S":"{symbol}","x":"D","p":{price},"s":100,"t":"{time}","c":["@"],"z":"C"}}]"#)
}

stream_conformance! {
    stream: StreamCase {
        build: build_stream,
        login: vec![
            ("←", r#"[{"T":"success","msg":"connected"}]"#),
            ("→", r#"{"action":"auth","key":"pk-open-sesame","secret":"pk-open-sesame"}"#),
            ("←", r#"[{"T":"success","msg":"authenticated"}]"#),
        ],
        subscribe: vec![r#"{"action":"subscribe","trades":["AAPL","BRK.B"]}"#],
        change: vec![r#"{"action":"unsubscribe","trades":["BRK.B"]}"#, r#"{"action":"subscribe","trades":["MSFT"]}"#],
        trade,
        share_class: "BRK.B",
        rejected_key: Some(r#"[{"T":"error","code":402,"msg":"auth failed"}]"#),
        too_many_connections: Some(r#"[{"T":"error","code":406,"msg":"connection limit exceeded"}]"#),
    };
}
