//! Everything but the prices of the session: asked for at its time, again if nobody answers, delivered.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::calendar::new_york_date;
use market::records::{BarRow, SplitRow};
use tokio::sync::broadcast;

use super::timetable::{Matter, Occasion, Subject, Timetable, questions, splits_only};
use super::{Desk, in_their_shares};
use crate::combine::NoAnswer;
use crate::provider::{Answer, Ask, BarsAre, Capability, Days};
use crate::{Delivery, Missed};

/// How long after a failure it is asked again; it doubles.
const TRY_AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(1);
/// So often it is asked: the next night asks anew. What has been is asked for until somebody answers, for nothing asks for it again.
const MOST_ATTEMPTS: u32 = 6;

/// A question that is to be asked.
#[derive(Debug)]
struct Errand {
    ask: Ask,
    is_of_the_past: bool,
    attempts: u32,
    not_before: Timestamp,
}

/// Runs errands until nobody receives any more.
pub(super) async fn run(desk: Desk, mut wanted: broadcast::Receiver<Matter>) {
    let mut errands = Errands::of(desk);
    errands.begin();
    let clock = Arc::clone(&errands.desk.options.setup.clock);
    let sender = errands.desk.sender.clone();
    loop {
        errands.follow_clock();
        let due = errands.next_due();
        tokio::select! {
            () = sender.closed() => return,
            is_there = errands.desk.watched.changed() => {
                if is_there.is_err() {
                    return;
                }
                errands.note_newcomers();
            }
            // When the sender is gone, the last value stays.
            Ok(()) = errands.desk.options.splits_only.changed() => errands.note_splits_only(),
            // Whoever could ask may have gone; and of what was asked too often at once, the rest is enough.
            Ok(matter) = wanted.recv() => errands.note(Occasion::Wanted(matter)),
            () = clock.sleep_until(due) => {
                errands.note_occasions();
                tokio::select! {
                    () = sender.closed() => return,
                    () = errands.run_one() => {}
                }
            }
        }
    }
}

struct Errands {
    desk: Desk,
    /// Those of whom what has been is known, or asked for.
    known: HashSet<Symbol>,
    /// The stocks of which only the splits have been asked for.
    known_splits: HashSet<Symbol>,
    waiting: VecDeque<Errand>,
    timetable: Timetable,
    last_now: Timestamp,
}

impl Errands {
    fn of(desk: Desk) -> Self {
        let last_now = desk.now();
        let timetable = Timetable::of(last_now, desk.options.nightly_at);
        Self {
            desk,
            last_now,
            known: HashSet::new(),
            known_splits: HashSet::new(),
            waiting: VecDeque::new(),
            timetable,
        }
    }

    /// What was missed while nobody asked: the catalog, and of all that is watched what has been since the last bar.
    fn begin(&mut self) {
        let set = self.desk.options.combination.capabilities();
        if set.has(Capability::Catalog) {
            self.put(vec![Ask::Catalog], true);
        }
        let benchmark = self.desk.options.benchmark;
        self.ask_on(Occasion::Newcomers, &[benchmark]);
        self.known.insert(benchmark);
        self.note_newcomers();
        self.note_splits_only();
    }

    /// Asks for the past splits of stocks that are new among those of which only the splits are wanted.
    fn note_splits_only(&mut self) {
        let wanted = Arc::clone(&self.desk.options.splits_only.borrow_and_update());
        self.known_splits.retain(|symbol| wanted.contains(symbol));
        let new = wanted.iter().copied();
        let new: Vec<Symbol> = new.filter(|symbol| self.known_splits.insert(*symbol)).collect();
        let new: Vec<Symbol> = new.into_iter().filter(|symbol| !self.known.contains(symbol)).collect();
        self.ask_for_splits_on(Occasion::Newcomers, &new);
    }

    fn ask_for_splits_on(&mut self, occasion: Occasion, symbols: &[Symbol]) {
        if self.desk.options.combination.capabilities().has(Capability::Splits) {
            self.put(
                splits_only(occasion, symbols, self.desk.now()),
                occasion == Occasion::Newcomers,
            );
        }
    }

    /// After a step back of the clock, sends the requests now that were postponed by the clock that was ahead.
    fn follow_clock(&mut self) {
        let now = self.desk.now();
        if now < self.last_now {
            for errand in &mut self.waiting {
                errand.not_before = errand.not_before.min(now);
            }
        }
        self.last_now = now;
    }

    fn note_newcomers(&mut self) {
        let watched = Arc::clone(&self.desk.watched.borrow_and_update());
        let newcomers: Vec<Symbol> = watched
            .iter()
            .copied()
            .filter(|symbol| self.known.insert(*symbol))
            .collect();
        let watched: HashSet<Symbol> = watched.iter().copied().collect();
        let benchmark = self.desk.options.benchmark;
        self.known
            .retain(|symbol| watched.contains(symbol) || *symbol == benchmark);
        self.ask_on(Occasion::Newcomers, &newcomers);
    }

