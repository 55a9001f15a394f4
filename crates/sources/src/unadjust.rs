//! Converts split-adjusted bars to bars as traded.
//!
//! Bars are stored as traded, and splits are stored separately. A provider of adjusted bars has applied all splits since,
//! so each bar is multiplied by the ratios of the splits after its day.

use market::records::{BarRow, SplitRow};
use market::{Bar, Price};

/// Undoes the splits that came after each bar.
pub(crate) fn undo_splits(bars: &mut [BarRow], splits: &[SplitRow]) {
    for row in bars {
        let later = splits
            .iter()
            .filter(|split| split.symbol == row.symbol && row.bar.date < split.date);
        row.bar = later.fold(row.bar, before_split);
    }
}

/// Returns a bar in the shares before a split.
fn before_split(bar: Bar, split: &SplitRow) -> Bar {
    let ratio = split.ratio;
    let price = |price: Price| Price::from_micros(ratio.multiply(price.micros())).unwrap_or(price);
    Bar {
        open: price(bar.open),
        high: price(bar.high),
        low: price(bar.low),
        close: price(bar.close),
        volume: ratio.divide(bar.volume),
        ..bar
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn bars_before_a_split_are_converted() {
        let symbol = "AAPL".parse().unwrap();
        let bar = |day, close: &str, volume| {
            let price = close.parse().unwrap();
            let date = date(2020, 8, day);
            BarRow {
                symbol,
                bar: Bar {
                    date,
                    open: price,
                    high: price,
                    low: price,
                    close: price,
                    volume,
                },
            }
        };
        let split = SplitRow {
            symbol,
            date: date(2020, 8, 31),
            ratio: "4".parse::<market::Decimal>().unwrap().try_into().unwrap(),
        };
        let other = SplitRow {
            symbol: "TSLA".parse().unwrap(),
            ..split
        };
        let mut bars = [bar(28, "124.8075", 400), bar(31, "129.04", 400)];
        undo_splits(&mut bars, &[split, other]);
        assert_eq!(bars, [bar(28, "499.23", 100), bar(31, "129.04", 400)]);
    }
}
