//! Conversion and validation of price bars, shared by all adapters.

use market::Bar;
use market::calendar::new_york_date;

use super::InvalidRow;
use crate::folder::IntradayBar;

/// Converts a bar to a daily bar. Its date is the New York date of its timestamp.
pub(super) fn as_day(bar: &IntradayBar) -> Bar {
    Bar {
        date: new_york_date(bar.time),
        open: bar.open,
        high: bar.high,
        low: bar.low,
        close: bar.close,
        volume: bar.volume,
    }
}

/// Returns the bar if its prices are consistent with each other, or an error row otherwise.
pub(super) fn validate(label: &str, bar: IntradayBar) -> Result<IntradayBar, InvalidRow> {
    match as_day(&bar).checked() {
        Ok(_) => Ok(bar),
        Err(error) => Err(InvalidRow::with_message(
            label,
            "bar",
            &bar.time.to_string(),
            error.to_string(),
        )),
    }
}
