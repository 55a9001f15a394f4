//! Describes a requested alert for the verification email.

use alerts::NewAlert;
use alerts::condition::{Condition, DeliveryTime};
use jiff::tz::TimeZone;
use market::display::{Percent, Usd};

/// Returns `AAPL rises to 200.00 USD or above (once)`. It contains only the symbol and numbers of the guest's
/// input: an email to an unverified address must not carry a stranger's text.
pub(super) fn describe(alert: &NewAlert) -> String {
    let symbol = alert.symbol;
    match alert.condition {
        Condition::Price { side, threshold } => {
            let (verb, beyond) = side.pick(("rises", "above"), ("falls", "below"));
            format!("{symbol} {verb} to {} USD or {beyond} (once)", Usd(threshold.decimal()))
        }
        Condition::PriceChange { side, percent } => {
            let verb = side.pick("rises", "falls");
            format!("{symbol} {verb} by {} % or more (once)", Percent(percent))
        }
        Condition::NewExtreme { side } => {
            let extreme = side.pick("high", "low");
            format!("{symbol} reaches a new 52-week {extreme} (once)")
        }
        Condition::Expression(ref condition) => format!("{} (once)", condition.expression.sentence(symbol)),
        Condition::Reminder { at } => {
            let at = TimeZone::get("America/New_York").map_or_else(
                |_| format!("{at:.0}"),
                |zone| at.to_zoned(zone).strftime("%-d %B %Y, %H:%M %Z").to_string(),
            );
            format!("a reminder of {symbol} on {at} (once)")
        }
        Condition::DailyReminder(DeliveryTime::MarketOpen) => {
            format!("a reminder of {symbol} each trading day when the market opens")
        }
        Condition::DailyReminder(DeliveryTime::AfterMarketClose) => {
            format!("a reminder of {symbol} each trading day after the market closes")
        }
        // Guests cannot have any of these.
        ref other => format!("{symbol}: {}", other.kind()),
    }
}

#[cfg(test)]
mod tests {
    use alerts::request::{ParseContext, parse_create};
    use market::Calendar;
    use serde_json::{Value, json};

    use super::*;

    fn words(condition: &str, more: Value) -> String {
        let mut body = json!({"symbol": "aapl", "condition": condition});
        let more = more.as_object().cloned().unwrap_or_default();
        body.as_object_mut().unwrap().extend(more);
        let context = ParseContext {
            now: "2024-03-08T15:00:00Z".parse().unwrap(),
            time_zone: &TimeZone::UTC,
            calendar: &Calendar::nyse(),
        };
        describe(&parse_create(&body, &context).unwrap())
    }

    #[test]
    fn every_guest_condition_has_a_description() {
        for (condition, more, expected) in [
            (
                "price_above",
                json!({"threshold": 200}),
                "AAPL rises to 200.00 USD or above (once)",
            ),
            (
                "price_below",
                json!({"threshold": 0.1234}),
                "AAPL falls to 0.1234 USD or below (once)",
            ),
            (
                "price_change_up",
                json!({"threshold": 5}),
                "AAPL rises by 5.00 % or more (once)",
            ),
            (
                "price_change_down",
                json!({"threshold": 2.5}),
                "AAPL falls by 2.50 % or more (once)",
            ),
            ("new_high", json!({}), "AAPL reaches a new 52-week high (once)"),
            ("new_low", json!({}), "AAPL reaches a new 52-week low (once)"),
            (
                "reminder",
                json!({"parameters": {"date": "2024-03-11"}}),
                "a reminder of AAPL on 11 March 2024, 09:30 EDT (once)",
            ),
            (
                "daily_reminder",
                json!({}),
                "a reminder of AAPL each trading day when the market opens",
            ),
            (
                "daily_reminder",
                json!({"parameters": {"deliveryTime": "after_market_close"}}),
                "a reminder of AAPL each trading day after the market closes",
            ),
        ] {
            assert_eq!(words(condition, more), expected);
        }
    }
}
