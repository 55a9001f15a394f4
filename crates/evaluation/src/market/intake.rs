//! Ingestion of market data from a source.
//!
//! The engine evaluates a batch, the resulting firings are committed, and only then the batch itself is stored.
//! After a crash in between, the same data is evaluated again when it is delivered again. Data can never be stored
//! without having been evaluated.

use std::collections::HashSet;
use std::sync::Arc;

use ::market::Symbol;
use ::market::calendar::new_york_date;
use ::market::records::{BarRow, Batch, DividendRow, EarningsRow, StockRow};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use sources::live::RefreshKind;
use store::StoreError;
use store::model::{Epoch, LatestQuote, Shard};
use tokio::sync::{Mutex, broadcast};

use super::RowRejection;
use super::batch_evaluation::{BatchEvaluation, KnownDates};
use super::batch_parts::{BatchCounts, parts};
use super::intake_state::IntakeState;
use super::intraday;
use super::last_quote::LastQuote;
use super::quote_selection::EvaluatedQuotes;
use super::sessions::{completed_session, ended_session};
use crate::EvaluationConfig;
use crate::catalog::Catalog;
use crate::cluster::origin::Origin;
use crate::cluster::shard_set::ShardSet;
use crate::evaluator::sharded::JudgedMessage;
use crate::evaluator::{EvaluationInputs, Evaluator, INSIDER_HISTORY_DAYS};
use crate::prices::arrivals::PriceArrivals;
use crate::prices::interest::StockInterest;
use foundation::{Ports, ServiceError};

/// Market data that sources deliver.
#[derive(Clone)]
pub struct MarketIntake {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) intake: Arc<Mutex<IntakeState>>,
    pub(crate) interest: Arc<StockInterest>,
    pub(crate) price_arrivals: PriceArrivals,
    pub(crate) wanted: broadcast::Sender<RefreshKind>,
    /// Sends market data to the nodes of the cluster. `None` without one.
    pub(crate) origin: Option<Arc<Origin>>,
}

/// The result of the judgement of a batch.
pub(crate) struct JudgedBatch {
    /// The records to store. The quotes are stored already.
    pub(crate) batch: Batch,
    pub(crate) rejected: Vec<RowRejection>,
    /// Its shards that the node has judged as their owner.
    pub(crate) owned: Vec<(Shard, Epoch)>,
}

impl MarketIntake {
    /// Ingests a batch. When it returns, the firings are on disk. Returns the rejected rows (for example a bar of a
    /// session that has not ended) with their indexes in the batch.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails. Decisions are kept and committed as soon as it works again.
    pub async fn ingest(&self, batch: Batch) -> Result<Vec<RowRejection>, ServiceError> {
        // In a separate task: a cancelled caller must not leave a batch half ingested.
        let intake = self.clone();
        let taken = tokio::spawn(async move {
            match intake.origin.clone() {
                Some(origin) => intake.send(&origin, batch).await,
                None => Ok(intake.ingest_batch(batch).await?),
            }
        });
        taken.await.map_err(ServiceError::internal)?
    }

    /// Sends a batch to the nodes of the cluster, and stores it when they have judged it.
    async fn send(&self, origin: &Origin, batch: Batch) -> Result<Vec<RowRejection>, ServiceError> {
        let mut rejected = Vec::new();
        let mut sent = BatchCounts::default();
        for part in parts(batch, &|part| origin.fits(part)) {
            let counts = BatchCounts::of(&part);
            let (records, refused) = origin.send_batch(part).await?;
            rejected.extend(refused.into_iter().map(|row| sent.in_whole(row)));
            sent.add(&counts);
            self.record(records).await?;
        }
        Ok(rejected)
    }

    async fn ingest_batch(&self, batch: Batch) -> Result<Vec<RowRejection>, StoreError> {
        let mut intake = self.intake.lock().await;
        let judged = self.judge_batch(&mut intake, batch, None).await?;
        self.record(judged.batch.clone()).await?;
        self.update_catalog(judged.batch);
        self.price_arrivals.notify();
        Ok(judged.rejected)
    }

