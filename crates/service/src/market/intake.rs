//! Taking in what a source delivered.
//!
//! What was delivered is told to the engine, what that fires is committed, and only then the delivery itself is written
//! down: a crash in between leads to judging the same data again when it is delivered again, rather than to knowing it
//! without ever having judged it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ::alerts::engine::{Engine, ObservedSession};
use ::market::calendar::new_york_date;
use ::market::records::{BarRow, Batch, DividendRow, EarningsRow, StockRow};
use ::market::{Bar, Symbol};
use jiff::{Timestamp, ToSpan};
use store::{Abort, BoxFuture, StoreError, Transaction, UnitOfWork};

use super::judging::{InSession, Judging, KnownDates};
use super::{NotIngested, completed_session};
use crate::ServiceError;
use crate::evaluator::{INSIDER_DAYS, Observed, OffSession};
use crate::market::MarketIntake;

/// What is remembered from one delivery to the next. Whoever holds it is the only one who takes something in.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    /// The latest instant a quote of each stock gave for itself.
    quoted_at: HashMap<Symbol, Timestamp>,
    /// When something was taken in last.
    last: Option<Timestamp>,
}

impl Intake {
    /// Up to when a stock was quoted, by the quotes' own times.
    pub(super) fn seen_until(&self, symbol: Symbol) -> Option<Timestamp> {
        self.quoted_at.get(&symbol).copied()
    }

    /// Follows the clock. If it was set back, quotes that were taken in after `now` must not keep present ones out.
    pub(super) fn follow_clock(&mut self, now: Timestamp) {
        if self.last.is_some_and(|last| now < last) {
            self.quoted_at.retain(|_, quoted_at| *quoted_at <= now);
        }
        self.last = Some(now);
    }

    /// Takes note that a stock was seen up to an instant.
    pub(super) fn has_seen(&mut self, symbol: Symbol, until: Timestamp) {
        let known = self.quoted_at.entry(symbol).or_insert(until);
        *known = until.max(*known);
    }
}

impl MarketIntake {
    /// Takes in what a source delivered. When it returns, what the observations fired is on disk. What could not be taken
    /// (a bar of a session that has not ended, ...) comes back with its place in the batch.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails; what was decided is kept and committed as soon as it answers.
    pub async fn ingest(&self, batch: Batch) -> Result<Vec<NotIngested>, ServiceError> {
        // On a task of its own: one who hangs up must not leave a delivery half taken in.
        let intake = self.clone();
        let taken = tokio::spawn(async move { intake.take_in(batch).await }).await;
        Ok(taken.map_err(ServiceError::internal)??)
    }

    async fn take_in(&self, mut batch: Batch) -> Result<Vec<NotIngested>, StoreError> {
        let mut intake = self.intake.lock().await;
        let evaluator = &self.evaluator;
        evaluator.follow_clock().await?;
        let now = self.ports.clock.now();
        intake.follow_clock(now);
        let mut rejected = Vec::new();
        self.name_unknown_stocks(&mut batch);
        for index in evaluator.take_splits(&batch.splits).await? {
            rejected.push(NotIngested {
                kind: "splits",
                index,
                reason: "this split has been applied with another ratio, which cannot be undone".to_owned(),
            });
        }
        self.keep_ended_sessions(&batch, now).await?;
        self.keep_what_is_known_by(now, &mut batch, &mut rejected);
        evaluator.filings().leave_out_withdrawn(&mut batch);
        let refused_bars = self.judge(&mut intake, &batch, now, &mut rejected).await?;
        let mut place = 0..;
        batch
            .bars
            .retain(|_| place.next().is_some_and(|place| !refused_bars.contains(&place)));
        let quotes = std::mem::take(&mut batch.quotes);
        if batch != Batch::default() {
            self.ports
                .store
                .write(Record(batch.clone()))
                .await
                .map_err(refused_never)?;
            self.put_into_catalog(batch);
        }
        self.price_arrivals.notify();
        let refused = rejected.iter().filter(|rejected| rejected.kind == "quotes").count();
        let taken = quotes.len().saturating_sub(refused);
        metrics::counter!("bellwether_quotes_total").increment(u64::try_from(taken).unwrap_or_default());
        Ok(rejected)
    }

    /// Stocks that nobody has named are in the catalog under their symbols.
    fn name_unknown_stocks(&self, batch: &mut Batch) {
        let named: HashSet<Symbol> = batch.stocks.iter().map(|row| row.symbol).collect();
        let mut unknown: Vec<Symbol> = symbols(batch)
            .filter(|symbol| !named.contains(symbol) && self.catalog.get(*symbol).is_none())
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        let unknown = unknown
            .into_iter()
            .map(|symbol| StockRow::named(symbol, symbol.as_str()));
        batch.stocks.extend(unknown);
    }

