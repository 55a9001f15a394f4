//! The prices of the session: streamed, polled, let through, delivered.

mod jumps;
mod reported_by;
mod rounds;
mod silence;

use std::collections::HashSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::records::{Batch, QuoteRow};
use market::{Calendar, Symbol};
use tokio::sync::mpsc;

use jumps::{Confirmation, Jumps};
pub(super) use reported_by::ReportedBy;

use super::gaps::{Gap, Gaps};
use super::price_requests::{PriceRequest, PriceRequests};
use super::round::{Round, UnderWay, delay, skew};
use super::streaming::{Streaming, news};
use super::{Desk, Watched};
use crate::combine::{Fetched, NoAnswer, plan};
use crate::freshness::{Gate, Limits, Reason, Verdict, observations};
use crate::provider::stream::News;
use crate::provider::{Ask, Capability, Times};
use crate::{Delivery, Missed};

/// Stocks that were seen last at about the same time have missed the same.
const SEEN_TOGETHER: SignedDuration = SignedDuration::from_secs(60);
/// Of what is held back, so much is kept; what is older goes first.
const MOST_HELD: usize = 200_000;

/// Delivers prices until nobody receives any more.
pub(super) async fn run(desk: Desk, requests: mpsc::Receiver<PriceRequest>) {
    let mut prices = Prices::new(desk, requests);
    prices.begin();
    loop {
        let due = prices.next_due();
        let clock = Arc::clone(&prices.desk.options.setup.clock);
        let sender = prices.desk.sender.clone();
        tokio::select! {
            () = sender.closed() => return,
            news = news(&mut prices.streaming) => prices.take_news(news).await,
            round = prices.round.end() => prices.take_round(round).await,
            minutes = prices.minutes.end() => prices.take_minutes(minutes).await,
            event = prices.requests.next() => prices.on_price_requests(event).await,
            confirmation = prices.confirming.end() => prices.take_confirmation(confirmation).await,
            is_there = changed(&mut prices.desk.watched) => {
                if !is_there {
                    return;
                }
                prices.follow_watched();
            }
            () = clock.sleep_until(due) => {}
        }
        prices.go_on().await;
    }
}

async fn changed(watched: &mut Watched) -> bool {
    watched.changed().await.is_ok()
}

/// The minutes of a gap, or why there are none.
type Minutes = (Gap, Result<Fetched, NoAnswer>);

/// The stocks whose quotes were delivered, and those whose quotes are too far from the last price to be believed at once.
#[derive(Default)]
pub(super) struct QuotesTaken {
    pub(super) delivered: Vec<Symbol>,
    pub(super) unconfirmed: Vec<Symbol>,
    /// Whether the time of at least one of them is neither ahead nor stale.
    has_plausible_time: bool,
}

/// What is held back.
#[derive(Default)]
struct Held {
    quotes: Vec<QuoteRow>,
    missed: Vec<QuoteRow>,
}

pub(super) struct Prices {
    pub(super) desk: Desk,
    pub(super) gate: Gate,
    streaming: Option<Streaming>,
    pub(super) watched: Arc<Vec<Symbol>>,
    /// Of whom a price was asked for already, in a session or out of one.
    pub(super) known: HashSet<Symbol>,
    /// The requests for single prices.
    pub(super) requests: PriceRequests,
    round: UnderWay<Round>,
    /// When the last round that was answered began.
    polled_at: Option<Timestamp>,
    /// When the next round is due.
    pub(super) next_round: Timestamp,
    gaps: Gaps,
    minutes: UnderWay<Minutes>,
    /// Jumps that wait for a confirmation, and the request about some of them that is under way.
    jumps: Jumps,
    confirming: UnderWay<Confirmation>,
    /// Until when what comes in is held back for the minutes that are under way.
    hold_until: Option<Timestamp>,
    held: Held,
    last_now: Timestamp,
    /// When the last round began that told of the session.
    last_of_session: Option<Timestamp>,
    /// The session whose end was not dealt with yet.
    session_ends: Option<Timestamp>,
}

