//! Recorded data of stocks from providers, read at once: for tests of alerts without a service.

use jiff::civil::Date;
use market::Symbol;
use market::records::Batch;

use crate::folder::MarketData;
use crate::provider::{Capability, DataRequest, DataResponse, DateRange};
use crate::routing::{ProviderRouter, RoutingError};
use crate::unadjust;

/// The largest number of stocks in a request. It limits the cost of a failure.
const MAX_STOCKS_PER_REQUEST: usize = 200;

/// The data to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The stocks.
    pub symbols: Vec<Symbol>,
    /// The days. All their sessions have ended.
    pub days: DateRange,
    /// The present day. Adjusted bars are adjusted for the splits up to it.
    pub today: Date,
    /// Whether insider transactions are needed. Some providers have them one by one.
    pub insiders: bool,
}

/// Recorded data of stocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderHistory {
    /// The data, with bars as traded.
    pub data: MarketData,
    /// Why dividends, earnings dates or insider transactions are missing.
    pub missing: Vec<RoutingError>,
    /// The stocks that a provider does not know.
    pub unknown: Vec<Symbol>,
    /// The number of rows that were left out because they are invalid.
    pub invalid_rows: u64,
}

/// Reads the daily bars, splits, dividends, earnings dates and insider transactions of stocks. Fundamentals and mentions are left out:
/// providers have only the present ones.
///
/// # Errors
/// [`RoutingError`] if no provider returns the bars, or the splits by which they were adjusted.
pub async fn read_history(router: &ProviderRouter, request: &HistoryRequest) -> Result<ProviderHistory, RoutingError> {
    let mut history = ProviderHistory::default();
    let days = request.days;
    for symbols in request.symbols.chunks(MAX_STOCKS_PER_REQUEST) {
        let symbols = symbols.to_vec();
        history.add_bars(router, &symbols, request).await?;
        let mut facts = vec![
            DataRequest::Dividends(symbols.clone(), days),
            DataRequest::Earnings(symbols.clone(), days),
        ];
        if request.insiders {
            facts.push(DataRequest::InsiderTrades(symbols, days));
        }
        for request in facts {
            match router.fetch(&request).await {
                Ok(fetched) => history.add(fetched.answer),
                Err(error) if history.missing.iter().all(|known| known.capability != error.capability) => {
                    history.missing.push(error);
                }
                Err(_) => {}
            }
        }
    }
    history.unknown.sort_unstable();
    history.unknown.dedup();
    history.data.sort_and_dedup();
    Ok(history)
}

impl ProviderHistory {
    /// Adds the bars of stocks and their splits.
    async fn add_bars(
        &mut self,
        router: &ProviderRouter,
        symbols: &[Symbol],
        request: &HistoryRequest,
    ) -> Result<(), RoutingError> {
        let splits = if router.offers(Capability::Splits) {
            let days = DateRange {
                to: request.today,
                ..request.days
            };
            let fetched = router.fetch(&DataRequest::Splits(symbols.to_vec(), days)).await?;
            Some(fetched.answer)
        } else {
            None
        };
        let mut bars = router
            .fetch(&DataRequest::DailyBars(symbols.to_vec(), request.days))
            .await?;
        if !bars.adjusted_for_splits.is_empty() {
            // Without the splits, bars of different days could not be told from each other's shares.
            let splits = splits.as_ref().ok_or(RoutingError {
                capability: Capability::Splits,
                failed_attempts: Vec::new(),
            })?;
            let splits = splits.batch.splits.iter();
            let adjusted = splits.filter(|split| bars.adjusted_for_splits.contains(&split.symbol));
            let adjusted: Vec<_> = adjusted.cloned().collect();
            unadjust::undo_splits(&mut bars.answer.batch.bars, &adjusted);
        }
        self.unknown.append(&mut bars.answer.unknown);
        self.add(bars.answer);
        self.add(splits.unwrap_or_default());
        Ok(())
    }

    fn add(&mut self, answer: DataResponse) {
        self.invalid_rows += answer.invalid_rows.count;
        let Batch {
            bars,
            splits,
            dividends,
            earnings,
            insider_transactions,
            ..
        } = answer.batch;
        for row in bars {
            self.data.bars.entry(row.symbol).or_default().daily.push(row.bar);
        }
        self.data.splits.extend(splits);
        self.data.dividends.extend(dividends);
        self.data.earnings.extend(earnings);
        self.data.insiders.extend(insider_transactions);
    }
}
