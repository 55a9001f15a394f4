//! What is put through the table: an adapter, a question, and payloads written from its provider's documentation.

use sources::provider::http::Setup;
use sources::provider::{Answer, Ask, Days, Provider, Times};

/// A part of a request's target, and what is answered to requests that have it; several parts with blanks between.
pub type Place = (&'static str, String);

/// One capability of one adapter.
pub struct Subject {
    /// The adapter, asking at this address.
    pub build: fn(url: &str, setup: &Setup) -> Box<dyn Provider>,
    /// The question of the happy path.
    pub ask: Ask,
    /// Where it asks, and what is answered there. Each place is asked once.
    pub happy: Vec<Place>,
    /// What that means, one line a record, sorted ([`lines`]).
    pub means: Vec<&'static str>,
    /// The same places with nothing to tell.
    pub empty: Vec<Place>,
    /// The same in pages, and what it means; nothing if there are no pages.
    pub pages: Option<(Vec<Place>, Vec<&'static str>)>,
    /// A question with a symbol that the provider does not know, what is answered, and who is unknown.
    pub unknown: Option<Unknown>,
    /// A header line that every request must have.
    pub header: &'static str,
}

/// The case of a symbol that a provider does not know.
pub struct Unknown {
    pub ask: Ask,
    pub places: Vec<Place>,
    pub means: Vec<&'static str>,
    pub unknown: Vec<&'static str>,
}

pub fn symbols(texts: &[&str]) -> Vec<market::Symbol> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

pub fn days(from: &str, to: &str) -> Days {
    Days {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
    }
}

pub fn times(from: &str, to: &str) -> Times {
    Times {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
    }
}

/// A payload from `tests/providers/fixtures`.
pub fn fixture(name: &str) -> String {
    let path = format!("{}/tests/providers/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn shown<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// The records of an answer, one line each, sorted.
pub fn lines(answer: &Answer) -> Vec<String> {
    let batch = &answer.batch;
    let mut lines = Vec::new();
    lines.extend(batch.stocks.iter().map(|row| {
        let is_active = if row.is_active { "" } else { " inactive" };
        let kind = row.kind.as_deref().map(|kind| format!(" {kind}")).unwrap_or_default();
        format!(
            "stock {} \"{}\" {}{kind}{is_active}",
            row.symbol,
            row.name,
            shown(row.exchange.as_deref())
        )
    }));
    lines.extend(batch.quotes.iter().map(|row| {
        let (volume, time) = (shown(row.volume), shown(row.time));
        format!(
            "quote {} {} bid {} ask {} volume {volume} at {time}",
            row.symbol,
            row.price,
            shown(row.bid),
            shown(row.ask)
        )
    }));
    lines.extend(batch.bars.iter().map(|row| {
        let bar = row.bar;
        format!(
            "bar {} {} {} {} {} {} {}",
            row.symbol, bar.date, bar.open, bar.high, bar.low, bar.close, bar.volume
        )
    }));
    lines.extend(answer.minutes.iter().map(|minute| {
        let bar = &minute.bar;
        format!(
            "minute {} {} {} {} {} {} {}",
            minute.symbol, bar.time, bar.open, bar.high, bar.low, bar.close, bar.volume
        )
    }));
    lines.extend(batch.fundamentals.iter().map(|row| {
        let (eps, forward, cap) = (shown(row.eps_ttm), shown(row.eps_forward), shown(row.market_cap));
        let (dividend, yields, beta) = (shown(row.dividend_amount), shown(row.dividend_yield), shown(row.beta));
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
            shown(row.eps_estimate)
        )
    }));
    lines.extend(batch.dividends.iter().map(|row| {
        format!(
            "dividend {} {} paid {} {}",
            row.symbol,
            row.ex_date,
            shown(row.payment_date),
            shown(row.amount)
        )
    }));
    lines.extend(
        batch
            .splits
            .iter()
            .map(|row| format!("split {} {} {}", row.symbol, row.date, row.ratio)),
    );
    lines.extend(batch.insider_transactions.iter().map(|row| {
        let (filed, traded) = (row.filed_on, shown(row.traded_on));
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