impl Prices {
    fn new(desk: Desk, requests: mpsc::Receiver<PriceRequest>) -> Self {
        let limits = Limits {
            delay: delay(&desk.options.combination, Capability::Quotes).max(desk.options.limits.delay),
            confirm_within: if Self::can_confirm(&desk.options) {
                desk.options.limits.confirm_within
            } else {
                // Without another source only the stock's next trade confirms a jump, whenever it comes.
                SignedDuration::MAX
            },
            ..desk.options.limits
        };
        let next_round = desk.now();
        Self {
            gate: Gate::new(limits),
            streaming: None,
            watched: Arc::default(),
            known: HashSet::new(),
            requests: PriceRequests::new(requests),
            round: UnderWay::nothing(),
            polled_at: None,
            next_round,
            last_now: next_round,
            gaps: Gaps::default(),
            minutes: UnderWay::nothing(),
            jumps: Jumps::default(),
            confirming: UnderWay::nothing(),
            hold_until: None,
            held: Held::default(),
            last_of_session: None,
            session_ends: None,
            desk,
        }
    }

    fn begin(&mut self) {
        self.streaming = Streaming::begin(&self.desk.options);
        self.follow_watched();
        self.tell_plan();
        let now = self.desk.now();
        let seen = |symbol: &Symbol| self.desk.memory.last_seen(*symbol).map(|seen| (*symbol, seen.at));
        let mut seen: Vec<(Symbol, Timestamp)> = self.watched.iter().filter_map(seen).collect();
        seen.sort_by_key(|(_, at)| *at);
        // Whoever was seen long before the others must not have all of them asked for that long.
        for some in seen.chunk_by(|(_, a), (_, b)| b.duration_since(*a) < SEEN_TOGETHER) {
            let Some(&(_, from)) = some.first() else { continue };
            let symbols: Vec<Symbol> = some.iter().map(|(symbol, _)| *symbol).collect();
            self.open_gap(&symbols, Times { from, to: now }, false);
        }
        self.polled_at = Some(now);
    }

    /// Says what the plans that prices come by are enough for.
    fn tell_plan(&self) {
        let options = &self.desk.options;
        for provider in options.combination.providers(Capability::Quotes) {
            let plan = plan(provider.tier(), self.watched.len(), options.polling);
            tracing::info!("what is asked for fits into the plan as follows:\n{plan}");
        }
    }

    /// Takes note of who is watched now.
    fn follow_watched(&mut self) {
        self.watched = Arc::clone(&self.desk.watched.borrow_and_update());
        let watched: HashSet<Symbol> = self.watched.iter().copied().collect();
        self.gate.retain(|symbol| watched.contains(&symbol));
        self.known.retain(|symbol| watched.contains(symbol));
        self.refer(true);
        if let Some(streaming) = &self.streaming {
            streaming.want(&self.watched);
        }
        let watched = Arc::clone(&self.watched);
        let mut is_new = |symbol: &Symbol| !self.known.contains(symbol) && !self.requests.is_requested(*symbol);
        if watched.iter().any(&mut is_new) {
            // A price is wanted now, not within the minute.
            self.next_round = self.desk.now();
        }
    }

    /// Tells the gate with which prices the next ones are to be compared: of newcomers, or of all, which may have been split.
    fn refer(&mut self, only_newcomers: bool) {
        for &symbol in &*self.watched {
            if only_newcomers && self.known.contains(&symbol) {
                continue;
            }
            if let Some(price) = self.desk.memory.reference_price(symbol) {
                self.gate.set_reference(symbol, price);
            }
        }
    }

    /// After a step back of the clock, resumes polling at once, not when the clock gets there again.
    fn follow_clock(&mut self, now: Timestamp) {
        if now < self.last_now {
            self.next_round = now;
            self.polled_at = self.polled_at.map(|at| at.min(now));
            self.last_of_session = self.last_of_session.map(|at| at.min(now));
            self.session_ends = None;
            self.hold_until = self.hold_until.map(|_| now);
            self.gaps.follow_clock_back(now);
            let delay = self.delay(Capability::MinuteBars);
            self.jumps.follow_clock_back(now, delay);
            if let Some(streaming) = &mut self.streaming {
                streaming.follow_clock_back(now);
            }
        }
        self.last_now = now;
    }

