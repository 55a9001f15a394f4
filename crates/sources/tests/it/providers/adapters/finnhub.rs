//! Finnhub cases. The payloads follow the sample responses of finnhub.io/docs/api; their numbers are our own.

use sources::provider::finnhub::{Finnhub, FinnhubConfig};
use sources::provider::http::AdapterSetup;
use sources::provider::{DataRequest, Provider, ProviderKey};

use crate::providers::conformance::conformance;
use crate::providers::stream_conformance::{StreamCase, stream_conformance};
use crate::providers::support::KEY;
use crate::providers::support::case::{AdapterCase, UnknownSymbolCase, days, fixture, symbols, times};

fn config(url: &str) -> FinnhubConfig {
    FinnhubConfig {
        api_url: url.to_owned(),
        is_premium: true,
        ..FinnhubConfig::free(ProviderKey::new(KEY).unwrap())
    }
}

pub fn build(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    Box::new(Finnhub::new(config(url), setup).unwrap())
}

const HEADER: &str = "x-finnhub-token: pk-open-sesame";

fn unknown_symbol(
    request: DataRequest,
    path: &'static str,
    body: &str,
    unknown: Vec<&'static str>,
) -> Option<UnknownSymbolCase> {
    Some(UnknownSymbolCase {
        request,
        routes: vec![(path, body.to_owned())],
        expected: vec![],
        unknown,
    })
}