    fn note_occasions(&mut self) {
        for occasion in self.timetable.take_due(self.desk.now()) {
            self.note(occasion);
        }
    }

    fn note(&mut self, occasion: Occasion) {
        let watched = Arc::clone(&self.desk.watched.borrow());
        self.ask_on(occasion, &watched);
        let others = Arc::clone(&self.desk.options.splits_only.borrow());
        let others = others.iter().copied().filter(|symbol| !watched.contains(symbol));
        self.ask_for_splits_on(occasion, &others.collect::<Vec<_>>());
    }

    fn ask_on(&mut self, occasion: Occasion, symbols: &[Symbol]) {
        let options = &self.desk.options;
        let memory = Arc::clone(&self.desk.memory);
        let last_bar = move |symbol| memory.last_bar(symbol);
        let subject = Subject {
            symbols,
            last_bar: &last_bar,
            benchmark: options.benchmark,
        };
        let set = options.combination.capabilities();
        let asks = questions(occasion, set, &subject, &options.calendar, self.desk.now());
        self.put(asks, occasion == Occasion::Newcomers);
    }

    /// Puts questions behind those that wait, unless they wait already.
    fn put(&mut self, asks: Vec<Ask>, is_of_the_past: bool) {
        let now = self.desk.now();
        for ask in asks {
            if self.waiting.iter().all(|waiting| waiting.ask != ask) {
                self.waiting.push_back(Errand {
                    ask,
                    is_of_the_past,
                    attempts: 0,
                    not_before: now,
                });
            }
        }
    }

    fn next_due(&self) -> Timestamp {
        let errand = self.waiting.iter().map(|errand| errand.not_before).min();
        errand.unwrap_or(Timestamp::MAX).min(self.timetable.next())
    }

    /// Asks the first question that can be asked now.
    async fn run_one(&mut self) {
        let now = self.desk.now();
        let Some(place) = self.waiting.iter().position(|errand| errand.not_before <= now) else {
            return;
        };
        let Some(errand) = self.waiting.remove(place) else {
            return;
        };
        match self.answer(&errand.ask).await {
            Ok(answer) => self.deliver(answer, errand.is_of_the_past).await,
            Err(why) => self.put_back(errand, &why),
        }
    }

    /// What somebody answers, as it was traded.
    async fn answer(&self, ask: &Ask) -> Result<Answer, NoAnswer> {
        let fetched = self.desk.options.combination.fetch(ask).await?;
        let answer = fetched.answer;
        if answer.faults.count > 0 {
            let first = answer.faults.first.first().map(ToString::to_string);
            tracing::warn!(providers = ?fetched.providers, left_out = answer.faults.count, first, "rows could not be read");
        }
        self.as_traded(answer).await
    }

    /// Nobody answered: it is asked again, later and later.
    fn put_back(&mut self, mut errand: Errand, why: &NoAnswer) {
        self.desk.health.change(|state| state.unanswered += 1);
        errand.attempts += 1;
        let is_kept = errand.is_of_the_past || errand.attempts < MOST_ATTEMPTS;
        tracing::warn!(%why, is_kept, "a question was not answered");
        if is_kept {
            let doublings = 1_i32 << (errand.attempts.min(MOST_ATTEMPTS) - 1);
            let pause = TRY_AGAIN_AFTER.saturating_mul(doublings);
            errand.not_before = self.desk.now().saturating_add(pause).unwrap_or(Timestamp::MAX);
            self.waiting.push_back(errand);
        }
    }

    /// Bars in the shares of their days; it takes the splits since then to know them.
    async fn as_traded(&self, mut answer: Answer) -> Result<Answer, NoAnswer> {
        if answer.bars == BarsAre::AdjustedForSplits && !answer.batch.bars.is_empty() {
            let splits = self.splits_since(&answer.batch.bars).await?;
            in_their_shares::undo(&mut answer.batch.bars, &splits);
        }
        Ok(answer)
    }

    async fn splits_since(&self, bars: &[BarRow]) -> Result<Vec<SplitRow>, NoAnswer> {
        let today = new_york_date(self.desk.now());
        let from = bars.iter().map(|row| row.bar.date).min().unwrap_or(today);
        let mut symbols: Vec<Symbol> = bars.iter().map(|row| row.symbol).collect();
        symbols.dedup();
        let ask = Ask::Splits(symbols, Days { from, to: today });
        let fetched = self.desk.options.combination.fetch(&ask).await?;
        Ok(fetched.answer.batch.splits)
    }

    async fn deliver(&self, answer: Answer, backfill: bool) {
        let delivery = Delivery {
            at: self.desk.now(),
            backfill,
            batch: answer.batch,
            missed: Missed::default(),
        };
        self.desk.deliver(delivery).await;
    }
}
