//! Formatting of values in JSON responses.

use jiff::Timestamp;
use jiff::civil::Date;
use market::{Decimal, Price};

/// Formats an instant as RFC 3339 in UTC with milliseconds: `2026-03-02T14:30:00.000Z`.
pub(crate) fn timestamp(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// Formats a date as `YYYY-MM-DD`.
pub(crate) fn date(date: Date) -> String {
    date.to_string()
}

/// Converts a price to a JSON number.
pub(crate) fn price(price: Price) -> f64 {
    price.as_f64()
}

/// Converts a decimal to a JSON number.
pub(crate) fn decimal(decimal: Decimal) -> f64 {
    decimal.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_milliseconds_and_end_in_z() {
        for (at, written) in [
            ("2026-03-02T14:30:00Z", "2026-03-02T14:30:00.000Z"),
            ("2026-03-02T14:30:00.123987Z", "2026-03-02T14:30:00.123Z"),
            ("2026-03-02T14:30:00-05:00", "2026-03-02T19:30:00.000Z"),
        ] {
            assert_eq!(timestamp(at.parse().unwrap()), written);
        }
    }
}
