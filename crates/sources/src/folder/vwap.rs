//! The volume-weighted average price of a session, from its intraday bars.

use market::{IntradayBar, Price};

/// The sums over the intraday bars of a session so far. A bar counts with its typical price, the mean of high, low and close.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VwapSums {
    /// Three times the value in millionths of a dollar.
    tripled_value: i128,
    volume: i128,
}

impl VwapSums {
    /// Adds a bar.
    pub fn add(&mut self, bar: &IntradayBar) {
        let tripled_price: i128 = [bar.high, bar.low, bar.close]
            .into_iter()
            .map(|price| i128::from(price.micros()))
            .sum();
        self.tripled_value += tripled_price * i128::from(bar.volume);
        self.volume += i128::from(bar.volume);
    }

    /// Returns the volume-weighted average price, rounded to a millionth of a dollar; `None` without volume.
    #[must_use]
    pub fn vwap(&self) -> Option<Price> {
        let divisor = 3 * self.volume;
        if divisor <= 0 {
            return None;
        }
        let rounded = (2 * self.tripled_value + divisor) / (2 * divisor);
        Price::from_micros(i64::try_from(rounded).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(prices: [&str; 3], volume: i64) -> IntradayBar {
        let [high, low, close] = prices.map(|text| text.parse().unwrap());
        IntradayBar {
            time: "2024-07-05T13:30:00Z".parse().unwrap(),
            open: low,
            high,
            low,
            close,
            volume,
        }
    }

    fn vwap(bars: &[IntradayBar]) -> Option<String> {
        let mut sums = VwapSums::default();
        bars.iter().for_each(|bar| sums.add(bar));
        sums.vwap().map(|price| price.to_string())
    }

    #[test]
    fn bars_are_weighted_by_volume() {
        let (first, second) = (bar(["12", "9", "9"], 100), bar(["21", "19", "20"], 300));
        assert_eq!(vwap(&[first, second]).as_deref(), Some("17.5"));
        assert_eq!(vwap(&[bar(["2", "1", "1"], 1)]).as_deref(), Some("1.333333"));
        assert_eq!(vwap(&[bar(["2", "1", "2"], 1)]).as_deref(), Some("1.666667"));
    }

    #[test]
    fn bars_without_volume_have_no_average() {
        assert_eq!(vwap(&[]), None);
        assert_eq!(vwap(&[bar(["2", "1", "1"], 0)]), None);
    }
}
