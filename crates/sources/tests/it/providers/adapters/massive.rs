//! Massive (Polygon.io) cases. The payloads follow the sample responses of massive.com/docs; their numbers are our own.

use sources::provider::http::AdapterSetup;
use sources::provider::massive::{Massive, MassiveConfig, MassivePlan};
use sources::provider::{DataRequest, Provider, ProviderKey};

use crate::providers::conformance::conformance;
use crate::providers::stream_conformance::{StreamCase, stream_conformance};
use crate::providers::support::KEY;
use crate::providers::support::case::{AdapterCase, UnknownSymbolCase, days, fixture, symbols, times};

fn config(url: &str) -> MassiveConfig {
    MassiveConfig {
        api_url: url.to_owned(),
        ..MassiveConfig::new(ProviderKey::new(KEY).unwrap(), MassivePlan::RealTime)
    }
}

pub fn build(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    Box::new(Massive::new(config(url), setup).unwrap())
}

const HEADER: &str = "authorization: Bearer pk-open-sesame";
const NOTHING: &str = r#"{"results":[],"status":"OK"}"#;

fn nothing(request: DataRequest, path: &'static str) -> Option<UnknownSymbolCase> {
    Some(UnknownSymbolCase {
        request,
        routes: vec![(path, NOTHING.to_owned())],
        expected: vec![],
        unknown: vec![],
    })
}

