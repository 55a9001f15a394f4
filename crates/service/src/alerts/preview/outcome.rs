//! The performance of the stock after the firings of a preview, compared with the benchmark.

use jiff::civil::Date;
use market::{Calendar, Symbol};
use paper::{CorporateActions, DailyCloses, FiredAlertRecord, HORIZON_SESSIONS, PriceHistory, scorecard};
use sources::folder::MarketData;

/// The performance of the stock 1, 5 and 20 sessions after the firings, from the close of the session of each. A value is `None` if
/// no firing has one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PreviewOutcome {
    /// The mean move of the stock in percent.
    pub mean_pct: [Option<f64>; HORIZON_SESSIONS.len()],
    /// The mean move of the benchmark in percent.
    pub benchmark_pct: [Option<f64>; HORIZON_SESSIONS.len()],
    /// The share of the firings, from 0 to 1, after which the stock had risen.
    pub hit_rate: [Option<f64>; HORIZON_SESSIONS.len()],
}

/// The closes and splits of a stock.
struct RecordedCloses {
    symbol: Symbol,
    closes: DailyCloses,
    actions: CorporateActions,
}

impl RecordedCloses {
    fn of(data: &MarketData, symbol: Symbol, calendar: &Calendar) -> Self {
        let bars = data.bars.get(&symbol).map_or(&[][..], |bars| &bars.daily);
        let splits = data.splits.iter().filter(|split| split.symbol == symbol);
        Self {
            symbol,
            closes: bars.iter().map(|bar| (bar.date, bar.close)).collect(),
            actions: CorporateActions::new(calendar, splits, &[]),
        }
    }

    fn history(&self) -> PriceHistory<'_> {
        PriceHistory {
            symbol: self.symbol,
            closes: &self.closes,
            actions: &self.actions,
        }
    }
}

/// A mean of numbers.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, number: f64) {
        self.sum += number;
        self.count += 1;
    }

    fn merge(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

/// The performance after the firings on some stocks.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct OutcomeMeans {
    stock_pct: [Mean; HORIZON_SESSIONS.len()],
    benchmark_pct: [Mean; HORIZON_SESSIONS.len()],
    hit_rate: [Mean; HORIZON_SESSIONS.len()],
}

impl OutcomeMeans {
    /// Returns the performance after the firings on a stock.
    pub(super) fn of(
        firings: &[FiredAlertRecord],
        (data, symbol): (&MarketData, Symbol),
        (benchmark_data, benchmark): (&MarketData, Symbol),
        calendar: &Calendar,
    ) -> Self {
        let stock = RecordedCloses::of(data, symbol, calendar);
        let benchmark = RecordedCloses::of(benchmark_data, benchmark, calendar);
        let mut means = Self::default();
        let Some((through, _)) = stock.closes.at_or_before(Date::MAX) else {
            return means;
        };
        for &firing in firings {
            let card = scorecard(calendar, firing, stock.history(), benchmark.history(), through);
            for (place, horizon) in card.horizons.iter().enumerate() {
                let Some(reached) = horizon.reached else { continue };
                means.stock_pct[place].add(reached.move_pct);
                means.hit_rate[place].add(f64::from(u8::from(reached.move_pct > 0.0)));
                if let Some(benchmark_pct) = reached.benchmark_pct {
                    means.benchmark_pct[place].add(benchmark_pct);
                }
            }
        }
        means
    }

    /// Adds the performance on other stocks.
    pub(super) fn merge(&mut self, other: &Self) {
        for place in 0..HORIZON_SESSIONS.len() {
            self.stock_pct[place].merge(other.stock_pct[place]);
            self.benchmark_pct[place].merge(other.benchmark_pct[place]);
            self.hit_rate[place].merge(other.hit_rate[place]);
        }
    }

    /// Returns the means.
    pub(super) fn outcome(&self) -> PreviewOutcome {
        PreviewOutcome {
            mean_pct: self.stock_pct.map(Mean::get),
            benchmark_pct: self.benchmark_pct.map(Mean::get),
            hit_rate: self.hit_rate.map(Mean::get),
        }
    }
}
