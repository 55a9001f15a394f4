//! Tiingo cases. The payloads follow the sample responses of tiingo.com/documentation; their numbers are our own.

use sources::provider::http::AdapterSetup;
use sources::provider::tiingo::{Tiingo, TiingoConfig};
use sources::provider::{DataRequest, Provider, ProviderKey};

use crate::providers::conformance::conformance;
use crate::providers::support::KEY;
use crate::providers::support::case::{AdapterCase, UnknownSymbolCase, days, fixture, symbols, times};

pub fn build(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    let config = TiingoConfig {
        api_url: url.to_owned(),
        ..TiingoConfig::free(ProviderKey::new(KEY).unwrap())
    };
    Box::new(Tiingo::new(&config, setup).unwrap())
}

const HEADER: &str = "authorization: Token pk-open-sesame";

/// A request with one known symbol, and one for which the server responds with 404.
fn with_unknown_symbol(
    request: fn(Vec<market::Symbol>) -> DataRequest,
    path: &'static str,
    body: String,
    expected: Vec<&'static str>,
) -> Option<UnknownSymbolCase> {
    Some(UnknownSymbolCase {
        request: request(symbols(&["NOSUCH", "NVDA"])),
        routes: vec![(path, body)],
        expected,
        unknown: vec!["NOSUCH"],
    })
}

conformance! {
    quotes: AdapterCase {
        build,
        request: DataRequest::Quotes(symbols(&["AAPL", "BRK.B"])),
        routes: vec![("/iex/?tickers=AAPL%2CBRK-B", fixture("tiingo/iex.json"))],
        expected: vec![
            "quote AAPL 171.2 bid 171.19 ask 171.21 volume - at 2024-03-08T15:29:58.123456789Z",
            "quote BRK.B 405.123456 bid - ask - volume - at 2024-03-08T15:29:01Z",
        ],
        empty_routes: vec![("/iex/", "[]".into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Quotes(symbols(&["AAPL", "NOSUCH"])),
            routes: vec![("/iex/", fixture("tiingo/iex.json"))],
            expected: vec!["quote AAPL 171.2 bid 171.19 ask 171.21 volume - at 2024-03-08T15:29:58.123456789Z"],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    minute_bars: AdapterCase {
        build,
        request: DataRequest::MinuteBars(symbols(&["SPY"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
        routes: vec![("/iex/SPY/prices?startDate=2024-03-08&endDate=2024-03-08&resampleFreq=1min", fixture("tiingo/minutes.json"))],
        expected: vec![
            "minute SPY 2024-03-08T15:00:00Z 512.5 512.61 512.43 512.6 49378",
            "minute SPY 2024-03-08T15:01:00Z 512.6 512.7 512.59 512.65 38111",
        ],
        empty_routes: vec![("/iex/SPY/prices", "[]".into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::MinuteBars(symbols(&["NOSUCH"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
            routes: vec![],
            expected: vec![],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    daily_bars: AdapterCase {
        build,
        request: DataRequest::DailyBars(symbols(&["NVDA"]), days("2024-06-07", "2024-06-10")),
        routes: vec![("/tiingo/daily/NVDA/prices?startDate=2024-06-07&endDate=2024-06-10", fixture("tiingo/daily.json"))],
        expected: vec![
            "bar NVDA 2024-06-07 1197.7 1216.92 1180.22 1208.88 41238600",
            "bar NVDA 2024-06-10 120.37 123.1 117.01 121.79 314162700",
        ],
        empty_routes: vec![("/tiingo/daily/NVDA/prices", "[]".into())],
        pages: None,
        unknown: with_unknown_symbol(
            |symbols| DataRequest::DailyBars(symbols, days("2024-06-10", "2024-06-10")),
            "/tiingo/daily/NVDA/prices",
            fixture("tiingo/daily.json"),
            vec!["bar NVDA 2024-06-10 120.37 123.1 117.01 121.79 314162700"],
        ),
        header: HEADER,
    };
    splits: AdapterCase {
        build,
        request: DataRequest::Splits(symbols(&["NVDA"]), days("2024-06-01", "2024-06-30")),
        routes: vec![("/tiingo/daily/NVDA/prices", fixture("tiingo/daily.json"))],
        expected: vec!["split NVDA 2024-06-10 10"],
        empty_routes: vec![("/tiingo/daily/NVDA/prices", "[]".into())],
        pages: None,
        unknown: with_unknown_symbol(
            |symbols| DataRequest::Splits(symbols, days("2024-06-01", "2024-06-30")),
            "/tiingo/daily/NVDA/prices",
            fixture("tiingo/daily.json"),
            vec!["split NVDA 2024-06-10 10"],
        ),
        header: HEADER,
    };
    dividends: AdapterCase {
        build,
        request: DataRequest::Dividends(symbols(&["NVDA"]), days("2024-06-01", "2024-06-30")),
        routes: vec![("/tiingo/daily/NVDA/prices", fixture("tiingo/daily.json"))],
        expected: vec!["dividend NVDA 2024-06-11 paid - 0.01"],
        empty_routes: vec![("/tiingo/daily/NVDA/prices", "[]".into())],
        pages: None,
        unknown: with_unknown_symbol(
            |symbols| DataRequest::Dividends(symbols, days("2024-06-01", "2024-06-30")),
            "/tiingo/daily/NVDA/prices",
            fixture("tiingo/daily.json"),
            vec!["dividend NVDA 2024-06-11 paid - 0.01"],
        ),
        header: HEADER,
    };
    fundamentals: AdapterCase {
        build,
        request: DataRequest::Fundamentals(symbols(&["AAPL"])),
        routes: vec![
            ("/tiingo/fundamentals/AAPL/statements?startDate=2022-07-17&asReported=true", fixture("tiingo/statements.json")),
            ("/tiingo/fundamentals/AAPL/daily?startDate=2024-02-27", fixture("tiingo/figures.json")),
        ],
        expected: vec!["fundamentals AAPL 2024-03-07 eps 6.42 forward - cap 2609659000000 dividend - yield - beta -"],
        empty_routes: vec![("/tiingo/fundamentals/AAPL/", "[]".into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Fundamentals(symbols(&["NOSUCH"])),
            routes: vec![],
            expected: vec![],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
}
