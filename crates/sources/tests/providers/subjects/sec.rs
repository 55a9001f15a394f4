//! SEC EDGAR. Payloads: sec.gov, "Accessing EDGAR Data" (the daily index), "EDGAR Application Programming Interfaces" (tickers,
//! submissions), "Ownership XML Technical Specification" (Form 4); written by hand.

use sources::provider::http::{Setup, SetupError};
use sources::provider::sec::{Config, Sec};
use sources::provider::{Ask, Provider};

use crate::support::subject::{Subject, Unknown, days, fixture, symbols};
use crate::table::conformance;

pub fn build(url: &str, setup: &Setup) -> Box<dyn Provider> {
    let config = Config {
        www_url: url.to_owned(),
        data_url: url.to_owned(),
        ..Config::new("Bellwether tests tests@example.com")
    };
    Box::new(Sec::new(&config, setup).unwrap())
}

const HEADER: &str = "user-agent: Bellwether tests tests@example.com";
const TICKERS: &str = "/files/company_tickers.json";

fn tickers() -> (&'static str, String) {
    (TICKERS, fixture("sec/company_tickers.json"))
}

conformance! {
    catalog: Subject {
        build,
        ask: Ask::Catalog,
        happy: vec![tickers()],
        means: vec![
            "stock AAPL \"Apple Inc.\" -",
            "stock BF.B \"BROWN FORMAN CORP\" -",
            "stock BRK.B \"BERKSHIRE HATHAWAY INC\" -",
        ],
        empty: vec![(TICKERS, "{}".into())],
        pages: None,
        unknown: None,
        header: HEADER,
    };
    // One company: by its submissions. The amendment stands, what it corrects does not.
    by_company: Subject {
        build,
        ask: Ask::InsiderTrades(symbols(&["AAPL"]), days("2024-03-04", "2024-03-08")),
        happy: vec![
            tickers(),
            ("/submissions/CIK0000320193.json", fixture("sec/submissions_aapl.json")),
            ("/Archives/edgar/data/320193/000114036124010155/form4.xml", fixture("sec/form4.xml")),
            ("/Archives/edgar/data/320193/000114036124011111/wk-form4_1709937000.xml", fixture("sec/form4_amended.xml")),
        ],
        means: vec!["insider AAPL filed 2024-03-08 traded 2024-03-06 DOE JANE S Sell 1000 at 171.0512"],
        empty: vec![
            tickers(),
            ("/submissions/", r#"{"filings":{"recent":{"accessionNumber":[],"filingDate":[],"form":[],"primaryDocument":[]}}}"#.into()),
        ],
        pages: None,
        unknown: Some(Unknown {
            ask: Ask::InsiderTrades(symbols(&["NOSUCH"]), days("2024-03-04", "2024-03-08")),
            places: vec![tickers()],
            means: vec![],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    // Many companies and few days: by the days' index.
    by_day: Subject {
        build,
        ask: Ask::InsiderTrades(symbols(&["AAPL", "BRK-B", "BF.B"]), days("2024-03-06", "2024-03-07")),
        happy: vec![
            tickers(),
            ("/Archives/edgar/daily-index/2024/QTR1/form.20240306.idx", fixture("sec/form_empty.idx")),
            ("/Archives/edgar/daily-index/2024/QTR1/form.20240307.idx", fixture("sec/form.idx")),
            ("/Archives/edgar/data/320193/0001140361-24-010155.txt", fixture("sec/form4.txt")),
        ],
        means: vec!["insider AAPL filed 2024-03-07 traded 2024-03-06 DOE JANE S Sell 10000 at 171.0512"],
        empty: vec![tickers(), ("/daily-index/", fixture("sec/form_empty.idx"))],
        pages: None,
        unknown: Some(Unknown {
            ask: Ask::InsiderTrades(symbols(&["AAPL", "BRK-B", "BF.B", "NOSUCH"]), days("2024-03-07", "2024-03-07")),
            places: vec![
                tickers(),
                ("/daily-index/", fixture("sec/form.idx")),
                ("/Archives/edgar/data/320193/0001140361-24-010155.txt", fixture("sec/form4.txt")),
            ],
            means: vec!["insider AAPL filed 2024-03-07 traded 2024-03-06 DOE JANE S Sell 10000 at 171.0512"],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
}

#[tokio::test]
async fn who_does_not_say_who_they_are_may_not_ask() {
    let setup = crate::support::setup(&crate::support::clock::TestClock::hurried());
    for contact in ["", "Bellwether", "Bellwether \u{e4}@example.com"] {
        let refused = Sec::new(&Config::new(contact), &setup).err();
        assert!(matches!(refused, Some(SetupError::NoContact { .. })), "{contact:?}");
    }
}

#[tokio::test]
async fn a_day_without_an_index_has_no_filings_and_what_was_replaced_is_told() {
    let server = crate::support::server::Server::start().await;
    let provider = build(
        &server.url,
        &crate::support::setup(&crate::support::clock::TestClock::hurried()),
    );
    let (place, body) = tickers();
    server.route(place, &body);
    // A holiday: nothing is there (404). The server has no route for it.
    let ask = Ask::InsiderTrades(symbols(&["AAPL", "BRK-B", "BF.B"]), days("2024-02-19", "2024-02-19"));
    assert!(provider.fetch(&ask).await.unwrap().is_empty());
    server.route("/submissions/", &fixture("sec/submissions_aapl.json"));
    server.route("wk-form4", &fixture("sec/form4_amended.xml"));
    let ask = Ask::InsiderTrades(symbols(&["AAPL"]), days("2024-03-08", "2024-03-08"));
    let withdrawn = provider.fetch(&ask).await.unwrap().batch.withdrawn_filings;
    assert_eq!((withdrawn.len(), withdrawn[0].insider.as_str()), (1, "DOE JANE"));
    assert_eq!(withdrawn[0].filed_on, "2024-03-07".parse().ok());
    assert_eq!(withdrawn[0].amended_on, "2024-03-08".parse().unwrap());
}
