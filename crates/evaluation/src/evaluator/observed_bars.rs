//! Daily bars made from observations, for sessions for which no source has delivered a bar.
//!
//! They are stored when their session has ended, marked as observed, so that indicators and performance include
//! them after a restart. A delivered bar replaces them. Late prices update them.

use std::collections::HashMap;

use ::market::records::BarRow;
use ::market::{Bar, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use store::StoreError;
use store::model::LatestQuote;

use super::Evaluator;
use crate::market::sessions::{completed_session, ended_session};

/// The number of bars that one transaction writes, so that other writes do not wait for all of them.
const BARS_PER_TRANSACTION: usize = 500;

/// Returns a bar with the high and low of all processes, which the stored quote has.
fn with_extremes_of(row: BarRow, quote: Option<&LatestQuote>) -> BarRow {
    let Some(quote) = quote.filter(|quote| quote.session == row.bar.date) else {
        return row;
    };
    let bar = Bar {
        high: row.bar.high.max(quote.high),
        low: row.bar.low.min(quote.low),
        ..row.bar
    };
    BarRow { bar, ..row }
}

impl Evaluator {
    /// Stores the observed bars of the sessions that have ended since the last call.
    ///
    /// # Errors
    /// [`StoreError`]: the next call stores the remaining bars.
    pub(super) async fn store_ended_sessions(&self) -> Result<(), StoreError> {
        let Some(completed) = completed_session(&self.settings.calendar, self.engine_now()) else {
            return Ok(());
        };
        let mut stored_through = self.stored_through.lock().await;
        if *stored_through == Some(completed) {
            return Ok(());
        }
        let all = self.catalog.all();
        let symbols = all.iter().map(|entry| entry.row.symbol);
        let symbols: Vec<Symbol> = symbols.filter(|symbol| self.owns(*symbol)).collect();
        let mut bars = self.observed_bars(&symbols, completed).await?;
        bars.retain(|row| stored_through.is_none_or(|through| row.bar.date > through));
        self.replace_observed(&bars).await?;
        *stored_through = Some(completed);
        Ok(())
    }

    /// Locks the storage of observed bars. Hold the lock from before late prices are processed until
    /// [`Self::update_ended_sessions`] has returned, so that bars without them do not replace bars with them.
    pub(crate) async fn lock_observed_bars(&self) -> tokio::sync::MutexGuard<'_, Option<Date>> {
        self.stored_through.lock().await
    }

    /// Stores the observed bars of stocks again after late prices of their last session, if that session has ended.
    pub(crate) async fn update_ended_sessions(&self, symbols: &[Symbol]) -> Result<(), StoreError> {
        let Some(completed) = completed_session(&self.settings.calendar, self.engine_now()) else {
            return Ok(());
        };
        let bars = self.observed_bars(symbols, completed).await?;
        self.replace_observed(&bars).await
    }

    /// Stores bars that were made from observations, in today's shares. Delivered bars are kept.
    pub(crate) async fn store_observed(&self, bars: Vec<BarRow>) -> Result<(), StoreError> {
        let bars: Vec<BarRow> = bars.into_iter().map(|row| self.as_traded(row)).collect();
        self.replace_observed(&bars).await
    }

    /// Converts a bar in today's shares to the shares of its day, as it was traded.
    fn as_traded(&self, row: BarRow) -> BarRow {
        BarRow {
            bar: self.known_splits().in_shares_of_its_day(row.symbol, row.bar),
            ..row
        }
    }

    async fn replace_observed(&self, bars: &[BarRow]) -> Result<(), StoreError> {
        for some in bars.chunks(BARS_PER_TRANSACTION) {
            let replace = self
                .store
                .commit(some.to_vec(), |some, unit| Box::pin(unit.replace_observed_bars(some)));
            replace.await?;
        }
        Ok(())
    }

    /// Returns the last sessions of stocks as bars in the shares of their days, if they have ended by `completed` and
    /// have no delivered bar. Stocks for which another process has newer observations are left out; the high and low of a bar are those of all processes.
    async fn observed_bars(&self, symbols: &[Symbol], completed: Date) -> Result<Vec<BarRow>, StoreError> {
        let tomorrow = completed.tomorrow().unwrap_or(completed);
        let ended: Vec<(BarRow, Timestamp)> = {
            // The lock prevents a split between the read of a bar and its conversion.
            let _backlog = self.backlog.lock().await;
            self.read(|engine| {
                let ended = symbols.iter().filter_map(|&symbol| {
                    let observed_at = engine.observed_session(symbol)?.last_at;
                    Some((self.as_traded(ended_session(engine, symbol, tomorrow)?), observed_at))
                });
                ended.collect()
            })
        };
        if ended.is_empty() {
            return Ok(Vec::new());
        }
        let quotes = self.store.latest_quotes().await?;
        let quotes: HashMap<Symbol, LatestQuote> = quotes.into_iter().map(|quote| (quote.symbol, quote)).collect();
        let bars = ended.into_iter().filter_map(|(row, observed_at)| {
            let quote = quotes.get(&row.symbol);
            let has_last = quote.is_none_or(|quote| quote.at <= observed_at);
            has_last.then(|| with_extremes_of(row, quote))
        });
        Ok(bars.collect())
    }
}
