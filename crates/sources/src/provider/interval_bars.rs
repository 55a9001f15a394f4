//! Conversion and validation of price bars, shared by all adapters.

use market::calendar::new_york_date;

use super::InvalidRow;
use crate::folder::IntradayBar;

/// Returns the bar if its prices are consistent with each other, or an error row otherwise.
pub(super) fn validate(label: &str, bar: IntradayBar) -> Result<IntradayBar, InvalidRow> {
    match bar.with_date(new_york_date(bar.time)).checked() {
        Ok(_) => Ok(bar),
        Err(error) => Err(InvalidRow::with_message(
            label,
            "bar",
            &bar.time.to_string(),
            error.to_string(),
        )),
    }
}
