//! ApeWisdom. Payloads: apewisdom.io/api, the sample response; the figures are ours.

use sources::provider::apewisdom::{ApeWisdom, Config};
use sources::provider::http::Setup;
use sources::provider::{Ask, Provider};

use crate::support::subject::{Subject, Unknown, fixture, symbols};
use crate::table::conformance;

pub fn build(url: &str, setup: &Setup) -> Box<dyn Provider> {
    Box::new(
        ApeWisdom::new(
            &Config {
                api_url: url.to_owned(),
            },
            setup,
        )
        .unwrap(),
    )
}

conformance! {
    mentions: Subject {
        build,
        ask: Ask::Mentions(symbols(&["GME", "BRK-B"])),
        happy: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
        means: vec!["mentions BRK-B 2024-03-08T00:00:00Z 41", "mentions GME 2024-03-08T00:00:00Z 233"],
        empty: vec![("/filter/all-stocks/page/1", r#"{"count":0,"pages":0,"current_page":1,"results":[]}"#.into())],
        pages: None,
        unknown: Some(Unknown {
            ask: Ask::Mentions(symbols(&["GME", "NOSUCH"])),
            places: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
            means: vec!["mentions GME 2024-03-08T00:00:00Z 233"],
            // Who is not mentioned is not listed: that says nothing about a symbol.
            unknown: vec![],
        }),
        header: "user-agent: bellwether/",
    };
    in_pages: Subject {
        build,
        ask: Ask::Mentions(symbols(&["GME", "AAPL"])),
        happy: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
        means: vec!["mentions GME 2024-03-08T00:00:00Z 233"],
        empty: vec![("/filter/all-stocks/page/1", r#"{"count":0,"pages":0,"current_page":1,"results":[]}"#.into())],
        pages: Some((vec![
            ("/filter/all-stocks/page/1", fixture("apewisdom/page_1.json")),
            ("/filter/all-stocks/page/2", fixture("apewisdom/page_2.json")),
        ], vec!["mentions AAPL 2024-03-08T00:00:00Z 7", "mentions GME 2024-03-08T00:00:00Z 233"])),
        unknown: Some(Unknown {
            ask: Ask::Mentions(symbols(&["NOSUCH"])),
            places: vec![("/filter/all-stocks/page/1", fixture("apewisdom/only.json"))],
            means: vec![],
            unknown: vec![],
        }),
        header: "user-agent: bellwether/",
    };
}
