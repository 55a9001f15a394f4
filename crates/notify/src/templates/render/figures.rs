//! Figures and names of conditions in the texts of messages.

use alerts::ConditionKind;
use alerts::condition::NumberUnit;
use market::Decimal;
use market::display::{Percent, Usd};

/// Returns the label of a condition; for an unknown one, its name.
pub(super) fn label(condition: &str) -> &str {
    ConditionKind::from_name(condition).map_or(condition, |kind| kind.spec().label)
}

/// Formats the threshold of a condition with its unit.
pub(super) fn with_unit(condition: &str, threshold: f64) -> String {
    let spec = ConditionKind::from_name(condition).and_then(|kind| kind.spec().request.threshold);
    match spec.map_or(NumberUnit::None, |spec| spec.range.unit) {
        NumberUnit::None => format!("{threshold}"),
        NumberUnit::Usd => usd(threshold),
        NumberUnit::Percent => Decimal::from_f64(threshold).map_or_else(
            |_| format!("{threshold} %"),
            |percent| format!("{} %", Percent(percent)),
        ),
        NumberUnit::Sessions => format!("{threshold} sessions"),
        NumberUnit::Days => format!("{threshold} days"),
    }
}

/// Formats US dollars with cents, below one dollar with up to four decimals: `201.50 USD`, `0.1234 USD`.
pub(super) fn usd(amount: f64) -> String {
    Decimal::from_f64(amount).map_or_else(|_| format!("{amount:.2} USD"), |amount| format!("{} USD", Usd(amount)))
}

/// Formats US dollars with their sign.
pub(super) fn signed_usd(amount: f64) -> String {
    let sign = if amount > 0.0 { "+" } else { "" };
    format!("{sign}{}", usd(amount))
}

/// Formats a percentage with its sign: `+1.64 %`.
pub(super) fn signed_percent(percent: f64) -> String {
    Decimal::from_f64(percent).map_or_else(
        |_| format!("{percent:+.2} %"),
        |percent| format!("{:+} %", Percent(percent)),
    )
}
