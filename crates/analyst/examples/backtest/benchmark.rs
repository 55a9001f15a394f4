//! The benchmark: all stocks of the folder with equal weights, rebalanced at every close.

use jiff::civil::Date;
use sources::folder::MarketData;

use crate::Closes;

/// The value of the benchmark at each close.
pub(crate) struct Benchmark {
    values: Closes,
}

impl Benchmark {
    pub(crate) fn of(data: &MarketData) -> Self {
        let mut returns: std::collections::BTreeMap<Date, (f64, u32)> = std::collections::BTreeMap::new();
        for bars in data.bars.values() {
            for pair in bars.daily.windows(2) {
                let day = returns.entry(pair[1].date).or_default();
                day.0 += pair[1].close.as_f64() / pair[0].close.as_f64() - 1.0;
                day.1 += 1;
            }
        }
        let mut value = 1.0;
        let mut values = Closes::new();
        for (date, (sum, count)) in returns {
            value *= 1.0 + sum / f64::from(count);
            values.insert(date, value);
        }
        Self { values }
    }

    /// The relative change from the close of one day to the close of another.
    pub(crate) fn change(&self, from: Date, to: Date) -> Option<f64> {
        Some(self.values.get(&to)? / self.values.get(&from)? - 1.0)
    }
}