conformance! {
    catalog: AdapterCase {
        build,
        request: DataRequest::Catalog,
        routes: vec![("/v3/reference/tickers?market=stocks&active=true&limit=1000", fixture("massive/tickers.json"))],
        expected: vec!["stock AAPL \"Apple Inc.\" XNAS CS", "stock BRK.B \"Berkshire Hathaway Inc. Class B\" XNYS CS"],
        empty_routes: vec![("/v3/reference/tickers", NOTHING.into())],
        pages: Some((vec![
            ("/v3/reference/tickers?market", fixture("massive/tickers_page_1.json")),
            ("/v3/reference/tickers?cursor=YWN0aXZlPXRydWU", fixture("massive/tickers_page_2.json")),
        ], vec!["stock AAPL \"Apple Inc.\" XNAS CS", "stock BRK.B \"Berkshire Hathaway Inc. Class B\" XNYS CS"])),
        unknown: None,
        header: HEADER,
    };
    quotes: AdapterCase {
        build,
        request: DataRequest::Quotes(symbols(&["AAPL", "BRK-B"])),
        routes: vec![("/v2/snapshot/locale/us/markets/stocks/tickers?tickers=AAPL%2CBRK.B", fixture("massive/snapshots.json"))],
        expected: vec![
            "quote AAPL 171.2 bid 171.19 ask 171.21 volume 31415926 vwap 171.34 at 2024-03-08T15:29:58.123456789Z",
            "quote BRK-B 405.123456 bid - ask - volume 1200 vwap 405.3 at 2024-03-08T15:29:00Z",
        ],
        empty_routes: vec![("/v2/snapshot/", r#"{"count":0,"status":"OK","tickers":[]}"#.into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Quotes(symbols(&["AAPL", "QUIET", "NOSUCH"])),
            routes: vec![("/v2/snapshot/", fixture("massive/snapshots.json"))],
            expected: vec!["quote AAPL 171.2 bid 171.19 ask 171.21 volume 31415926 vwap 171.34 at 2024-03-08T15:29:58.123456789Z"],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    // Many symbols and few days: requests for the whole market by day.
    daily_bars: AdapterCase {
        build,
        request: DataRequest::DailyBars(symbols(&["AAPL", "BF-B"]), days("2024-03-07", "2024-03-07")),
        routes: vec![("/v2/aggs/grouped/locale/us/market/stocks/2024-03-07?adjusted=false", fixture("massive/grouped.json"))],
        expected: vec![
            "bar AAPL 2024-03-07 169.15 170.73 168.49 169 71765061",
            "bar BF-B 2024-03-07 58.1 58.9 57.95 58.42 1804221",
        ],
        empty_routes: vec![("/v2/aggs/grouped/", r#"{"adjusted":false,"queryCount":0,"resultsCount":0,"status":"OK"}"#.into())],
        pages: None,
        unknown: nothing(DataRequest::DailyBars(symbols(&["NOSUCH", "A"]), days("2024-03-07", "2024-03-07")), "/v2/aggs/grouped/"),
        header: HEADER,
    };
    // One symbol and many days: one request by symbol.
    benchmark: AdapterCase {
        build,
        request: DataRequest::Benchmark("AAPL".parse().unwrap(), days("2024-03-06", "2024-03-07")),
        routes: vec![("/v2/aggs/ticker/AAPL/range/1/day/2024-03-06/2024-03-07?adjusted=false", fixture("massive/days.json"))],
        expected: vec![
            "bar AAPL 2024-03-06 171.06 171.24 168.68 169.12 68587707",
            "bar AAPL 2024-03-07 169.15 170.73 168.49 169 71765061",
        ],
        empty_routes: vec![("/v2/aggs/ticker/", r#"{"adjusted":false,"queryCount":0,"resultsCount":0,"status":"OK"}"#.into())],
        pages: None,
        unknown: nothing(DataRequest::Benchmark("NOSUCH".parse().unwrap(), days("2024-03-06", "2024-03-07")), "/v2/aggs/ticker/"),
        header: HEADER,
    };
    minute_bars: AdapterCase {
        build,
        request: DataRequest::MinuteBars(symbols(&["SPY"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
        routes: vec![("/v2/aggs/ticker/SPY/range/1/minute/1709910000000/1709910120000", fixture("massive/minutes.json"))],
        expected: vec![
            "minute SPY 2024-03-08T15:00:00Z 512.5 512.61 512.43 512.6 49378",
            "minute SPY 2024-03-08T15:01:00Z 512.6 512.7 512.59 512.65 38111",
        ],
        empty_routes: vec![("/v2/aggs/ticker/", NOTHING.into())],
        pages: None,
        unknown: nothing(
            DataRequest::MinuteBars(symbols(&["NOSUCH"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
            "/v2/aggs/ticker/",
        ),
        header: HEADER,
    };
    fundamentals: AdapterCase {
        build,
        request: DataRequest::Fundamentals(symbols(&["AAPL"])),
        routes: vec![("/v3/reference/tickers/AAPL", fixture("massive/overview.json"))],
        expected: vec!["fundamentals AAPL 2024-03-08 eps - forward - cap 2643611250000.5 dividend - yield - beta -"],
        empty_routes: vec![("/v3/reference/tickers/AAPL", r#"{"results":{"ticker":"AAPL","name":"Apple Inc."},"status":"OK"}"#.into())],
        pages: None,
        // The server responds with 404 to NOSUCH.
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Fundamentals(symbols(&["AAPL", "NOSUCH"])),
            routes: vec![("/v3/reference/tickers/AAPL", fixture("massive/overview.json"))],
            expected: vec!["fundamentals AAPL 2024-03-08 eps - forward - cap 2643611250000.5 dividend - yield - beta -"],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    splits: AdapterCase {
        build,
        request: DataRequest::Splits(symbols(&["NVDA", "OLDCO"]), days("2024-06-01", "2024-06-30")),
        routes: vec![("/v3/reference/splits?execution_date.gte=2024-06-01&execution_date.lte=2024-06-30", fixture("massive/splits.json"))],
        expected: vec!["split NVDA 2024-06-10 10", "split OLDCO 2024-06-12 0.125"],
        empty_routes: vec![("/v3/reference/splits", NOTHING.into())],
        pages: None,
        unknown: nothing(DataRequest::Splits(symbols(&["NOSUCH"]), days("2024-06-01", "2024-06-30")), "/v3/reference/splits"),
        header: HEADER,
    };
    dividends: AdapterCase {
        build,
        request: DataRequest::Dividends(symbols(&["AAPL"]), days("2024-05-01", "2024-05-31")),
        routes: vec![("/v3/reference/dividends?ex_dividend_date.gte=2024-05-01 ticker=AAPL", fixture("massive/dividends.json"))],
        expected: vec!["dividend AAPL 2024-05-10 paid 2024-05-16 0.25"],
        empty_routes: vec![("/v3/reference/dividends", NOTHING.into())],
        pages: None,
        unknown: nothing(DataRequest::Dividends(symbols(&["NOSUCH"]), days("2024-05-01", "2024-05-31")), "/v3/reference/dividends"),
        header: HEADER,
    };
}

fn build_stream(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    let config = MassiveConfig {
        stream_url: url.to_owned(),
        ..config("http://127.0.0.1:9")
    };
    Box::new(Massive::new(config, setup).unwrap())
}

fn trade(symbol: &str, price: &str, millis: i64) -> String {
    format!(
        r#"[{{"ev":"T","sym":"{symbol}","x":4,"i":"12345","z":3,"p":{price},"s":100,"c":[0,14],"t":{millis},"q":3681328}}]"#
    )
}

stream_conformance! {
    stream: StreamCase {
        build: build_stream,
        login: vec![
            ("←", r#"[{"ev":"status","status":"connected","message":"Connected Successfully"}]"#),
            ("→", r#"{"action":"auth","params":"pk-open-sesame"}"#),
            ("←", r#"[{"ev":"status","status":"auth_success","message":"authenticated"}]"#),
        ],
        subscribe: vec![r#"{"action":"subscribe","params":"T.AAPL,AM.AAPL,T.BRK.B,AM.BRK.B"}"#],
        change: vec![
            r#"{"action":"unsubscribe","params":"T.BRK.B,AM.BRK.B"}"#,
            r#"{"action":"subscribe","params":"T.MSFT,AM.MSFT"}"#,
        ],
        trade,
        share_class: "BRK.B",
        rejected_key: Some(r#"[{"ev":"status","status":"auth_failed","message":"authentication failed"}]"#),
        too_many_connections: Some(
            r#"[{"ev":"status","status":"max_connections","message":"Maximum number of websocket connections exceeded."}]"#,
        ),
    };
}
