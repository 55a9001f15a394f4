//! Advice and figures as JSON, for responses and for the language model.

use alerts::condition::Side;
use serde_json::{Map, Number, Value, json};

use crate::levels::Level;
use crate::upcoming::UpcomingDate;
use crate::volatility::VolatilityBasis;
use crate::{Advice, Analysis, Proposal};

/// The number of significant digits of a float. More would suggest false precision.
const SIGNIFICANT_DIGITS: usize = 6;

impl Analysis {
    /// Returns the figures as `{sessions, volatility, trend, rsi, supports, resistances, high_52_weeks, low_52_weeks,
    /// earnings, ex_dividend}`. Ratios are percentages; unknown values are null.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (volatility, trend) = (&self.volatility, &self.trend);
        let levels = |side: Side| -> Vec<Value> {
            let levels = side.pick(&self.levels.resistances, &self.levels.supports);
            levels.iter().map(level).collect()
        };
        json!({
            "sessions": self.sessions,
            "volatility": {
                "daily_move_pct": number(volatility.sigma_day * 100.0),
                "daily_range_pct": number(volatility.range_day * 100.0),
                "basis": volatility.basis.name(),
            },
            "trend": {
                "direction": trend.direction.name(),
                "sma_50": trend.sma_fast.map(number),
                "sma_200": trend.sma_slow.map(number),
                "sma_50_change_20_sessions_pct": trend.slope.map(|slope| number(slope * 100.0)),
            },
            "rsi": self.rsi.map(number),
            "supports": levels(Side::Below),
            "resistances": levels(Side::Above),
            "high_52_weeks": self.high_52_weeks.map(|price| number(price.as_f64())),
            "low_52_weeks": self.low_52_weeks.map(|price| number(price.as_f64())),
            "earnings": self.events.earnings.map(|ahead| event(&ahead)),
            "ex_dividend": self.events.ex_dividend.map(|ahead| event(&ahead)),
        })
    }
}

impl Advice {
    /// Returns `{summary, figures, alerts}`; the alerts are in the form of [`Proposal::to_json`].
    #[must_use]
    pub fn to_json(&self) -> Value {
        let alerts: Vec<Value> = self.proposals.iter().map(Proposal::to_json).collect();
        json!({"summary": self.summary, "figures": self.analysis.to_json(), "alerts": alerts})
    }
}

impl Proposal {
    /// Returns `{role, condition, threshold, rationale}`; the threshold is null if the condition takes none.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let threshold = self.body.get("threshold").cloned().unwrap_or(Value::Null);
        json!({
            "role": self.role.name(),
            "condition": self.alert.condition.kind().name(),
            "threshold": threshold,
            "rationale": self.rationale,
        })
    }
}

impl VolatilityBasis {
    /// The name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Floored => "floored",
            Self::Capped => "capped",
            Self::Assumed => "assumed",
        }
    }
}

fn level(level: &Level) -> Value {
    json!({
        "price": number(level.price.as_f64()),
        "touches": level.touches,
        "strength": number(level.strength),
        "volume_ratio": level.volume_ratio.map(number),
        "last_touch": level.last_touch.to_string(),
    })
}

fn event(ahead: &UpcomingDate) -> Value {
    let mut event = Map::new();
    event.insert("date".to_owned(), json!(ahead.date.to_string()));
    event.insert("days_ahead".to_owned(), json!(ahead.days));
    event.insert("sessions_ahead".to_owned(), json!(ahead.sessions));
    if let Some(amount) = ahead.amount {
        event.insert("amount".to_owned(), number(amount.as_f64()));
    }
    event.into()
}

/// Rounds a float to [`SIGNIFICANT_DIGITS`] and writes whole numbers without a fraction.
fn number(value: f64) -> Value {
    let rounded = format!("{value:.*e}", SIGNIFICANT_DIGITS - 1).parse().unwrap_or(value);
    let whole: Option<Number> = format!("{rounded:.0}").parse().ok();
    match whole.filter(|_| rounded.fract() == 0.0 && rounded.abs() < 1e15) {
        Some(whole) => Value::Number(whole),
        None => Number::from_f64(rounded).map_or(Value::Null, Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_six_digits_and_whole_numbers_no_fraction() {
        for (value, written) in [
            (200.0, "200"),
            (0.0, "0"),
            (-0.0, "0"),
            (1.0 / 3.0, "0.333333"),
            (123_456.78, "123457"),
            (0.000_012_345_678, "0.0000123457"),
            (1e9, "1000000000"),
        ] {
            assert_eq!(alerts::json::text(&number(value)), written);
        }
        assert_eq!(number(f64::NAN), Value::Null);
    }
}