    /// Leaves out what cannot be known yet.
    fn keep_what_is_known_by(&self, now: Timestamp, batch: &mut Batch, rejected: &mut Vec<NotIngested>) {
        let today = new_york_date(now);
        let mut future = |kind: &'static str, index: usize, field: &str| {
            rejected.push(NotIngested {
                kind,
                index,
                reason: format!("{field} lies in the future; deliver the row when it has come"),
            });
        };
        for (index, _) in batch
            .fundamentals
            .iter()
            .enumerate()
            .filter(|(_, row)| row.as_of > today)
        {
            future("fundamentals", index, "as_of");
        }
        for (index, _) in batch
            .insider_transactions
            .iter()
            .enumerate()
            .filter(|(_, row)| row.filed_on > today)
        {
            future("insider_transactions", index, "filed_on");
        }
        batch.fundamentals.retain(|row| row.as_of <= today);
        batch.withdrawn_filings.retain(|row| row.amended_on <= today);
        batch.insider_transactions.retain(|row| row.filed_on <= today);
    }

    /// Writes down the sessions that no bar was delivered for and that the first quote or bar of a later one ends: as the bars
    /// that the engine makes of its observations.
    async fn keep_ended_sessions(&self, batch: &Batch, now: Timestamp) -> Result<(), StoreError> {
        let calendar = &self.settings.calendar;
        let session = calendar.session_at(now);
        let delivered: HashSet<_> = batch.bars.iter().map(|row| (row.symbol, row.bar.date)).collect();
        let bars: Vec<BarRow> = self.evaluator.read(|engine| {
            let quoted = session.iter().flat_map(|session| {
                let symbols = batch.quotes.iter().map(|quote| quote.symbol);
                symbols.map(|symbol| (symbol, session.date))
            });
            // A bar of a session that has not ended is refused later.
            let completed = completed_session(calendar, now);
            let bars = batch.bars.iter().filter(|row| Some(row.bar.date) <= completed);
            let later = quoted.chain(bars.map(|row| (row.symbol, row.bar.date)));
            later
                .filter_map(|(symbol, date)| ended_session(engine, symbol, date))
                .filter(|row| !delivered.contains(&(row.symbol, row.bar.date)))
                .collect()
        });
        if bars.is_empty() {
            return Ok(());
        }
        self.ports
            .store
            .write(RecordObserved(bars))
            .await
            .map_err(refused_never)
    }

    async fn judge(
        &self,
        intake: &mut Intake,
        batch: &Batch,
        now: Timestamp,
        rejected: &mut Vec<NotIngested>,
    ) -> Result<HashSet<usize>, StoreError> {
        let evaluator = Arc::clone(&self.evaluator);
        let known = self.known_facts(batch);
        let (quotes, seen) = self.quotes_in_session(intake, batch, now, rejected);
        let not_taken = evaluator
            .judge(|engine, decisions| {
                // Only here: while the gate was waited for, the engine may have been loaded for an earlier instant.
                let at = evaluator.advance_to(now.min(self.ports.clock.now()));
                let mut judging = Judging {
                    evaluator: &evaluator,
                    engine,
                    decisions,
                    at,
                    not_taken: Vec::new(),
                };
                judging.bars(&batch.bars);
                judging.facts(batch, &known);
                evaluator.filings().take(batch, |event| judging.tell(event));
                judging.quotes(&quotes);
                // Only now: of what was not judged, because the database failed before, nothing counts as seen.
                intake.quoted_at.extend(seen);
                let not_taken = judging.not_taken;
                let refused = not_taken.iter().filter(|refused| refused.kind == "quotes");
                let refused: HashSet<usize> = refused.map(|refused| refused.index).collect();
                for quote in quotes.iter().filter(|quote| !refused.contains(&quote.index)) {
                    evaluator.note_quote_time(quote.row.symbol, quote.time, at);
                }
                let observed = Observed {
                    symbols: quotes.iter().map(|quote| quote.row.symbol).collect(),
                    clock: Some(at),
                };
                (observed, not_taken)
            })
            .await?;
        let refused_bars = not_taken.iter().filter(|refused| refused.kind == "bars");
        let refused_bars = refused_bars.map(|refused| refused.index).collect();
        rejected.extend(not_taken);
        Ok(refused_bars)
    }

    /// Dates that are known of a stock together with those of a delivery.
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

    /// The quotes that are judged, by time: those of the session that is open. Others only become the price that is
    /// shown. And up to when each stock has been seen once they are judged.
    fn quotes_in_session<'a>(
        &self,
        intake: &Intake,
        batch: &'a Batch,
        now: Timestamp,
        rejected: &mut Vec<NotIngested>,
    ) -> (Vec<InSession<'a>>, HashMap<Symbol, Timestamp>) {
        let calendar = &self.settings.calendar;
        let open = calendar.session_at(now);
        let waiting = self.evaluator.stocks_with_waiting_splits(now);
        let mut quotes = Vec::with_capacity(batch.quotes.len());
        let mut seen = HashMap::with_capacity(batch.quotes.len());
        for (index, quote) in batch.quotes.iter().enumerate() {
            let time = quote.time.unwrap_or(now).min(now);
            if waiting.contains(&quote.symbol) {
                rejected.push(NotIngested {
                    kind: "quotes",
                    index,
                    reason: "the clock has jumped forward, and a split of the stock waits until that has held; \
                             deliver the quote again in a few minutes"
                        .to_owned(),
                });
                continue;
            }
            let known = seen
                .entry(quote.symbol)
                .or_insert_with(|| intake.seen_until(quote.symbol).unwrap_or(time));
            if time < *known {
                rejected.push(NotIngested {
                    kind: "quotes",
                    index,
                    reason: format!("a quote of {known:.3} is known already, and this one is of before"),
                });
                continue;
            }
            *known = time;
            let is_of_session =
                open.is_some_and(|open| calendar.session_at(time).is_some_and(|at| at.date == open.date));
            if is_of_session {
                quotes.push(InSession {
                    time,
                    index,
                    row: quote,
                });
            } else {
                let seen = OffSession {
                    price: quote.price,
                    at: time,
                };
                self.evaluator.see_off_session(quote.symbol, seen);
            }
        }
        quotes.sort_by_key(|quote| quote.time);
        (quotes, seen)
    }

    fn put_into_catalog(&self, batch: Batch) {
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
            .forget_before(today.saturating_sub(INSIDER_DAYS.days()));
    }
}

