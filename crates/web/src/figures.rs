//! Prices, percents and distances as text.

use market::Decimal;

/// Returns a price or an amount in US dollars, with two decimals or as many as it needs.
#[must_use]
pub fn usd(amount: Decimal) -> String {
    market::display::Usd(amount).to_string()
}

/// Returns an amount in US dollars with its sign, such as `+12.50`.
#[must_use]
pub fn signed_usd(amount: Decimal) -> String {
    let text = usd(amount);
    match text.strip_prefix('-') {
        Some(amount) => format!("−{amount}"),
        None => format!("+{text}"),
    }
}

/// Returns a percentage with its sign and two decimals, such as `+1.20%`.
#[must_use]
pub fn signed_percent(percent: Decimal) -> String {
    signed_share(percent.as_f64())
}

/// Returns a percentage with its sign and two decimals, as [`signed_percent`].
#[must_use]
pub fn signed_share(percent: f64) -> String {
    format!("{percent:+.2}%").replace('-', "−")
}

/// Returns a percentage with two decimals, such as `1.20%`.
#[must_use]
pub fn percent(percent: Decimal) -> String {
    format!("{:.2}%", percent.as_f64())
}

/// Returns a number of shares in groups of three digits, such as `51,234,000`.
#[must_use]
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("−{text}") } else { text }
}

/// The length of a distance's bar: 100 at the threshold, and 0 from this many percent on.
const BAR_PERCENT: f64 = 10.0;

/// Returns how near a condition is to its threshold, from 0 (far) to 100 (reached).
#[must_use]
pub fn nearness(distance_pct: Decimal) -> u8 {
    let share: f64 = 1.0 - (distance_pct.as_f64().abs() / BAR_PERCENT).min(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 100"
    )]
    let percent = (share * 100.0).round() as u8;
    percent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn percents_have_a_sign_and_two_decimals() {
        assert_eq!(signed_percent(decimal("1.2")), "+1.20%");
        assert_eq!(signed_percent(decimal("-0.5")), "−0.50%");
        assert_eq!(percent(decimal("12.345")), "12.35%");
    }

    #[test]
    fn amounts_have_a_sign() {
        assert_eq!(signed_usd(decimal("12.5")), "+12.50");
        assert_eq!(signed_usd(decimal("-199.86")), "−199.86");
    }

    #[test]
    fn shares_are_grouped_by_three_digits() {
        assert_eq!(
            [0, 999, 1_000, 51_234_000, -1_234].map(grouped),
            ["0", "999", "1,000", "51,234,000", "−1,234"]
        );
    }

    #[test]
    fn bar_is_full_at_the_threshold_and_empty_from_ten_percent_on() {
        assert_eq!(nearness(decimal("0")), 100);
        assert_eq!(nearness(decimal("5")), 50);
        assert_eq!(nearness(decimal("10")), 0);
        assert_eq!(nearness(decimal("80")), 0);
    }
}