    /// Begins what is due and can begin.
    async fn go_on(&mut self) {
        let now = self.desk.now();
        self.follow_clock(now);
        self.note_close(now);
        self.note_silent_stream(now);
        if !self.round.is_something() && now >= self.next_round {
            self.begin_round(now);
        }
        self.ask_for_requested(now);
        if !self.minutes.is_something()
            && let Some(gap) = self.gaps.take_due(now)
        {
            self.hold_until = gap.hold_until;
            let combination = Arc::clone(&self.desk.options.combination);
            self.minutes.begin(async move {
                let ask = Ask::MinuteBars(gap.symbols.clone(), gap.times);
                let answer = combination.fetch(&ask).await;
                (gap, answer)
            });
        }
        self.confirm_jumps(now);
        if !self.is_holding(now) {
            self.release(now).await;
        }
        let (quotes, open) = (*self.gate.counts(), self.gaps.len());
        let stream = self.streaming.as_ref().map(Streaming::report);
        self.desk.health.change(|state| {
            state.quotes = quotes;
            state.stream = stream;
            state.gaps_open = open;
        });
    }

    /// When something is to be done though nothing comes in.
    fn next_due(&self) -> Timestamp {
        let now = self.desk.now();
        let round = (!self.round.is_something()).then_some(self.next_round);
        let gap = self.gaps.next_due().filter(|_| !self.minutes.is_something());
        let hold = (!self.held.quotes.is_empty() || !self.held.missed.is_empty())
            .then(|| self.held_until())
            .flatten();
        let close = self.session_ends.map(|end| self.close_is_over(end));
        let calendar = &self.desk.options.calendar;
        let open = calendar.next_open(now);
        let jump = self.jumps.next_due().filter(|_| !self.confirming.is_something());
        let dues = [round, gap, hold, close, open, jump, self.silence_due(now)];
        dues.into_iter().flatten().min().unwrap_or(Timestamp::MAX)
    }

    fn delay(&self, capability: Capability) -> SignedDuration {
        delay(&self.desk.options.combination, capability)
    }

    async fn take_news(&mut self, news: Option<News>) {
        let Some(news) = news else {
            self.streaming = None;
            self.next_round = self.desk.now();
            return;
        };
        let now = self.desk.now();
        if let Some(gap) = news.gap {
            let symbols: Vec<Symbol> = self.streamed();
            let delay = self.delay(Capability::Stream);
            // While the stream was down they were polled.
            let is_behind = self.polled_at.is_some_and(|polled| polled > gap.from);
            self.open_gap(&symbols, told_then(gap, delay), is_behind);
        }
        let reported_by = ReportedBy::Stream(self.streaming.as_ref().map(Streaming::provider));
        let skew = skew(&self.desk.options.combination, Capability::Stream);
        let taken = self.take_quotes(news.quotes, reported_by, skew, now).await;
        // Prices with impossible times may mean that a clock is wrong: then the stream brings nothing that can be judged.
        if let Some(streaming) = self.streaming.as_mut().filter(|_| taken.has_plausible_time) {
            streaming.note_price(now);
        }
    }

    fn streamed(&self) -> Vec<Symbol> {
        let wanted = self.streaming.as_ref().map(Streaming::wanted).unwrap_or_default();
        wanted.iter().copied().collect()
    }

    /// Takes note of a stretch that was missed; `is_behind` if some of it may have been delivered already.
    fn open_gap(&mut self, symbols: &[Symbol], missed: Times, is_behind: bool) {
        let options = &self.desk.options;
        if !options.combination.capabilities().has(Capability::MinuteBars) {
            tracing::warn!(from = %missed.from, to = %missed.to, "prices were missed, and nobody is set for minute_bars to make up for them");
            return;
        }
        let (now, delay) = (self.desk.now(), self.delay(Capability::MinuteBars));
        self.gaps
            .open(symbols, missed, is_behind, now, delay, &options.calendar);
    }