    /// Continues from the stored quotes of shards: those after them count as new.
    pub(crate) async fn continue_from(&self, shards: &ShardSet, quotes: &[LatestQuote]) {
        let now = self.ports.clock.now();
        let mut intake = self.intake.lock().await;
        intake
            .last_quotes
            .retain(|symbol, _| !shards.contains(Shard::of(*symbol)));
        // The clock of the former owner may be ahead.
        let last_quotes = quotes.iter().map(|quote| {
            (
                quote.symbol,
                LastQuote::new(quote.made_at.unwrap_or(quote.at).min(now), now),
            )
        });
        intake.last_quotes.extend(last_quotes);
    }

    /// Records when quotes without a time have arrived that were judged again later, so that they do not make later ones old.
    pub(crate) async fn note_arrival(&self, batch: &Batch, arrived_at: Timestamp) {
        let mut intake = self.intake.lock().await;
        let untimed = batch.quotes.iter().filter(|quote| quote.time.is_none());
        let arrived = LastQuote::new(arrived_at, arrived_at);
        intake.last_quotes.extend(untimed.map(|quote| (quote.symbol, arrived)));
    }

    /// Judges a batch that a node of the cluster has received. Its origin stores the records.
    pub(crate) async fn judge_received(
        &self,
        batch: &Batch,
        message: &JudgedMessage,
    ) -> Result<JudgedBatch, StoreError> {
        let mut intake = self.intake.lock().await;
        let judged = self.judge_batch(&mut intake, batch.clone(), Some(message)).await?;
        self.update_catalog(judged.batch.clone());
        self.price_arrivals.notify();
        Ok(judged)
    }

    /// Stores the records of a batch.
    async fn record(&self, batch: Batch) -> Result<(), StoreError> {
        if batch == Batch::default() {
            return Ok(());
        }
        let store = &self.ports.store;
        store
            .commit(batch, |batch, unit| Box::pin(unit.record_market(batch)))
            .await
    }

    /// Judges a batch. When it returns, the firings of this process are on disk.
    async fn judge_batch(
        &self,
        intake: &mut IntakeState,
        mut batch: Batch,
        message: Option<&JudgedMessage>,
    ) -> Result<JudgedBatch, StoreError> {
        let evaluator = &self.evaluator;
        evaluator.follow_clock().await?;
        let now = self.ports.clock.now();
        intake.follow_clock(now);
        let mut rejected = Vec::new();
        self.add_unknown_stocks(&mut batch);
        for index in evaluator.ingest_splits(&batch.splits).await? {
            rejected.push(RowRejection {
                kind: "splits",
                index,
                reason: "this split has been applied with another ratio, which cannot be undone".to_owned(),
            });
        }
        self.record_ended_sessions(&batch, now).await?;
        self.reject_future_rows(now, &mut batch, &mut rejected);
        intraday::reject_unusable(&mut batch.intraday_bars, &self.settings.calendar, now, &mut rejected);
        evaluator.filings().remove_withdrawn(&mut batch);
        let (refused_bars, owned) = self
            .evaluate_batch(intake, &batch, (now, message), &mut rejected)
            .await?;
        let mut index = 0..;
        batch
            .bars
            .retain(|_| index.next().is_some_and(|index| !refused_bars.contains(&index)));
        let quotes = std::mem::take(&mut batch.quotes);
        let refused = rejected.iter().filter(|rejected| rejected.kind == "quotes").count();
        let taken = quotes.len().saturating_sub(refused);
        metrics::counter!("bellwether_quotes_total").increment(u64::try_from(taken).unwrap_or_default());
        Ok(JudgedBatch { batch, rejected, owned })
    }

