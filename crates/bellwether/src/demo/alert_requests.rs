//! The alerts of the live demo. They are near the current prices, so that they fire soon.

use evaluation::stocks::{Fundamentals, StockView};
use jiff::{SignedDuration, Timestamp};
use market::Price;
use serde_json::{Value, json};

/// The distance of the first alerts from the price, in percent.
pub const INITIAL_DISTANCE_PERCENT: f64 = 0.4;
/// The distance from the price of an alert that is rearmed after it fired, in percent.
pub const REARM_DISTANCE_PERCENT: f64 = 3.0;
/// The distances that are tried in order, if other alerts wait at the nearer levels.
const REARM_DISTANCES_PERCENT: [f64; 4] = [REARM_DISTANCE_PERCENT, 3.3, 3.6, 3.9];
/// The number of stocks with price alerts.
const STOCKS_WITH_PRICE_ALERTS: usize = 6;
/// The delay between the start and the reminder.
const REMINDER_DELAY: SignedDuration = SignedDuration::from_secs(10);

/// The data of a stock for creating its alerts.
pub type StockData = (StockView, Fundamentals);

/// Returns the bodies of the create-alert requests.
#[must_use]
pub fn create_bodies(stocks: &[StockData], now: Timestamp) -> Vec<Value> {
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
            let date = now.saturating_add(REMINDER_DELAY).unwrap_or(now);
            add(json!({"condition": "reminder", "parameters": {"date": format!("{date:.3}")}}));
        }
        if place < STOCKS_WITH_PRICE_ALERTS {
            add(json!({"condition": "price_above", "threshold": offset(price, INITIAL_DISTANCE_PERCENT)}));
            add(json!({"condition": "price_below", "threshold": offset(price, -INITIAL_DISTANCE_PERCENT)}));
            add(json!({"condition": "price_change_up", "threshold": REARM_DISTANCE_PERCENT}));
            add(json!({"condition": "price_change_down", "threshold": REARM_DISTANCE_PERCENT}));
        }
        if place < STOCKS_WITH_PRICE_ALERTS {
            let repeat = json!({"repeat": "each_time", "cooldown": "5m"});
            for when in [
                "change_pct(open) >= 0.3 and rsi(14) < 60",
                "price <= 0.99 * high_since_armed",
            ] {
                add(json!({"condition": "expression", "parameters": {"when": when}, "options": repeat}));
            }
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

/// Returns the update bodies for rearming a price alert that fired, the preferred one first; none for other conditions. Another
/// alert of the stock may already wait at a level, and two alerts must not be equivalent.
#[must_use]
pub fn rearm_bodies(condition: &str, price: Price) -> Vec<Value> {
    let at = |sign: f64| {
        let distances = REARM_DISTANCES_PERCENT.iter();
        distances
            .map(|distance| json!({"threshold": offset(price, sign * distance)}))
            .collect()
    };
    match condition {
        "price_above" => at(1.0),
        "price_below" => at(-1.0),
        // These conditions count from the price at activation.
        "price_change_up" | "price_change_down" => vec![json!({})],
        _ => Vec::new(),
    }
}

fn offset(price: Price, percent: f64) -> f64 {
    cents(price.as_f64() * (1.0 + percent / 100.0))
}

fn cents(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stock(symbol: &str, price: Option<i64>) -> StockData {
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
    fn bodies_are_valid_create_requests() {
        let now = "2024-03-08T14:30:00Z".parse().unwrap();
        let bodies = create_bodies(&[stock("ALDR", Some(14_250)), stock("KEST", Some(20_000))], now);
        assert!(bodies.len() > 20, "{}", bodies.len());
        let calendar = market::Calendar::nyse();
        crate::alerts_file::parse_bodies(&bodies, &calendar, now).unwrap();
    }

    #[test]
    fn stock_without_a_price_gets_no_alerts() {
        assert_eq!(
            create_bodies(&[stock("ALDR", None)], Timestamp::UNIX_EPOCH),
            Vec::<Value>::new()
        );
    }

    #[test]
    fn rearmed_prices_are_offset_and_rounded_to_cents() {
        let price = Price::from_micros(100_000_000).unwrap();
        let thresholds = |levels: [f64; 4]| levels.map(|level| json!({"threshold": level})).to_vec();
        assert_eq!(
            rearm_bodies("price_above", price),
            thresholds([103.0, 103.3, 103.6, 103.9])
        );
        assert_eq!(rearm_bodies("price_below", price), thresholds([97.0, 96.7, 96.4, 96.1]));
        assert_eq!(rearm_bodies("price_change_up", price), [json!({})]);
        assert!(rearm_bodies("new_high", price).is_empty());
    }
}
