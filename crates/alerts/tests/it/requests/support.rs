//! Shared helpers.

use alerts::request::{AlertChange, FieldErrors, ParseContext, RequestError, parse_create, parse_update};
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{Alert, AlertId, Condition, NewAlert};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, CurrentPrice, ObservedPrice, Price, PriceFreshness};
use serde_json::{Map, Value, json};

/// Monday, 2024-07-01, 11:00 in New York: the market is open.
pub(crate) const NOW: &str = "2024-07-01T15:00:00Z";

pub(crate) fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn price(text: &str) -> Option<Price> {
    Some(text.parse().unwrap())
}

/// Returns a price that is current because it was observed at this instant.
pub(crate) fn current_at(text: &str, now: Timestamp) -> CurrentPrice {
    let freshness = PriceFreshness {
        calendar: Calendar::nyse(),
        limit: SignedDuration::ZERO,
        confirmed_limit: SignedDuration::ZERO,
    };
    let observed = ObservedPrice {
        price: text.parse().unwrap(),
        at: now,
    };
    freshness.current(observed, None, now).unwrap()
}

pub(crate) fn zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

/// Calls `with` with the context of an account in Berlin at `now`.
pub(crate) fn in_berlin_at<T>(now: &str, with: impl FnOnce(&ParseContext<'_>) -> T) -> T {
    let (calendar, time_zone) = (Calendar::nyse(), zone("Europe/Berlin"));
    with(&ParseContext {
        now: instant(now),
        time_zone: &time_zone,
        calendar: &calendar,
    })
}

pub(crate) fn create_at(now: &str, body: &Value) -> Result<NewAlert, RequestError> {
    in_berlin_at(now, |context| parse_create(body, context))
}

pub(crate) fn create(body: &Value) -> Result<NewAlert, RequestError> {
    create_at(NOW, body)
}

/// Returns whether an alert satisfies a request at [`NOW`].
pub(crate) fn equivalent(existing: &Alert, request: &NewAlert) -> bool {
    alerts::equivalence::equivalent(existing, request, instant(NOW))
}

pub(crate) fn update(current: &Alert, body: &Value) -> Result<AlertChange, RequestError> {
    in_berlin_at(NOW, |context| parse_update(current, body, context))
}

pub(crate) fn errors_of<T>(result: Result<T, RequestError>) -> FieldErrors {
    match result {
        Ok(_) => panic!("nothing was rejected"),
        Err(RequestError::Invalid(errors)) => errors,
        Err(other) => panic!("{other}"),
    }
}

/// Returns a create body for AAPL with this condition and further members.
pub(crate) fn body(condition: &str, more: &Value) -> Value {
    let mut body = Map::new();
    body.insert("symbol".to_owned(), json!("AAPL"));
    body.insert("condition".to_owned(), json!(condition));
    body.extend(more.as_object().unwrap().clone());
    Value::Object(body)
}

/// Parses a create body with this condition and further members.
pub(crate) fn parsed(condition: &str, more: &Value) -> NewAlert {
    create(&body(condition, more)).unwrap_or_else(|error| panic!("{condition} {more}: {error}"))
}

pub(crate) fn condition(condition: &str, more: &Value) -> Condition {
    parsed(condition, more).condition
}

/// Returns an active alert with this condition, created at [`NOW`] at a price of 200.
pub(crate) fn alert(condition: &str, more: &Value) -> Alert {
    alert_of(parsed(condition, more))
}

pub(crate) fn alert_of(parsed: NewAlert) -> Alert {
    let id = AlertId("4f1c2d3e-5a6b-4c7d-8e9f-0a1b2c3d4e5f".parse().unwrap());
    transition::create(
        parsed,
        id,
        OwnerVerification::Verified,
        PriceAvailability::Current(current_at("200", instant(NOW))),
        instant(NOW),
    )
    .unwrap()
    .alert
}

/// Returns a minimal valid body of each condition: its name, then the members besides the symbol.
pub(crate) fn minimal() -> Vec<(&'static str, Value)> {
    vec![
        ("price_above", json!({"threshold": 200})),
        ("price_below", json!({"threshold": 200})),
        ("price_change_up", json!({"threshold": 5})),
        ("price_change_down", json!({"threshold": 5})),
        ("new_high", json!({})),
        ("new_low", json!({})),
        ("ma_crossover_golden", json!({})),
        ("ma_crossover_death", json!({})),
        ("ma_touch_above", json!({"threshold": 50})),
        ("ma_touch_below", json!({"threshold": 50})),
        ("rsi_limit", json!({"threshold": 70})),
        ("volume_change", json!({"threshold": 100})),
        ("pe_ratio_below", json!({"threshold": 15})),
        ("pe_ratio_above", json!({"threshold": 15})),
        ("forward_pe_below", json!({"threshold": 15})),
        ("forward_pe_above", json!({"threshold": 15})),
        ("social_buzz", json!({"parameters": {"direction": "rising"}})),
        ("insider_transactions", json!({"threshold": 1_000_000})),
        ("reminder", json!({"parameters": {"date": "2024-07-02"}})),
        ("daily_reminder", json!({})),
        ("earnings_announcement", json!({"threshold": 7})),
        ("dividend_ex_date", json!({})),
        ("dividend_payment", json!({})),
        (
            "expression",
            json!({"parameters": {"when": "price > 200 and rsi(14) < 30"}}),
        ),
    ]
}
