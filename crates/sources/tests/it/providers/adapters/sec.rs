//! SEC EDGAR cases. The payloads are written by hand from sec.gov: "Accessing EDGAR Data" (the daily index), "EDGAR Application
//! Programming Interfaces" (tickers, submissions) and "Ownership XML Technical Specification" (Form 4).

use sources::provider::http::{AdapterSetup, AdapterSetupError};
use sources::provider::sec::{Sec, SecConfig};
use sources::provider::{DataRequest, Provider};

use crate::providers::conformance::conformance;
use crate::providers::support::case::{AdapterCase, UnknownSymbolCase, days, fixture, symbols};

pub fn build(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    let config = SecConfig {
        www_url: url.to_owned(),
        data_url: url.to_owned(),
        ..SecConfig::new("Bellwether tests tests@example.com")
    };
    Box::new(Sec::new(&config, setup).unwrap())
}

const HEADER: &str = "user-agent: Bellwether tests tests@example.com";
const TICKERS: &str = "/files/company_tickers.json";

fn tickers() -> (&'static str, String) {
    (TICKERS, fixture("sec/company_tickers.json"))
}

conformance! {
    catalog: AdapterCase {
        build,
        request: DataRequest::Catalog,
        routes: vec![tickers()],
        expected: vec![
            "stock AAPL \"Apple Inc.\" -",
            "stock BF.B \"BROWN FORMAN CORP\" -",
            "stock BRK.B \"BERKSHIRE HATHAWAY INC\" -",
        ],
        empty_routes: vec![(TICKERS, "{}".into())],
        pages: None,
        unknown: None,
        header: HEADER,
    };
    // One company: requests its submissions. The amendment replaces the amended filing.
    by_company: AdapterCase {
        build,
        request: DataRequest::InsiderTrades(symbols(&["AAPL"]), days("2024-03-04", "2024-03-08")),
        routes: vec![
            tickers(),
            ("/submissions/CIK0000320193.json", fixture("sec/submissions_aapl.json")),
            ("/Archives/edgar/data/320193/000114036124010155/form4.xml", fixture("sec/form4.xml")),
            ("/Archives/edgar/data/320193/000114036124011111/wk-form4_1709937000.xml", fixture("sec/form4_amended.xml")),
        ],
        expected: vec!["insider AAPL filed 2024-03-08 traded 2024-03-06 DOE JANE S Sell 1000 at 171.0512"],
        empty_routes: vec![
            tickers(),
            ("/submissions/", r#"{"filings":{"recent":{"accessionNumber":[],"filingDate":[],"form":[],"primaryDocument":[]}}}"#.into()),
        ],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::InsiderTrades(symbols(&["NOSUCH"]), days("2024-03-04", "2024-03-08")),
            routes: vec![tickers()],
            expected: vec![],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
    // Many companies and few days: requests the daily indexes.
    by_day: AdapterCase {
        build,
        request: DataRequest::InsiderTrades(symbols(&["AAPL", "BRK-B", "BF.B"]), days("2024-03-06", "2024-03-07")),
        routes: vec![
            tickers(),
            ("/Archives/edgar/daily-index/2024/QTR1/form.20240306.idx", fixture("sec/form_empty.idx")),
            ("/Archives/edgar/daily-index/2024/QTR1/form.20240307.idx", fixture("sec/form.idx")),
            ("/Archives/edgar/data/320193/0001140361-24-010155.txt", fixture("sec/form4.txt")),
        ],
        expected: vec!["insider AAPL filed 2024-03-07 traded 2024-03-06 DOE JANE S Sell 10000 at 171.0512"],
        empty_routes: vec![tickers(), ("/daily-index/", fixture("sec/form_empty.idx"))],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::InsiderTrades(symbols(&["AAPL", "BRK-B", "BF.B", "NOSUCH"]), days("2024-03-07", "2024-03-07")),
            routes: vec![
                tickers(),
                ("/daily-index/", fixture("sec/form.idx")),
                ("/Archives/edgar/data/320193/0001140361-24-010155.txt", fixture("sec/form4.txt")),
            ],
            expected: vec!["insider AAPL filed 2024-03-07 traded 2024-03-06 DOE JANE S Sell 10000 at 171.0512"],
            unknown: vec!["NOSUCH"],
        }),
        header: HEADER,
    };
}

#[tokio::test]
async fn contact_is_required() {
    let setup = crate::providers::support::setup(&crate::providers::support::clock::TestClock::auto_advancing());
    for contact in ["", "Bellwether", "Bellwether \u{e4}@example.com"] {
        let refused = Sec::new(&SecConfig::new(contact), &setup).err();
        assert!(
            matches!(refused, Some(AdapterSetupError::NoContact { .. })),
            "{contact:?}"
        );
    }
}

#[tokio::test]
async fn missing_index_means_no_filings_and_amended_filing_is_withdrawn() {
    let server = crate::providers::support::server::StubServer::start().await;
    let provider = build(
        &server.url,
        &crate::providers::support::setup(&crate::providers::support::clock::TestClock::auto_advancing()),
    );
    let (path, body) = tickers();
    server.route(path, &body);
    // A holiday has no index: the server has no route for it and responds with 404.
    let request = DataRequest::InsiderTrades(symbols(&["AAPL", "BRK-B", "BF.B"]), days("2024-02-19", "2024-02-19"));
    assert!(provider.fetch(&request).await.unwrap().is_empty());
    server.route("/submissions/", &fixture("sec/submissions_aapl.json"));
    server.route("wk-form4", &fixture("sec/form4_amended.xml"));
    let request = DataRequest::InsiderTrades(symbols(&["AAPL"]), days("2024-03-08", "2024-03-08"));
    let withdrawn = provider.fetch(&request).await.unwrap().batch.withdrawn_filings;
    assert_eq!((withdrawn.len(), withdrawn[0].insider.as_str()), (1, "DOE JANE"));
    assert_eq!(withdrawn[0].filed_on, "2024-03-07".parse().ok());
    assert_eq!(withdrawn[0].amended_on, "2024-03-08".parse().unwrap());
}
