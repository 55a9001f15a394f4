//! Conformance cases: an adapter, a request, and payloads written from the provider's documentation.

use sources::provider::http::AdapterSetup;
use sources::provider::{DataRequest, DataResponse, DateRange, Provider, TimeRange};

/// Parts of the request target, separated by spaces, and the response body for requests that contain all of them.
pub type StubRoute = (&'static str, String);

/// A case for one capability of one adapter.
pub struct AdapterCase {
    /// Builds the adapter for this base URL.
    pub build: fn(url: &str, setup: &AdapterSetup) -> Box<dyn Provider>,
    /// The request.
    pub request: DataRequest,
    /// The routes of the documented response. Each is requested once.
    pub routes: Vec<StubRoute>,
    /// The expected records, one line each, sorted ([`lines`]).
    pub expected: Vec<&'static str>,
    /// The routes of an empty response.
    pub empty_routes: Vec<StubRoute>,
    /// The routes of a response in pages, and its records; `None` without pages.
    pub pages: Option<(Vec<StubRoute>, Vec<&'static str>)>,
    /// A request with an unknown symbol; `None` if the request names no symbols.
    pub unknown: Option<UnknownSymbolCase>,
    /// A header line that every request must have.
    pub header: &'static str,
}

/// A request with a symbol that the provider does not know.
pub struct UnknownSymbolCase {
    pub request: DataRequest,
    pub routes: Vec<StubRoute>,
    pub expected: Vec<&'static str>,
    pub unknown: Vec<&'static str>,
}

pub fn symbols(texts: &[&str]) -> Vec<market::Symbol> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

pub fn days(from: &str, to: &str) -> DateRange {
    DateRange {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
    }
}

pub fn times(from: &str, to: &str) -> TimeRange {
    TimeRange {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
    }
}

/// Reads a payload from `tests/it/providers/fixtures`.
pub fn fixture(name: &str) -> String {
    let path = format!("{}/tests/it/providers/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn or_dash<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Formats the records of a response, one line each, sorted.
pub fn lines(response: &DataResponse) -> Vec<String> {
    let batch = &response.batch;
    let mut lines = Vec::new();
    lines.extend(batch.stocks.iter().map(|row| {
        let is_active = if row.is_active { "" } else { " inactive" };
        let kind = row.kind.as_deref().map(|kind| format!(" {kind}")).unwrap_or_default();
        format!(
            "stock {} \"{}\" {}{kind}{is_active}",
            row.symbol,
            row.name,
            or_dash(row.exchange.as_deref())
        )
    }));
    lines.extend(batch.quotes.iter().map(|row| {
        let (volume, time) = (or_dash(row.volume), or_dash(row.time));
        let vwap = row.vwap.map_or_else(String::new, |vwap| format!(" vwap {vwap}"));
        format!(
            "quote {} {} bid {} ask {} volume {volume}{vwap} at {time}",
            row.symbol,
            row.price,
            or_dash(row.bid),
            or_dash(row.ask)
        )
    }));
    lines.extend(batch.bars.iter().map(|row| {
        let bar = row.bar;
        format!(
            "bar {} {} {} {} {} {} {}",
            row.symbol, bar.date, bar.open, bar.high, bar.low, bar.close, bar.volume
        )
    }));
    lines.extend(response.minutes.iter().map(|minute| {
        let bar = &minute.bar;
        format!(
            "minute {} {} {} {} {} {} {}",
            minute.symbol, bar.time, bar.open, bar.high, bar.low, bar.close, bar.volume
        )
    }));
    lines.extend(batch.fundamentals.iter().map(|row| {
        let (eps, forward, cap) = (or_dash(row.eps_ttm), or_dash(row.eps_forward), or_dash(row.market_cap));
        let (dividend, yields, beta) = (
            or_dash(row.dividend_amount),
            or_dash(row.dividend_yield),
            or_dash(row.beta),
        );
        format!(
            "fundamentals {} {} eps {eps} forward {forward} cap {cap} dividend {dividend} yield {yields} beta {beta}",
            row.symbol, row.as_of
        )
    }));
    lines.extend(batch.earnings.iter().map(|row| {
        format!(
            "earnings {} {} {:?} {}",
            row.symbol,
            row.date,
            row.time,
            or_dash(row.eps_estimate)
        )
    }));
    lines.extend(batch.dividends.iter().map(|row| {
        format!(
            "dividend {} {} paid {} {}",
            row.symbol,
            row.ex_date,
            or_dash(row.payment_date),
            or_dash(row.amount)
        )
    }));
    lines.extend(
        batch
            .splits
            .iter()
            .map(|row| format!("split {} {} {}", row.symbol, row.date, row.ratio)),
    );
    lines.extend(batch.insider_transactions.iter().map(|row| {
        let (filed, traded) = (row.filed_on, or_dash(row.traded_on));
        format!(
            "insider {} filed {filed} traded {traded} {} {} {:?} {} at {}",
            row.symbol, row.insider, row.code, row.side, row.shares, row.price
        )
    }));
    lines.extend(
        batch
            .mentions
            .iter()
            .map(|row| format!("mentions {} {} {}", row.symbol, row.time, row.mentions)),
    );
    lines.sort();
    lines
}