    /// Adds unnamed stocks to the catalog under their symbols.
    fn add_unknown_stocks(&self, batch: &mut Batch) {
        let named: HashSet<Symbol> = batch.stocks.iter().map(|row| row.symbol).collect();
        let mut unknown: Vec<Symbol> = batch
            .symbols()
            .filter(|symbol| !named.contains(symbol) && self.catalog.get(*symbol).is_none())
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        let unknown = unknown
            .into_iter()
            .map(|symbol| StockRow::named(symbol, symbol.as_str()));
        batch.stocks.extend(unknown);
    }

    /// Rejects rows that are dated in the future.
    fn reject_future_rows(&self, now: Timestamp, batch: &mut Batch, rejected: &mut Vec<RowRejection>) {
        let today = new_york_date(now);
        let mut reject = |kind, field, dates: &mut dyn Iterator<Item = Date>| {
            let future = dates.enumerate().filter(|(_, date)| *date > today);
            rejected.extend(future.map(|(index, _)| RowRejection {
                kind,
                index,
                reason: format!("{field} is in the future; deliver the row on that date"),
            }));
        };
        reject(
            "fundamentals",
            "as_of",
            &mut batch.fundamentals.iter().map(|row| row.as_of),
        );
        let filed_on = &mut batch.insider_transactions.iter().map(|row| row.filed_on);
        reject("insider_transactions", "filed_on", filed_on);
        batch.fundamentals.retain(|row| row.as_of <= today);
        batch.withdrawn_filings.retain(|row| row.amended_on <= today);
        batch.insider_transactions.retain(|row| row.filed_on <= today);
    }

    /// Stores ended sessions without a delivered bar, which the first quote or bar of a later session completes, as the
    /// bars that the engine makes of its observations.
    async fn record_ended_sessions(&self, batch: &Batch, now: Timestamp) -> Result<(), StoreError> {
        let calendar = &self.settings.calendar;
        let session = calendar.session_at(now);
        let delivered: HashSet<_> = batch.bars.iter().map(|row| (row.symbol, row.bar.date)).collect();
        let bars: Vec<BarRow> = self.evaluator.read(|engine| {
            let quoted = session.iter().flat_map(|session| {
                let symbols = batch.quotes.iter().map(|quote| quote.symbol);
                symbols.map(|symbol| (symbol, session.date))
            });
            // A bar of a session that has not ended is rejected later.
            let completed = completed_session(calendar, now);
            let bars = batch.bars.iter().filter(|row| Some(row.bar.date) <= completed);
            let later = quoted.chain(bars.map(|row| (row.symbol, row.bar.date)));
            later
                .filter(|(symbol, _)| self.evaluator.owns(*symbol))
                .filter_map(|(symbol, date)| ended_session(engine, symbol, date))
                .filter(|row| !delivered.contains(&(row.symbol, row.bar.date)))
                .collect()
        });
        if bars.is_empty() {
            return Ok(());
        }
        // Delivered bars are kept.
        let record = self
            .ports
            .store
            .commit(bars, |bars, unit| Box::pin(unit.record_observed_bars(bars)));
        record.await
    }