    /// Delivers the quotes that pass the gate: as quotes if they are current, as missed if they are late.
    pub(super) async fn take_quotes(
        &mut self,
        quotes: Vec<QuoteRow>,
        reported_by: ReportedBy<'_>,
        skew: SignedDuration,
        now: Timestamp,
    ) -> QuotesTaken {
        let provider_now = now.saturating_add(skew).unwrap_or(now);
        let calendar = &self.desk.options.calendar;
        let is_open = calendar.session_at(now).is_some();
        let (mut passed, mut missed) = (Vec::with_capacity(quotes.len()), Vec::new());
        let mut taken = QuotesTaken::default();
        let mut jumps = Vec::new();
        for quote in quotes {
            let is_of_a_session = || is_of_session(calendar, &quote);
            let verdict = self.gate.judge(&quote, provider_now);
            taken.has_plausible_time |= !matches!(verdict, Verdict::Dropped(Reason::Ahead | Reason::Stale));
            match verdict {
                Verdict::Passed | Verdict::Confirmed if is_open || !is_of_a_session() => passed.push(quote),
                Verdict::Passed | Verdict::Confirmed | Verdict::Held(Reason::Late) => missed.push(quote),
                // An old price is better than none.
                Verdict::Dropped(Reason::Stale) if is_of_a_session() && !self.known.contains(&quote.symbol) => {
                    missed.push(quote);
                }
                Verdict::Held(Reason::Jump) => {
                    taken.unconfirmed.push(quote.symbol);
                    jumps.push((quote.symbol, quote.time.unwrap_or(provider_now)));
                }
                Verdict::Held(_) | Verdict::Dropped(_) => {}
            }
        }
        self.note_jumps(&jumps, reported_by, now);
        taken.delivered = self.pass_on(passed, missed, now).await;
        taken
    }

    /// Delivers quotes, unless they have to wait for what was missed before them. Returns the stocks of the delivered ones.
    async fn pass_on(&mut self, mut passed: Vec<QuoteRow>, mut missed: Vec<QuoteRow>, now: Timestamp) -> Vec<Symbol> {
        if self.is_holding(now) {
            for (held, news) in [
                (&mut self.held.quotes, &mut passed),
                (&mut self.held.missed, &mut missed),
            ] {
                held.append(news);
                held.drain(..held.len().saturating_sub(MOST_HELD));
            }
        }
        let delivered = passed.iter().chain(&missed).map(|quote| quote.symbol).collect();
        self.deliver(passed, in_time(missed), now).await;
        delivered
    }

    async fn take_minutes(&mut self, (gap, answer): Minutes) {
        let now = self.desk.now();
        self.hold_until = None;
        match answer {
            Ok(fetched) => {
                let missed = Missed {
                    quotes: observations(&fetched.answer.minutes, gap.times),
                    // What came in meanwhile was held back, or was not.
                    is_behind: gap.is_behind || gap.hold_until.is_none_or(|until| until <= now),
                };
                tracing::info!(from = %gap.times.from, to = %gap.times.to, observations = missed.quotes.len(), "a missed stretch is made up for");
                self.desk.health.change(|state| state.gaps_filled += 1);
                self.deliver(Vec::new(), missed, now).await;
            }
            Err(why) => {
                let is_kept = self.gaps.put_back(gap, now);
                self.desk.health.change(|state| {
                    state.unanswered += 1;
                    state.gaps_given_up += u64::from(!is_kept);
                });
                tracing::warn!(%why, is_kept, "the minutes of a missed stretch could not be asked for");
            }
        }
    }

    /// Whether what comes in waits for what was missed before it.
    pub(super) fn is_holding(&self, now: Timestamp) -> bool {
        self.held_until().is_some_and(|until| now < until)
    }

    /// Until when what comes in waits.
    fn held_until(&self) -> Option<Timestamp> {
        self.hold_until.max(self.gaps.hold_until())
    }

    async fn release(&mut self, now: Timestamp) {
        let Held { quotes, missed } = std::mem::take(&mut self.held);
        self.deliver(quotes, in_time(missed), now).await;
    }

    async fn deliver(&mut self, quotes: Vec<QuoteRow>, missed: Missed, at: Timestamp) {
        let batch = Batch {
            quotes,
            ..Batch::default()
        };
        let delivery = Delivery {
            at,
            backfill: false,
            batch,
            missed,
        };
        self.desk.deliver(delivery).await;
    }
}

/// Whether a quote was made in a session. If that is over, the quote is judged as of then.
fn is_of_session(calendar: &Calendar, quote: &QuoteRow) -> bool {
    quote.time.is_some_and(|time| calendar.session_at(time).is_some())
}

/// The prices that are told in a stretch by whoever tells them so much later.
fn told_then(Times { from, to }: Times, delay: SignedDuration) -> Times {
    let before = |at: Timestamp| at.saturating_sub(delay).unwrap_or(at);
    Times {
        from: before(from),
        to: before(to),
    }
}

/// Quotes that are told late, but before any later one of their stocks.
fn in_time(mut quotes: Vec<QuoteRow>) -> Missed {
    quotes.sort_by_key(|quote| quote.time);
    Missed {
        quotes,
        is_behind: false,
    }
}
