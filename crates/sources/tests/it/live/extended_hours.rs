//! Prices of extended hours: on a winter day from 09:00 to 14:30 and from 21:00 to 01:00.

use market::records::QuoteRow;
use sources::provider::{DataRequest, DataResponse};

use crate::live::fixture::{Fixture, FixtureConfig, at, friday, quote, quotes, symbol};

/// Begins with AAPL, whose alerts are judged in extended hours, and MSFT, whose alerts are not.
async fn begin(now: jiff::Timestamp, has_extended_hours: bool, rows: Vec<QuoteRow>) -> Fixture {
    let mut config = FixtureConfig::at(now, &["AAPL", "MSFT"]);
    config.has_extended_hours = has_extended_hours;
    config.known.judged_in_extended_hours = vec![symbol("AAPL")];
    Fixture::begin(config, move |request| {
        Ok(match request {
            DataRequest::Quotes(symbols) => quotes(
                rows.iter()
                    .copied()
                    .filter(|row| symbols.contains(&row.symbol))
                    .collect(),
            ),
            _ => DataResponse::default(),
        })
    })
    .await
}

fn of(names: &[&str]) -> DataRequest {
    DataRequest::Quotes(names.iter().map(|name| symbol(name)).collect())
}

#[tokio::test]
async fn judged_stock_is_polled_from_four_to_the_open() {
    let fixture = begin(friday("08:59:50"), true, Vec::new()).await;
    assert_eq!(fixture.sent_requests(), [of(&["AAPL", "MSFT"])], "once, for display");
    fixture.until(friday("08:59:59")).await;
    assert_eq!(fixture.sent_requests(), []);
    fixture.until(friday("09:01:00")).await;
    assert_eq!(fixture.sent_requests(), [of(&["AAPL"]), of(&["AAPL"])]);

    let fixture = begin(friday("14:29:30"), true, Vec::new()).await;
    assert_eq!(fixture.sent_requests(), [of(&["AAPL", "MSFT"])]);
    fixture.until(friday("14:29:59")).await;
    assert_eq!(fixture.sent_requests(), []);
    fixture.until(friday("14:30:00")).await;
    assert_eq!(
        fixture.sent_requests(),
        [of(&["AAPL", "MSFT"])],
        "the session has begun"
    );
}

#[tokio::test]
async fn judged_stock_is_polled_from_the_close_to_eight() {
    let fixture = begin(friday("20:59:00"), true, Vec::new()).await;
    fixture.until(friday("21:02:59")).await;
    let _ = fixture.sent_requests();
    fixture.until(friday("21:04:59")).await;
    assert_eq!(fixture.sent_requests(), [of(&["AAPL"]), of(&["AAPL"])]);

    let fixture = begin(at("2024-03-09T00:59:00Z"), true, Vec::new()).await;
    let _ = fixture.sent_requests();
    fixture.until(at("2024-03-09T01:00:00Z")).await;
    assert_eq!(fixture.sent_requests(), [of(&["AAPL"])]);
    fixture.until(at("2024-03-09T01:05:00Z")).await;
    assert_eq!(fixture.sent_requests(), []);
}

#[tokio::test]
async fn provider_without_extended_hours_is_not_polled_in_them() {
    let fixture = begin(friday("22:00:00"), false, Vec::new()).await;
    assert_eq!(fixture.sent_requests(), [of(&["AAPL", "MSFT"])]);
    fixture.until(friday("22:05:00")).await;
    assert_eq!(fixture.sent_requests(), []);
}

#[tokio::test]
async fn undocumented_prices_of_extended_hours_are_not_judged() {
    for (has_extended_hours, expected) in [
        (true, vec!["AAPL 190 21:59:58", "MSFT 400 21:59:58"]),
        (false, vec!["MSFT 400 21:59:58"]),
    ] {
        let rows = ["AAPL 190", "MSFT 400"].map(|row| {
            let (name, price) = row.split_once(' ').unwrap();
            quote(name, price, friday("21:59:58"))
        });
        let mut fixture = begin(friday("22:00:00"), has_extended_hours, rows.to_vec()).await;
        assert_eq!(fixture.delivered(), expected);
    }
}