    async fn evaluate_batch(
        &self,
        intake: &mut IntakeState,
        batch: &Batch,
        (now, message): (Timestamp, Option<&JudgedMessage>),
        rejected: &mut Vec<RowRejection>,
    ) -> Result<(HashSet<usize>, Vec<(Shard, Epoch)>), StoreError> {
        let evaluator = Arc::clone(&self.evaluator);
        let known = self.known_facts(batch);
        let EvaluatedQuotes {
            quotes,
            extended,
            last_quotes,
        } = self.quotes_to_evaluate(intake, batch, now, rejected);
        let (not_taken, judged) = evaluator
            .evaluate_message(message, |engine, decisions| {
                // Not earlier: the engine may have been reloaded for an earlier instant while this task waited for the lock.
                let present = now.min(self.ports.clock.now());
                let at = evaluator.advance_to(present);
                let mut evaluation = BatchEvaluation {
                    evaluator: &evaluator,
                    engine,
                    decisions,
                    at,
                    // Alerts that wait for an instant wait for the clock, also while the engine's time stands still.
                    clock: message.is_none_or(|message| !message.is_repeated).then_some(present),
                    not_taken: Vec::new(),
                };
                evaluation.bars(&batch.bars);
                evaluation.facts(batch, &known);
                evaluator.filings().ingest(batch, |event| evaluation.process(event));
                evaluation.quotes(&quotes, &extended);
                // Not earlier: if the database failed before, the quotes were not evaluated and do not count as seen.
                intake.last_quotes.extend(last_quotes);
                let not_taken = evaluation.not_taken;
                let refused = not_taken.iter().filter(|refused| refused.kind == "quotes");
                let refused: HashSet<usize> = refused.map(|refused| refused.index).collect();
                for quote in quotes.iter().filter(|quote| !refused.contains(&quote.index)) {
                    evaluator.note_quote_time(quote.row.symbol, quote.time, at);
                }
                let observed = EvaluationInputs {
                    symbols: quotes.iter().map(|quote| quote.row.symbol).collect(),
                    extended: extended.iter().map(|quote| quote.row.symbol).collect(),
                    // On several nodes, a mark is written for each shard, so rarely.
                    clock: evaluator.is_single().then_some(present),
                };
                (observed, not_taken)
            })
            .await?;
        let refused_bars = not_taken.iter().filter(|refused| refused.kind == "bars");
        let refused_bars = refused_bars.map(|refused| refused.index).collect();
        rejected.extend(not_taken);
        Ok((refused_bars, judged))
    }

    /// Returns the known dates of stocks together with those of a batch.
    fn known_facts(&self, batch: &Batch) -> KnownDates {
        let mut known = KnownDates::default();
        for row in &batch.earnings {
            let rows = known.earnings.entry(row.symbol).or_insert_with(|| {
                self.catalog
                    .get(row.symbol)
                    .map(|entry| entry.facts.earnings.clone())
                    .unwrap_or_default()
            });
            put_earnings(rows, *row);
        }
        for row in &batch.dividends {
            let rows = known.dividends.entry(row.symbol).or_insert_with(|| {
                self.catalog
                    .get(row.symbol)
                    .map(|entry| entry.facts.dividends.clone())
                    .unwrap_or_default()
            });
            put_dividend(rows, *row);
        }
        known
    }

    fn update_catalog(&self, batch: Batch) {
        let catalog = &self.catalog;
        for row in batch.stocks {
            catalog.change(row.symbol, |entry| entry.row = row);
        }
        for row in batch.fundamentals {
            catalog.change(row.symbol, |entry| {
                let kept = &mut entry.facts.fundamentals;
                if kept.is_none_or(|kept| kept.as_of <= row.as_of) {
                    *kept = Some(row);
                }
            });
        }
        for row in batch.earnings {
            catalog.change(row.symbol, |entry| put_earnings(&mut entry.facts.earnings, row));
        }
        for row in batch.dividends {
            catalog.change(row.symbol, |entry| put_dividend(&mut entry.facts.dividends, row));
        }
        let today = new_york_date(self.ports.clock.now());
        self.evaluator
            .filings()
            .forget_before(today.saturating_sub(INSIDER_HISTORY_DAYS.days()));
    }
}

fn put_earnings(rows: &mut Vec<EarningsRow>, row: EarningsRow) {
    match rows.binary_search_by_key(&row.date, |known| known.date) {
        Ok(at) => rows[at] = row,
        Err(at) => rows.insert(at, row),
    }
}

fn put_dividend(rows: &mut Vec<DividendRow>, row: DividendRow) {
    match rows.binary_search_by_key(&row.ex_date, |known| known.ex_date) {
        Ok(at) => rows[at] = row,
        Err(at) => rows.insert(at, row),
    }
}
