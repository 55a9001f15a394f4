//! ApeWisdom cases. The payloads follow the sample response of apewisdom.io/api; their numbers are our own.

use sources::provider::apewisdom::{ApeWisdom, ApeWisdomConfig};
use sources::provider::http::AdapterSetup;
use sources::provider::{DataRequest, Provider};

use crate::providers::conformance::conformance;
use crate::providers::support::case::{AdapterCase, UnknownSymbolCase, fixture, symbols};

pub fn build(url: &str, setup: &AdapterSetup) -> Box<dyn Provider> {
    Box::new(
        ApeWisdom::new(
            &ApeWisdomConfig {
                api_url: url.to_owned(),
            },
            setup,
        )
        .unwrap(),
    )
}

conformance! {
    mentions: AdapterCase {
        build,
        request: DataRequest::Mentions(symbols(&["GME", "BRK-B"])),
        routes: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
        expected: vec!["mentions BRK-B 2024-03-08T00:00:00Z 41", "mentions GME 2024-03-08T00:00:00Z 233"],
        empty_routes: vec![("/filter/all-stocks/page/1", r#"{"count":0,"pages":0,"current_page":1,"results":[]}"#.into())],
        pages: None,
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Mentions(symbols(&["GME", "NOSUCH"])),
            routes: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
            expected: vec!["mentions GME 2024-03-08T00:00:00Z 233"],
            // Stocks without mentions are not listed, so absence does not make a symbol unknown.
            unknown: vec![],
        }),
        header: "user-agent: bellwether/",
    };
    in_pages: AdapterCase {
        build,
        request: DataRequest::Mentions(symbols(&["GME", "AAPL"])),
        routes: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
        expected: vec!["mentions GME 2024-03-08T00:00:00Z 233"],
        empty_routes: vec![("/filter/all-stocks/page/1", r#"{"count":0,"pages":0,"current_page":1,"results":[]}"#.into())],
        pages: Some((vec![
            ("/filter/all-stocks/page/1", fixture("apewisdom/page_1.json")),
            ("/filter/all-stocks/page/2", fixture("apewisdom/page_2.json")),
        ], vec!["mentions AAPL 2024-03-08T00:00:00Z 7", "mentions GME 2024-03-08T00:00:00Z 233"])),
        unknown: Some(UnknownSymbolCase {
            request: DataRequest::Mentions(symbols(&["NOSUCH"])),
            routes: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
            expected: vec![],
            unknown: vec![],
        }),
        header: "user-agent: bellwether/",
    };
}