conformance! {
    catalog: AdapterCase {
        build,
        request: DataRequest::Catalog,
        routes: vec![("/stock/symbol?exchange=US", fixture("finnhub/symbols.json"))],
        expected: vec![
            "stock AAPL \"APPLE INC\" XNAS Common Stock",
            "stock BRK.B \"BERKSHIRE HATHAWAY INC-CL B\" XNYS Common Stock",
        ],
        empty_routes: vec![("/stock/symbol", "[]".into())],
        pages: None,
        unknown: None,
        header: HEADER,
    };
    quotes: AdapterCase {
        build,
        request: DataRequest::Quotes(symbols(&["BRK-B"])),
        routes: vec![("/quote?symbol=BRK.B", fixture("finnhub/quote.json"))],
        expected: vec!["quote BRK-B 171.2 bid - ask - volume - at 2024-03-08T15:29:58Z"],
        empty_routes: vec![("/quote", r#"{"c":0,"d":null,"dp":null,"h":0,"l":0,"o":0,"pc":0,"t":0}"#.into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Quotes(symbols(&["AAPL", "NOSUCH"])),
            routes: vec![
                ("/quote?symbol=AAPL", fixture("finnhub/quote.json")),
                ("/quote?symbol=NOSUCH", r#"{"c":0,"d":null,"dp":null,"h":0,"l":0,"o":0,"pc":0,"t":0}"#.into()),
            ],
            expected: vec!["quote AAPL 171.2 bid - ask - volume - at 2024-03-08T15:29:58Z"],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    daily_bars: AdapterCase {
        build,
        request: DataRequest::DailyBars(symbols(&["AAPL"]), days("2024-03-06", "2024-03-07")),
        routes: vec![("/stock/candle?symbol=AAPL&resolution=D&from=1709683200&to=1709856000", fixture("finnhub/candles.json"))],
        expected: vec![
            "bar AAPL 2024-03-06 171.06 171.24 168.68 169.12 68587707",
            "bar AAPL 2024-03-07 169.15 170.73 168.49 169 71765061",
        ],
        empty_routes: vec![("/stock/candle", r#"{"s":"no_data"}"#.into())],
        pages: None,
        unknown: unknown_symbol(
            DataRequest::DailyBars(symbols(&["NOSUCH"]), days("2024-03-06", "2024-03-07")),
            "/stock/candle",
            r#"{"s":"no_data"}"#,
            vec![],
        ),
        header: HEADER,
    };
    minute_bars: AdapterCase {
        build,
        request: DataRequest::MinuteBars(symbols(&["SPY"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
        routes: vec![("/stock/candle?symbol=SPY&resolution=1&from=1709910000&to=1709910120", fixture("finnhub/minutes.json"))],
        expected: vec![
            "minute SPY 2024-03-08T15:00:00Z 512.5 512.61 512.43 512.6 49378",
            "minute SPY 2024-03-08T15:01:00Z 512.6 512.7 512.59 512.65 38111",
        ],
        empty_routes: vec![("/stock/candle", r#"{"s":"no_data"}"#.into())],
        pages: None,
        unknown: unknown_symbol(
            DataRequest::MinuteBars(symbols(&["NOSUCH"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
            "/stock/candle",
            r#"{"s":"no_data"}"#,
            vec![],
        ),
        header: HEADER,
    };
    fundamentals: AdapterCase {
        build,
        request: DataRequest::Fundamentals(symbols(&["AAPL"])),
        routes: vec![("/stock/metric?symbol=AAPL&metric=all", fixture("finnhub/metric.json"))],
        expected: vec!["fundamentals AAPL 2024-03-08 eps 6.4269 forward - cap 2643611250000 dividend 0.9477 yield 0.5607 beta 1.29"],
        empty_routes: vec![("/stock/metric", r#"{"metric":{},"metricType":"all","series":{},"symbol":"AAPL"}"#.into())],
        pages: None,
        unknown: unknown_symbol(
            DataRequest::Fundamentals(symbols(&["NOSUCH"])),
            "/stock/metric",
            r#"{"metric":{},"metricType":"all","series":{},"symbol":"NOSUCH"}"#,
            vec!["NOSUCH"],
        ),
        header: HEADER,
    };
    // One symbol: one request by symbol.
    earnings: AdapterCase {
        build,
        request: DataRequest::Earnings(symbols(&["AAPL"]), days("2024-05-01", "2024-05-31")),
        routes: vec![("/calendar/earnings?symbol=AAPL&from=2024-05-01&to=2024-05-31", fixture("finnhub/earnings.json"))],
        expected: vec!["earnings AAPL 2024-05-02 AfterClose 1.5375"],
        empty_routes: vec![("/calendar/earnings", r#"{"earningsCalendar":[]}"#.into())],
        pages: None,
        unknown: unknown_symbol(
            DataRequest::Earnings(symbols(&["NOSUCH"]), days("2024-05-01", "2024-05-31")),
            "/calendar/earnings",
            r#"{"earningsCalendar":[]}"#,
            vec![],
        ),
        header: HEADER,
    };
    // Many symbols and few days: requests for the whole market, three days at a time.
    earnings_of_the_market: AdapterCase {
        build,
        request: DataRequest::Earnings(symbols(&["AAPL", "BRK-B", "MSFT"]), days("2024-05-01", "2024-05-04")),
        routes: vec![
            ("/calendar/earnings?from=2024-05-01&to=2024-05-03", fixture("finnhub/earnings.json")),
            ("/calendar/earnings?from=2024-05-04&to=2024-05-04", r#"{"earningsCalendar":[]}"#.into()),
        ],
        expected: vec!["earnings AAPL 2024-05-02 AfterClose 1.5375", "earnings BRK-B 2024-05-03 BeforeOpen -"],
        empty_routes: vec![("/calendar/earnings", r#"{"earningsCalendar":null}"#.into())],
        pages: None,
        unknown: unknown_symbol(
            DataRequest::Earnings(symbols(&["NOSUCH", "A", "B"]), days("2024-05-01", "2024-05-02")),
            "/calendar/earnings",
            r#"{"earningsCalendar":[]}"#,
            vec![],
        ),
        header: HEADER,
    };
    dividends: AdapterCase {
        build,
        request: DataRequest::Dividends(symbols(&["AAPL"]), days("2024-05-01", "2024-05-31")),
        routes: vec![("/stock/dividend?symbol=AAPL&from=2024-05-01&to=2024-05-31", fixture("finnhub/dividends.json"))],
        expected: vec!["dividend AAPL 2024-05-10 paid 2024-05-16 0.25"],
        empty_routes: vec![("/stock/dividend", "[]".into())],
        pages: None,
        unknown: unknown_symbol(
            DataRequest::Dividends(symbols(&["NOSUCH"]), days("2024-05-01", "2024-05-31")),
            "/stock/dividend",
            "[]",
            vec![],
        ),
        header: HEADER,
    };
    splits: AdapterCase {
        build,
        request: DataRequest::Splits(symbols(&["NVDA"]), days("2024-06-01", "2024-06-30")),
        routes: vec![("/stock/split?symbol=NVDA", fixture("finnhub/splits.json"))],
        expected: vec!["split NVDA 2024-06-10 10"],
        empty_routes: vec![("/stock/split", "[]".into())],
        pages: None,
        unknown: unknown_symbol(DataRequest::Splits(symbols(&["NOSUCH"]), days("2024-06-01", "2024-06-30")), "/stock/split", "[]", vec![]),
        header: HEADER,
    };
    insider_trades: AdapterCase {
        build,
        request: DataRequest::InsiderTrades(symbols(&["AAPL"]), days("2024-03-01", "2024-03-08")),
        routes: vec![("/stock/insider-transactions?symbol=AAPL&from=2024-03-01&to=2024-03-08", fixture("finnhub/insiders.json"))],
        expected: vec![
            "insider AAPL filed 2024-03-06 traded 2024-03-05 ROE RICHARD P Buy 300 at 169.5",
            "insider AAPL filed 2024-03-07 traded 2024-03-06 DOE JANE S Sell 1250 at 171.0512",
        ],
        empty_routes: vec![("/stock/insider-transactions", r#"{"data":[],"symbol":"AAPL"}"#.into())],
        pages: None,
        unknown: unknown_symbol(
            DataRequest::InsiderTrades(symbols(&["NOSUCH"]), days("2024-03-01", "2024-03-08")),
            "/stock/insider-transactions",
            r#"{"data":[],"symbol":"NOSUCH"}"#,
            vec![],
        ),
        header: HEADER,
    };
    mentions: AdapterCase {
        build,
        request: DataRequest::Mentions(symbols(&["GME"])),
        routes: vec![("/stock/social-sentiment?symbol=GME&from=2024-02-29&to=2024-03-09", fixture("finnhub/sentiment.json"))],
        expected: vec!["mentions GME 2024-03-08T13:00:00Z 4", "mentions GME 2024-03-08T14:00:00Z 41"],
        empty_routes: vec![("/stock/social-sentiment", r#"{"data":[],"symbol":"GME"}"#.into())],
        pages: None,
        unknown: unknown_symbol(
            DataRequest::Mentions(symbols(&["NOSUCH"])),
            "/stock/social-sentiment",
            r#"{"data":[],"symbol":"NOSUCH"}"#,
            vec![],
        ),
        header: HEADER,
    };
}

fn build_stream(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    let config = FinnhubConfig {
        stream_url: url.to_owned(),
        ..config("http://127.0.0.1:9")
    };
    Box::new(Finnhub::new(config, setup).unwrap())
}

fn trade(symbol: &str, price: &str, millis: i64) -> String {
    format!(r#"{{"data":[{{"c":["1"],"p":{price},"s":"{symbol}","t":{millis},"v":100}}],"type":"trade"}}"#)
}

stream_conformance! {
    stream: StreamCase {
        build: build_stream,
        login: vec![],
        subscribe: vec![r#"{"type":"subscribe","symbol":"AAPL"}"#, r#"{"type":"subscribe","symbol":"BRK.B"}"#],
        change: vec![r#"{"type":"unsubscribe","symbol":"BRK.B"}"#, r#"{"type":"subscribe","symbol":"MSFT"}"#],
        trade,
        share_class: "BRK.B",
        rejected_key: None,
        too_many_connections: None,
    };
}
