//! Missed periods: market data that a source delivers late.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use ::market::Symbol;
use ::market::records::QuoteRow;
use jiff::Timestamp;
use sources::MissedQuotes;
use store::StoreError;

use super::batch_parts::missed_parts;
use super::missed_outcome::MissedPeriodOutcome;
use crate::evaluator::missed::Gaps;
use crate::market::MarketIntake;
use foundation::ServiceError;

/// The number of stocks that are evaluated at once, and more only if alerts link them.
const STOCK_BATCH_SIZE: usize = 256;

/// The missed quotes of each stock in order of time.
type ByStock = BTreeMap<Symbol, Vec<QuoteRow>>;

/// Facts about a missed period besides its quotes.
struct MissedPeriod {
    /// Whether later quotes may have been ingested.
    is_behind: bool,
    /// The stocks of which the period has all quotes.
    complete: HashSet<Symbol>,
}

impl MarketIntake {
    /// Evaluates a missed period as if its quotes had been received in time. The firings are marked late and have the
    /// time at which they were due ([`evaluator::missed`](crate::evaluator::missed)). When it returns, they are on
    /// disk.
    ///
    /// Quotes that are not newer than the last ingested quote of a stock are left out, so a gap has to be evaluated
    /// before the stock's first quote after it is ingested. If the caller could not wait for that
    /// ([`MissedQuotes::is_behind`]), no quote is left out, and conditions that compare successive quotes start with
    /// the first quote of the period. It is safe to evaluate a period again.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails. Decisions are kept and committed as soon as it works again.
    pub async fn evaluate_missed(&self, missed: MissedQuotes) -> Result<MissedPeriodOutcome, ServiceError> {
        if let Some(origin) = &self.origin {
            let mut outcome = MissedPeriodOutcome::default();
            for part in missed_parts(missed, &|part| origin.fits(part)) {
                let judged = origin.send_missed(part).await?;
                outcome.evaluated += judged.evaluated;
                outcome.left_out += judged.left_out;
                outcome.fired += judged.fired;
            }
            return Ok(outcome);
        }
        // In a separate task: a cancelled caller must not leave a period half evaluated.
        let intake = self.clone();
        let evaluated = tokio::spawn(async move { intake.evaluate_missed_batches(missed).await }).await;
        Ok(evaluated.map_err(ServiceError::internal)??)
    }

    /// Evaluates a missed period that a node of the cluster has received.
    pub(crate) async fn judge_missed(&self, missed: MissedQuotes) -> Result<MissedPeriodOutcome, StoreError> {
        self.evaluate_missed_batches(missed).await
    }

    async fn evaluate_missed_batches(&self, missed: MissedQuotes) -> Result<MissedPeriodOutcome, StoreError> {
        let evaluator = &self.evaluator;
        let _turn = evaluator.lock_missed_evaluation().await;
        self.intake.lock().await.follow_clock(self.ports.clock.now());
        evaluator.apply_due_splits().await?;
        let all = missed.quotes.len();
        let mut outcome = MissedPeriodOutcome::default();
        let period = MissedPeriod {
            is_behind: missed.is_behind,
            complete: missed.complete.iter().copied().collect(),
        };
        let by_stock = self.by_stock(missed);
        let links = evaluator.stock_links();
        for symbols in links.batches(by_stock.keys().copied(), STOCK_BATCH_SIZE) {
            // A linked stock may have no missed quotes.
            let rows = |symbol| by_stock.get(&symbol).map_or(&[][..], Vec::as_slice);
            let stocks: Vec<_> = symbols.into_iter().map(|symbol| (symbol, rows(symbol))).collect();
            let (evaluated, fired) = self.evaluate_missed_stocks(&stocks, &period).await?;
            outcome.evaluated += evaluated;
            outcome.fired += fired;
        }
        outcome.left_out = all - outcome.evaluated;
        self.price_arrivals.notify();
        Ok(outcome)
    }

    /// Returns the quotes that can be evaluated, by stock.
    fn by_stock(&self, missed: MissedQuotes) -> ByStock {
        let now = self.ports.clock.now();
        let mut stocks: BTreeMap<Symbol, Vec<QuoteRow>> = BTreeMap::new();
        for row in missed.quotes {
            if row.time.is_some_and(|time| time <= now) {
                stocks.entry(row.symbol).or_default().push(row);
            }
        }
        stocks.retain(|symbol, rows| {
            rows.sort_by_key(|row| row.time);
            self.catalog.get(*symbol).is_some()
        });
        stocks
    }

    /// Evaluates the missed quotes of some stocks. Returns the number of quotes and of firings.
    async fn evaluate_missed_stocks(
        &self,
        stocks: &[(Symbol, &[QuoteRow])],
        period: &MissedPeriod,
    ) -> Result<(usize, u64), StoreError> {
        let evaluator = &self.evaluator;
        loop {
            let gaps = Arc::new(self.gaps(stocks, period).await);
            let result = evaluator.evaluate_gaps(&gaps).await?;
            // The lock prevents any ingestion between the missed quotes and the following ones.
            let mut intake = self.intake.lock().await;
            let _turn = evaluator.lock_observed_bars().await;
            evaluator.store_observed(result.bars.clone()).await?;
            evaluator.record_unknown(&result.unknown).await?;
            // Not earlier: after a failure the period may be evaluated again, so it does not count as seen.
            if let Some(fired) = evaluator.merge_gaps(&gaps, result).await? {
                for (symbol, last) in gaps.last_observations() {
                    intake.note_seen(symbol, last.at);
                }
                let symbols: Vec<Symbol> = stocks.iter().map(|(symbol, _)| *symbol).collect();
                evaluator.update_ended_sessions(&symbols).await?;
                return Ok((gaps.len(), fired));
            }
        }
    }

    /// Returns the gaps of some stocks, as of the quotes ingested so far.
    async fn gaps(&self, stocks: &[(Symbol, &[QuoteRow])], period: &MissedPeriod) -> Gaps {
        let intake = self.intake.lock().await;
        let seen = |symbol, session: Option<Timestamp>| {
            let seen = intake.last_quote(symbol).map(|quote| quote.at).or(session);
            seen.filter(|_| !period.is_behind)
        };
        self.evaluator.gaps(stocks.iter().copied(), seen, &period.complete)
    }
}
