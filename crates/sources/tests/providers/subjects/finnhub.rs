//! Finnhub. Payloads: finnhub.io/docs/api, each endpoint's sample response; the shapes are theirs, the figures are ours.

use sources::provider::finnhub::{Config, Finnhub};
use sources::provider::http::Setup;
use sources::provider::{Ask, Key, Provider};

use crate::calls::{Line, streams};
use crate::support::KEY;
use crate::support::subject::{Subject, Unknown, days, fixture, symbols, times};
use crate::table::conformance;

fn config(url: &str) -> Config {
    Config {
        api_url: url.to_owned(),
        is_premium: true,
        ..Config::free(Key::new(KEY).unwrap())
    }
}

pub fn build(url: &str, setup: &Setup) -> Box<dyn Provider> {
    Box::new(Finnhub::new(config(url), setup).unwrap())
}

const HEADER: &str = "x-finnhub-token: pk-open-sesame";

fn nosuch(ask: Ask, place: &'static str, body: &str, unknown: Vec<&'static str>) -> Option<Unknown> {
    Some(Unknown {
        ask,
        places: vec![(place, body.to_owned())],
        means: vec![],
        unknown,
    })
}

conformance! {
    catalog: Subject {
        build,
        ask: Ask::Catalog,
        happy: vec![("/stock/symbol?exchange=US", fixture("finnhub/symbols.json"))],
        means: vec![
            "stock AAPL \"APPLE INC\" XNAS Common Stock",
            "stock BRK.B \"BERKSHIRE HATHAWAY INC-CL B\" XNYS Common Stock",
        ],
        empty: vec![("/stock/symbol", "[]".into())],
        pages: None,
        unknown: None,
        header: HEADER,
    };
    quotes: Subject {
        build,
        ask: Ask::Quotes(symbols(&["BRK-B"])),
        happy: vec![("/quote?symbol=BRK.B", fixture("finnhub/quote.json"))],
        means: vec!["quote BRK-B 171.2 bid - ask - volume - at 2024-03-08T15:29:58Z"],
        empty: vec![("/quote", r#"{"c":0,"d":null,"dp":null,"h":0,"l":0,"o":0,"pc":0,"t":0}"#.into())],
        pages: None,
        unknown: Some(Unknown {
            ask: Ask::Quotes(symbols(&["AAPL", "NOSUCH"])),
            places: vec![
                ("/quote?symbol=AAPL", fixture("finnhub/quote.json")),
                ("/quote?symbol=NOSUCH", r#"{"c":0,"d":null,"dp":null,"h":0,"l":0,"o":0,"pc":0,"t":0}"#.into()),
            ],
            means: vec!["quote AAPL 171.2 bid - ask - volume - at 2024-03-08T15:29:58Z"],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    daily_bars: Subject {
        build,
        ask: Ask::DailyBars(symbols(&["AAPL"]), days("2024-03-06", "2024-03-07")),
        happy: vec![("/stock/candle?symbol=AAPL&resolution=D&from=1709683200&to=1709856000", fixture("finnhub/candles.json"))],
        means: vec![
            "bar AAPL 2024-03-06 171.06 171.24 168.68 169.12 68587707",
            "bar AAPL 2024-03-07 169.15 170.73 168.49 169 71765061",
        ],
        empty: vec![("/stock/candle", r#"{"s":"no_data"}"#.into())],
        pages: None,
        unknown: nosuch(Ask::DailyBars(symbols(&["NOSUCH"]), days("2024-03-06", "2024-03-07")), "/stock/candle", r#"{"s":"no_data"}"#, vec![]),
        header: HEADER,
    };
    minute_bars: Subject {
        build,
        ask: Ask::MinuteBars(symbols(&["SPY"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")),
        happy: vec![("/stock/candle?symbol=SPY&resolution=1&from=1709910000&to=1709910120", fixture("finnhub/minutes.json"))],
        means: vec![
            "minute SPY 2024-03-08T15:00:00Z 512.5 512.61 512.43 512.6 49378",
            "minute SPY 2024-03-08T15:01:00Z 512.6 512.7 512.59 512.65 38111",
        ],
        empty: vec![("/stock/candle", r#"{"s":"no_data"}"#.into())],
        pages: None,
        unknown: nosuch(Ask::MinuteBars(symbols(&["NOSUCH"]), times("2024-03-08T15:00:00Z", "2024-03-08T15:02:00Z")), "/stock/candle", r#"{"s":"no_data"}"#, vec![]),
        header: HEADER,
    };
    fundamentals: Subject {
        build,
        ask: Ask::Fundamentals(symbols(&["AAPL"])),
        happy: vec![("/stock/metric?symbol=AAPL&metric=all", fixture("finnhub/metric.json"))],
        means: vec!["fundamentals AAPL 2024-03-08 eps 6.4269 forward - cap 2643611250000 dividend 0.9477 yield 0.5607 beta 1.29"],
        empty: vec![("/stock/metric", r#"{"metric":{},"metricType":"all","series":{},"symbol":"AAPL"}"#.into())],
        pages: None,
        unknown: nosuch(Ask::Fundamentals(symbols(&["NOSUCH"])), "/stock/metric", r#"{"metric":{},"metricType":"all","series":{},"symbol":"NOSUCH"}"#, vec!["NOSUCH"]),
        header: HEADER,
    };
    // One symbol: by its name.
    earnings: Subject {
        build,
        ask: Ask::Earnings(symbols(&["AAPL"]), days("2024-05-01", "2024-05-31")),
        happy: vec![("/calendar/earnings?symbol=AAPL&from=2024-05-01&to=2024-05-31", fixture("finnhub/earnings.json"))],
        means: vec!["earnings AAPL 2024-05-02 AfterClose 1.5375"],
        empty: vec![("/calendar/earnings", r#"{"earningsCalendar":[]}"#.into())],
        pages: None,
        unknown: nosuch(Ask::Earnings(symbols(&["NOSUCH"]), days("2024-05-01", "2024-05-31")), "/calendar/earnings", r#"{"earningsCalendar":[]}"#, vec![]),
        header: HEADER,
    };
    // Many symbols and few days: the whole market, three days at a time.
    earnings_of_the_market: Subject {
        build,
        ask: Ask::Earnings(symbols(&["AAPL", "BRK-B", "MSFT"]), days("2024-05-01", "2024-05-04")),
        happy: vec![
            ("/calendar/earnings?from=2024-05-01&to=2024-05-03", fixture("finnhub/earnings.json")),
            ("/calendar/earnings?from=2024-05-04&to=2024-05-04", r#"{"earningsCalendar":[]}"#.into()),
        ],
        means: vec!["earnings AAPL 2024-05-02 AfterClose 1.5375", "earnings BRK-B 2024-05-03 BeforeOpen -"],
        empty: vec![("/calendar/earnings", r#"{"earningsCalendar":null}"#.into())],
        pages: None,
        unknown: nosuch(Ask::Earnings(symbols(&["NOSUCH", "A", "B"]), days("2024-05-01", "2024-05-02")), "/calendar/earnings", r#"{"earningsCalendar":[]}"#, vec![]),
        header: HEADER,
    };
    dividends: Subject {
        build,
        ask: Ask::Dividends(symbols(&["AAPL"]), days("2024-05-01", "2024-05-31")),
        happy: vec![("/stock/dividend?symbol=AAPL&from=2024-05-01&to=2024-05-31", fixture("finnhub/dividends.json"))],
        means: vec!["dividend AAPL 2024-05-10 paid 2024-05-16 0.25"],
        empty: vec![("/stock/dividend", "[]".into())],
        pages: None,
        unknown: nosuch(Ask::Dividends(symbols(&["NOSUCH"]), days("2024-05-01", "2024-05-31")), "/stock/dividend", "[]", vec![]),
        header: HEADER,
    };
    splits: Subject {
        build,
        ask: Ask::Splits(symbols(&["NVDA"]), days("2024-06-01", "2024-06-30")),
        happy: vec![("/stock/split?symbol=NVDA", fixture("finnhub/splits.json"))],
        means: vec!["split NVDA 2024-06-10 10"],
        empty: vec![("/stock/split", "[]".into())],
        pages: None,
        unknown: nosuch(Ask::Splits(symbols(&["NOSUCH"]), days("2024-06-01", "2024-06-30")), "/stock/split", "[]", vec![]),
        header: HEADER,
    };
    insider_trades: Subject {
        build,
        ask: Ask::InsiderTrades(symbols(&["AAPL"]), days("2024-03-01", "2024-03-08")),
        happy: vec![("/stock/insider-transactions?symbol=AAPL&from=2024-03-01&to=2024-03-08", fixture("finnhub/insiders.json"))],
        means: vec![
            "insider AAPL filed 2024-03-06 traded 2024-03-05 ROE RICHARD P Buy 300 at 169.5",
            "insider AAPL filed 2024-03-07 traded 2024-03-06 DOE JANE S Sell 1250 at 171.0512",
        ],
        empty: vec![("/stock/insider-transactions", r#"{"data":[],"symbol":"AAPL"}"#.into())],
        pages: None,
        unknown: nosuch(Ask::InsiderTrades(symbols(&["NOSUCH"]), days("2024-03-01", "2024-03-08")), "/stock/insider-transactions", r#"{"data":[],"symbol":"NOSUCH"}"#, vec![]),
        header: HEADER,
    };
    mentions: Subject {
        build,
        ask: Ask::Mentions(symbols(&["GME"])),
        happy: vec![("/stock/social-sentiment?symbol=GME&from=2024-02-29&to=2024-03-09", fixture("finnhub/sentiment.json"))],
        means: vec!["mentions GME 2024-03-08T13:00:00Z 4", "mentions GME 2024-03-08T14:00:00Z 41"],
        empty: vec![("/stock/social-sentiment", r#"{"data":[],"symbol":"GME"}"#.into())],
        pages: None,
        unknown: nosuch(Ask::Mentions(symbols(&["NOSUCH"])), "/stock/social-sentiment", r#"{"data":[],"symbol":"NOSUCH"}"#, vec![]),
        header: HEADER,
    };
}

fn listen(url: &str, setup: &Setup) -> Box<dyn Provider> {
    let config = Config {
        stream_url: url.to_owned(),
        ..config("http://127.0.0.1:9")
    };
    Box::new(Finnhub::new(config, setup).unwrap())
}

fn trade(symbol: &str, price: &str, millis: i64) -> String {
    format!(r#"{{"data":[{{"c":["1"],"p":{price},"s":"{symbol}","t":{millis},"v":100}}],"type":"trade"}}"#)
}

streams! {
    stream: Line {
        build: listen,
        greeting: vec![],
        subscribe: vec![r#"{"type":"subscribe","symbol":"AAPL"}"#, r#"{"type":"subscribe","symbol":"BRK.B"}"#],
        change: vec![r#"{"type":"unsubscribe","symbol":"BRK.B"}"#, r#"{"type":"subscribe","symbol":"MSFT"}"#],
        trade,
        class: "BRK.B",
        refusal: None,
        crowded: None,
    };
}
