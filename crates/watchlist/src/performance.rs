//! The performance of the watchlist's paper trades compared with the benchmark.

use jiff::Span;
use jiff::civil::Date;
use market::Symbol;
use market::calendar::new_york_date;
use paper::{DailyCloses, DayReturn, Performance, PerformanceRange, PriceHistory};

use super::follow::first_waiting;
use crate::Watchlists;
use foundation::{Actor, ServiceError};

/// How many days before the first day the benchmark's last close may be, if it has none on that day.
const BENCHMARK_LOOKBACK_DAYS: i64 = 10;

/// The performance of the actor's paper trades.
#[derive(Clone, PartialEq, Debug)]
pub struct PerformanceView {
    /// The series and their summary.
    pub performance: Performance,
    /// The benchmark.
    pub benchmark: Symbol,
    /// The first day whose session is not complete, if the series extend that far.
    pub provisional_from: Option<Date>,
}

impl Watchlists {
    /// Returns the performance of the actor's paper trades over a range (decisions 3.3).
    pub async fn paper_performance(
        &self,
        actor: &Actor,
        range: PerformanceRange,
    ) -> Result<PerformanceView, ServiceError> {
        self.follow_paper_trades(actor.account).await?;
        let today = new_york_date(self.ports.clock.now());
        let store = &self.ports.store;
        let returns = store.paper_returns(actor.account, range.start(today)).await?;
        let mut returns: Vec<DayReturn> = returns
            .into_iter()
            .map(|day| DayReturn {
                date: day.date,
                value: day.value,
            })
            .collect();
        let provisional = self.provisional_returns(actor.account).await?;
        // Another request may have stored a session meanwhile.
        let followed = returns.last().map(|day| day.date);
        returns.extend(
            provisional
                .into_iter()
                .filter(|day| followed.is_none_or(|last| day.date > last)),
        );
        let provisional_from = returns
            .iter()
            .map(|day| day.date)
            .find(|date| followed.is_none_or(|last| *date > last));
        let symbol = self.settings.benchmark;
        let closes = match returns.first() {
            Some(first) => {
                let from = first.date.saturating_sub(Span::new().days(BENCHMARK_LOOKBACK_DAYS));
                let mut closes = self.closes_from(symbol, from).await?;
                if let Some(from) = provisional_from {
                    let observed = self.closes_so_far(symbol, from).await?;
                    let missing = returns
                        .iter()
                        .map(|day| day.date)
                        .filter(|date| closes.on(*date).is_none());
                    let missing: Vec<_> = missing.filter_map(|date| Some((date, observed.on(date)?))).collect();
                    closes = closes.with(missing);
                }
                let open = returns
                    .iter()
                    .map(|day| day.date)
                    .filter(|date| provisional_from.is_some_and(|from| *date >= from) && closes.on(*date).is_none());
                let so_far: Vec<_> = open.filter_map(|date| self.provisional_close(symbol, date)).collect();
                closes.with(so_far)
            }
            None => DailyCloses::default(),
        };
        let events = self.paper_events([symbol]);
        let benchmark = PriceHistory {
            symbol,
            closes: &closes,
            actions: &events,
        };
        Ok(PerformanceView {
            performance: paper::performance(range, today, &returns, benchmark),
            benchmark: symbol,
            provisional_from,
        })
    }

    /// Returns a stock's closes as traded, from a day on. While a session waits for closes, only delivered ones count.
    pub(super) async fn closes_from(&self, symbol: Symbol, from: Date) -> Result<DailyCloses, ServiceError> {
        let waiting_from = first_waiting(&self.settings.calendar, self.ports.clock.now());
        let closes = self.ports.store.closes(symbol, from, waiting_from).await?;
        Ok(closes.into_iter().collect())
    }
}
