//! Bars of any length, which providers send in one shape.

use market::Bar;
use market::calendar::new_york_date;

use super::Fault;
use crate::folder::IntradayBar;

/// A bar as the day in New York that its instant is on.
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

/// The bar, unless it contradicts itself.
pub(super) fn checked(of: &str, bar: IntradayBar) -> Result<IntradayBar, Fault> {
    match as_day(&bar).checked() {
        Ok(_) => Ok(bar),
        Err(error) => Err(Fault::said(of, "bar", &bar.time.to_string(), error.to_string())),
    }
}