/// The stock's last session as a bar, if it is over, and none was delivered.
pub(crate) fn ended_session(engine: &Engine, symbol: Symbol, today: jiff::civil::Date) -> Option<BarRow> {
    let session = engine.observed_session(symbol).filter(|session| session.date < today)?;
    let is_delivered = engine
        .history(symbol)?
        .last()
        .is_some_and(|last| last.date >= session.date);
    let bar = bar_of(&session);
    (!is_delivered).then_some(BarRow { symbol, bar })
}

/// The observations of a session as a bar.
pub(crate) fn bar_of(session: &ObservedSession) -> Bar {
    Bar {
        date: session.date,
        open: session.open,
        high: session.high,
        low: session.low,
        close: session.last,
        volume: session.volume.unwrap_or_default(),
    }
}

/// Every symbol that a delivery names, some of them often.
fn symbols(batch: &Batch) -> impl Iterator<Item = Symbol> {
    let quotes = batch.quotes.iter().map(|row| row.symbol);
    let bars = batch.bars.iter().map(|row| row.symbol);
    let fundamentals = batch.fundamentals.iter().map(|row| row.symbol);
    let earnings = batch.earnings.iter().map(|row| row.symbol);
    let dividends = batch.dividends.iter().map(|row| row.symbol);
    let splits = batch.splits.iter().map(|row| row.symbol);
    let insiders = batch.insider_transactions.iter().map(|row| row.symbol);
    let mentions = batch.mentions.iter().map(|row| row.symbol);
    let dated = earnings.chain(dividends).chain(splits);
    quotes
        .chain(bars)
        .chain(fundamentals)
        .chain(dated)
        .chain(insiders)
        .chain(mentions)
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

/// Writes a delivery down.
struct Record(Batch);

impl Transaction for Record {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move { Ok(unit.record_market(&self.0).await?) })
    }
}

/// Writes sessions down as they were observed; a bar that was delivered stays.
pub(crate) struct RecordObserved(pub(crate) Vec<BarRow>);

impl Transaction for RecordObserved {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move { Ok(unit.record_observed_bars(&self.0).await?) })
    }
}

/// A work that never refuses has failed for the database's sake.
pub(crate) fn refused_never(abort: Abort<std::convert::Infallible>) -> StoreError {
    match abort {
        Abort::Refused(never) => match never {},
        Abort::Store(error) => error,
    }
}
