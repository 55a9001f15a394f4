//! Tiingo. Payloads: tiingo.com/documentation, each endpoint's sample response; the shapes are theirs, the figures are ours.

use sources::provider::http::Setup;
use sources::provider::tiingo::{Config, Tiingo};
use sources::provider::{Ask, Key, Provider};

use crate::support::KEY;
use crate::support::subject::{Subject, Unknown, days, fixture, symbols, times};
use crate::table::conformance;

pub fn build(url: &str, setup: &Setup) -> Box<dyn Provider> {
    let config = Config {
        api_url: url.to_owned(),
        ..Config::free(Key::new(KEY).unwrap())
    };
    Box::new(Tiingo::new(&config, setup).unwrap())
}

const HEADER: &str = "authorization: Token pk-open-sesame";

/// One symbol that is known and one of which the server has nothing: 404.
fn and_a_stranger(
    ask: fn(Vec<market::Symbol>) -> Ask,
    place: &'static str,
    body: String,
    means: Vec<&'static str>,
) -> Option<Unknown> {
    Some(Unknown {
        ask: ask(symbols(&["NOSUCH", "NVDA"])),
        places: vec![(place, body)],
        means,
        unknown: vec!["NOSUCH"],
    })
}

conformance! {
    quotes: Subject {
        build,
        ask: Ask::Quotes(symbols(&["AAPL", "BRK.B"])),
        happy: vec![("/iex/?tickers=AAPL%2CBRK-B", fixture("tiingo/iex.json"))],
        means: vec![
            "quote AAPL 171.2 bid 171.19 ask 171.21 volume - at 2024-03-08T15:29:58.123456789Z",
            "quote BRK.B 405.123456 bid - ask - volume - at 2024-03-08T15:29:01Z",
        ],
        empty: vec![("/iex/", "[]".into())],
        pages: None,
        unknown: Some(Unknown {
            ask: Ask::Quotes(symbols(&["AAPL", "NOSUCH"])),
            places: vec![("/iex/", fixture("tiingo/iex.json"))],
            means: vec!["quote AAPL 171.2 bid 171.19 ask 171.21 volume - at 2024-03-08T15:29:58.123456789Z"],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    minute_bars: Subject {
        build,
        ask: Ask::MinuteBars(symbols(&["SPY"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
        happy: vec![("/iex/SPY/prices?startDate=2024-03-08&endDate=2024-03-08&resampleFreq=1min", fixture("tiingo/minutes.json"))],
        means: vec![
            "minute SPY 2024-03-08T15:00:00Z 512.5 512.61 512.43 512.6 49378",
            "minute SPY 2024-03-08T15:01:00Z 512.6 512.7 512.59 512.65 38111",
        ],
        empty: vec![("/iex/SPY/prices", "[]".into())],
        pages: None,
        unknown: Some(Unknown {
            ask: Ask::MinuteBars(symbols(&["NOSUCH"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
            places: vec![],
            means: vec![],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    daily_bars: Subject {
        build,
        ask: Ask::DailyBars(symbols(&["NVDA"]), days("2024-06-07", "2024-06-10")),
        happy: vec![("/tiingo/daily/NVDA/prices?startDate=2024-06-07&endDate=2024-06-10", fixture("tiingo/daily.json"))],
        means: vec![
            "bar NVDA 2024-06-07 1197.7 1216.92 1180.22 1208.88 41238600",
            "bar NVDA 2024-06-10 120.37 123.1 117.01 121.79 314162700",
        ],
        empty: vec![("/tiingo/daily/NVDA/prices", "[]".into())],
        pages: None,
        unknown: and_a_stranger(|symbols| Ask::DailyBars(symbols, days("2024-06-10", "2024-06-10")), "/tiingo/daily/NVDA/prices", fixture("tiingo/daily.json"), vec!["bar NVDA 2024-06-10 120.37 123.1 117.01 121.79 314162700"]),
        header: HEADER,
    };
    splits: Subject {
        build,
        ask: Ask::Splits(symbols(&["NVDA"]), days("2024-06-01", "2024-06-30")),
        happy: vec![("/tiingo/daily/NVDA/prices", fixture("tiingo/daily.json"))],
        means: vec!["split NVDA 2024-06-10 10"],
        empty: vec![("/tiingo/daily/NVDA/prices", "[]".into())],
        pages: None,
        unknown: and_a_stranger(|symbols| Ask::Splits(symbols, days("2024-06-01", "2024-06-30")), "/tiingo/daily/NVDA/prices", fixture("tiingo/daily.json"), vec!["split NVDA 2024-06-10 10"]),
        header: HEADER,
    };
    dividends: Subject {
        build,
        ask: Ask::Dividends(symbols(&["NVDA"]), days("2024-06-01", "2024-06-30")),
        happy: vec![("/tiingo/daily/NVDA/prices", fixture("tiingo/daily.json"))],
        means: vec!["dividend NVDA 2024-06-11 paid - 0.01"],
        empty: vec![("/tiingo/daily/NVDA/prices", "[]".into())],
        pages: None,
        unknown: and_a_stranger(|symbols| Ask::Dividends(symbols, days("2024-06-01", "2024-06-30")), "/tiingo/daily/NVDA/prices", fixture("tiingo/daily.json"), vec!["dividend NVDA 2024-06-11 paid - 0.01"]),
        header: HEADER,
    };
    fundamentals: Subject {
        build,
        ask: Ask::Fundamentals(symbols(&["AAPL"])),
        happy: vec![
            ("/tiingo/fundamentals/AAPL/statements?startDate=2022-07-17&asReported=true", fixture("tiingo/statements.json")),
            ("/tiingo/fundamentals/AAPL/daily?startDate=2024-02-27", fixture("tiingo/figures.json")),
        ],
        means: vec!["fundamentals AAPL 2024-03-07 eps 6.42 forward - cap 2609659000000 dividend - yield - beta -"],
        empty: vec![("/tiingo/fundamentals/AAPL/", "[]".into())],
        pages: None,
        unknown: Some(Unknown {
            ask: Ask::Fundamentals(symbols(&["NOSUCH"])),
            places: vec![],
            means: vec![],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
}
