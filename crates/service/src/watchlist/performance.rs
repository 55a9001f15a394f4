//! What following the watchlist would have earned, beside the benchmark.

use jiff::Span;
use jiff::civil::Date;
use market::Symbol;
use market::calendar::new_york_date;
use paper::{Benchmark, Closes, DayReturn, Performance, Range};

use crate::{Actor, Service, ServiceError};

/// So many days before the first day are looked through for the benchmark's close, if it has none of that day.
const DAYS_BEFORE: i64 = 10;

/// The performance of the actor's paper trades.
#[derive(Clone, PartialEq, Debug)]
pub struct PerformanceView {
    /// The series and what came of them.
    pub performance: Performance,
    /// What they are compared with.
    pub benchmark: Symbol,
}

impl Service {
    /// The performance of the actor's paper trades over a range (decisions 3.3).
    ///
    /// # Errors
    /// [`ServiceError::Internal`] only.
    pub async fn paper_performance(&self, actor: &Actor, range: Range) -> Result<PerformanceView, ServiceError> {
        self.follow_paper_trades(actor.account).await?;
        let today = new_york_date(self.0.ports.clock.now());
        let store = &self.0.ports.store;
        let returns = store.paper_returns(actor.account, range.start(today)).await?;
        let returns: Vec<DayReturn> = returns
            .into_iter()
            .map(|day| DayReturn {
                date: day.date,
                value: day.value,
            })
            .collect();
        let symbol = self.0.settings.benchmark;
        let closes = match returns.first() {
            Some(first) => {
                let from = first.date.saturating_sub(Span::new().days(DAYS_BEFORE));
                self.closes_from(symbol, from).await?
            }
            None => Closes::default(),
        };
        let events = self.paper_events([symbol]);
        let benchmark = Benchmark {
            symbol,
            closes: &closes,
            events: &events,
        };
        Ok(PerformanceView {
            performance: paper::performance(range, today, &returns, benchmark),
            benchmark: symbol,
        })
    }

    /// A stock's closes as they were traded, from a day on.
    pub(super) async fn closes_from(&self, symbol: Symbol, from: Date) -> Result<Closes, ServiceError> {
        let bars = self.0.ports.store.bars(symbol, from).await?;
        Ok(bars.iter().map(|bar| (bar.date, bar.close)).collect())
    }
}
