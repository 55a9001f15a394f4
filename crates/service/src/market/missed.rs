//! What sources find out afterwards: a stretch of the market that was missed.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::market::Symbol;
use ::market::records::QuoteRow;
use jiff::Timestamp;
use store::StoreError;

use crate::ServiceError;
use crate::evaluator::missed::Gaps;
use crate::market::MarketIntake;

/// Of how many stocks what was missed is judged at once.
const STOCKS_AT_ONCE: usize = 256;

/// A stretch of the market that was missed: the feed was dead, or the program was off.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Missed {
    /// What would have been observed, each with its true time, of any stocks and sessions.
    pub quotes: Vec<QuoteRow>,
    /// Whether later observations of the same stocks may have been taken in already. Otherwise what is not after them is left
    /// out.
    pub is_behind: bool,
}

/// What came of judging a stretch that was missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MissedOutcome {
    /// How many observations were judged.
    pub judged: usize,
    /// How many were not: without a time or of none that has come, out of session, of an unknown stock, or not after what
    /// was seen of the stock.
    pub left_out: usize,
    /// How many alerts have fired by them, late.
    pub fired: u64,
}

/// What was missed of each stock, in the order of time.
type ByStock = Vec<(Symbol, Vec<QuoteRow>)>;

impl MarketIntake {
    /// Judges a stretch of the market that was missed, as it would have been judged had it been seen. What fires by it is
    /// marked late and knows when it would have fired ([`evaluator::missed`](crate::evaluator::missed)). When it returns, that is on disk.
    ///
    /// What is not after the last quote of a stock that was taken in is left out, so a gap has to be judged before the
    /// stock's first quote after it is taken in. Where that could not be waited for ([`Missed::is_behind`]), nothing is left out, and
    /// conditions that look from one observation to the next begin anew with the first of the stretch. To judge a stretch again is
    /// safe.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails; what was decided is kept and committed as soon as it answers.
    pub async fn judge_missed(&self, missed: Missed) -> Result<MissedOutcome, ServiceError> {
        // On a task of its own: one who hangs up must not leave a stretch half judged.
        let intake = self.clone();
        let judged = tokio::spawn(async move { intake.look_back(missed).await }).await;
        Ok(judged.map_err(ServiceError::internal)??)
    }

    async fn look_back(&self, missed: Missed) -> Result<MissedOutcome, StoreError> {
        let evaluator = &self.evaluator;
        let _turn = evaluator.look_back().await;
        self.intake.lock().await.follow_clock(self.ports.clock.now());
        evaluator.apply_due_splits().await?;
        let all = missed.quotes.len();
        let mut outcome = MissedOutcome::default();
        let is_behind = missed.is_behind;
        for stocks in self.by_stock(missed).chunks(STOCKS_AT_ONCE) {
            let (judged, fired) = self.look_back_at(stocks, is_behind).await?;
            outcome.judged += judged;
            outcome.fired += fired;
        }
        outcome.left_out = all - outcome.judged;
        self.price_arrivals.notify();
        Ok(outcome)
    }

    /// What can be judged at all, stock by stock.
    fn by_stock(&self, missed: Missed) -> ByStock {
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
        stocks.into_iter().collect()
    }

    /// Judges what was missed of some stocks. Answers how many observations that were, and how many alerts have fired.
    async fn look_back_at(
        &self,
        stocks: &[(Symbol, Vec<QuoteRow>)],
        is_behind: bool,
    ) -> Result<(usize, u64), StoreError> {
        let evaluator = &self.evaluator;
        loop {
            let gaps = Arc::new(self.gaps(stocks, is_behind).await);
            let found = evaluator.rerun(&gaps).await?;
            // Nothing is taken in between what was missed and what comes after it.
            let mut intake = self.intake.lock().await;
            let _turn = evaluator.observed_bars_turn().await;
            evaluator.store_observed(found.bars.clone()).await?;
            // After a failure the stretch may be judged again, so it does not count as seen.
            if let Some(fired) = evaluator.rejoin(&gaps, found).await? {
                for (symbol, last) in gaps.last_sights() {
                    intake.has_seen(symbol, last.at);
                }
                let symbols: Vec<Symbol> = stocks.iter().map(|(symbol, _)| *symbol).collect();
                evaluator.update_ended_sessions(&symbols).await?;
                return Ok((gaps.len(), fired));
            }
        }
    }

    /// What was missed of some stocks, as of what has been taken in so far.
    async fn gaps(&self, stocks: &[(Symbol, Vec<QuoteRow>)], is_behind: bool) -> Gaps {
        let intake = self.intake.lock().await;
        let rows = stocks.iter().map(|(symbol, rows)| (*symbol, rows.as_slice()));
        let seen = |symbol, session: Option<Timestamp>| {
            let seen = intake.seen_until(symbol).or(session);
            seen.filter(|_| !is_behind)
        };
        self.evaluator.gaps(rows, seen)
    }
}
