//! The alerts of the live demo: near the prices of the moment, so that one need not wait for them.

use jiff::{SignedDuration, Timestamp};
use market::Price;
use serde_json::{Value, json};
use service::stocks::{Fundamentals, StockView};

/// How far from the price the first alerts are, in percent.
pub const NEAR_PCT: f64 = 0.4;
/// How far from the price an alert is set anew once it has fired, in percent.
pub const ANEW_PCT: f64 = 3.0;
/// Of so many stocks the price is watched closely.
const WATCHED_CLOSELY: usize = 6;
/// How long after the start the reminder comes.
const REMINDER_AFTER: SignedDuration = SignedDuration::from_secs(10);

/// What is known of a stock when the alerts are made.
pub type Known = (StockView, Fundamentals);

/// The bodies of the requests that create the alerts.
#[must_use]
pub fn alerts(stocks: &[Known], now: Timestamp) -> Vec<Value> {
    let mut bodies = Vec::new();
    let priced: Vec<_> = stocks
        .iter()
        .filter_map(|known| Some((known, known.0.last_price?)))
        .collect();
    for (place, ((stock, fundamentals), price)) in priced.into_iter().enumerate() {
        let symbol = stock.row.symbol.as_str();
        let mut add = |mut body: Value| {
            body["symbol"] = symbol.into();
            bodies.push(body);
        };
        if place == 0 {
            let date = now.saturating_add(REMINDER_AFTER).unwrap_or(now);
            add(json!({"condition": "reminder", "parameters": {"date": format!("{date:.3}")}}));
        }
        if place < WATCHED_CLOSELY {
            add(json!({"condition": "price_above", "threshold": off(price, NEAR_PCT)}));
            add(json!({"condition": "price_below", "threshold": off(price, -NEAR_PCT)}));
            add(json!({"condition": "price_change_up", "threshold": ANEW_PCT}));
            add(json!({"condition": "price_change_down", "threshold": ANEW_PCT}));
        }
        for plain in ["new_high", "new_low", "ma_crossover_golden", "ma_crossover_death"] {
            add(json!({"condition": plain}));
        }
        for (condition, period) in [("ma_touch_above", 50), ("ma_touch_below", 50), ("ma_touch_above", 200)] {
            add(json!({"condition": condition, "threshold": period}));
        }
        add(json!({"condition": "rsi_limit", "threshold": 70, "parameters": {"direction": "above"}}));
        add(json!({"condition": "rsi_limit", "threshold": 30, "parameters": {"direction": "below"}}));
        add(json!({"condition": "volume_change", "threshold": 50}));
        if let Some(pe) = fundamentals.pe_ratio {
            let pe = pe.as_f64();
            add(json!({"condition": "pe_ratio_above", "threshold": cents(pe * 1.02)}));
            add(json!({"condition": "pe_ratio_below", "threshold": cents(pe * 0.98)}));
            add(json!({"condition": "insider_transactions", "threshold": 250_000,
                       "parameters": {"direction": "buy", "minExecutives": 2}}));
            add(json!({"condition": "social_buzz", "parameters": {"direction": "rising"}}));
        }
    }
    bodies
}

/// How an alert that fired is set anew, if it is one on a price.
#[must_use]
pub fn anew(condition: &str, price: Price) -> Option<Value> {
    match condition {
        "price_above" => Some(json!({"threshold": off(price, ANEW_PCT)})),
        "price_below" => Some(json!({"threshold": off(price, -ANEW_PCT)})),
        // These count from the price at which they are activated.
        "price_change_up" | "price_change_down" => Some(json!({})),
        _ => None,
    }
}

fn off(price: Price, percent: f64) -> f64 {
    cents(price.as_f64() * (1.0 + percent / 100.0))
}

fn cents(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stock(symbol: &str, price: Option<i64>) -> Known {
        let view = StockView {
            row: market::records::StockRow::named(symbol.parse().unwrap(), symbol),
            last_price: price.map(|cents| Price::from_micros(cents * 10_000).unwrap()),
            previous_close: None,
            change: None,
            change_percent: None,
            high_52w: None,
            low_52w: None,
            rsi: None,
            ma_50: None,
            ma_200: None,
            volume: None,
            volume_ma_20: None,
            volume_ma_100: None,
            updated_at: None,
        };
        (view, Fundamentals::default())
    }

    #[test]
    fn each_body_is_an_alert_that_can_be_created() {
        let now = "2024-03-08T14:30:00Z".parse().unwrap();
        let bodies = alerts(&[stock("ALDR", Some(14_250)), stock("KEST", Some(20_000))], now);
        assert!(bodies.len() > 20, "{}", bodies.len());
        let calendar = market::Calendar::nyse();
        crate::alerts_file::parse_bodies(&bodies, &calendar, now).unwrap();
    }

    #[test]
    fn a_stock_without_a_price_is_not_watched() {
        assert_eq!(
            alerts(&[stock("ALDR", None)], Timestamp::UNIX_EPOCH),
            Vec::<Value>::new()
        );
    }

    #[test]
    fn prices_are_set_on_both_sides_and_in_cents() {
        let price = Price::from_micros(100_000_000).unwrap();
        assert_eq!(anew("price_above", price), Some(json!({"threshold": 103.0})));
        assert_eq!(anew("price_below", price), Some(json!({"threshold": 97.0})));
        assert_eq!(anew("price_change_up", price), Some(json!({})));
        assert_eq!(anew("new_high", price), None);
    }
}
