//! The prices of the session: streamed, polled, let through, delivered.

mod rounds;

use std::collections::HashSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::records::{Batch, QuoteRow};

use super::gaps::{Gap, Gaps};
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
pub(super) async fn run(desk: Desk) {
    let mut prices = Prices::new(desk);
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

/// What is held back.
#[derive(Default)]
struct Held {
    quotes: Vec<QuoteRow>,
    missed: Vec<QuoteRow>,
}

struct Prices {
    desk: Desk,
    gate: Gate,
    streaming: Option<Streaming>,
    watched: Arc<Vec<Symbol>>,
    /// Of whom a price was asked for already, in a session or out of one.
    known: HashSet<Symbol>,
    round: UnderWay<Round>,
    /// When the last round that was answered began.
    polled_at: Option<Timestamp>,
    /// When the next round is due.
    next_round: Timestamp,
    gaps: Gaps,
    minutes: UnderWay<Minutes>,
    /// Until when what comes in is held back for the minutes that are under way.
    hold_until: Option<Timestamp>,
    held: Held,
    /// When the last round began that told of the session.
    last_of_session: Option<Timestamp>,
    /// The session whose end was not dealt with yet.
    session_ends: Option<Timestamp>,
}

impl Prices {
    fn new(desk: Desk) -> Self {
        let limits = Limits {
            delay: delay(&desk.options.combination, Capability::Quotes).max(desk.options.limits.delay),
            ..desk.options.limits
        };
        let next_round = desk.now();
        Self {
            gate: Gate::new(limits),
            streaming: None,
            watched: Arc::default(),
            known: HashSet::new(),
            round: UnderWay::nothing(),
            polled_at: None,
            next_round,
            gaps: Gaps::default(),
            minutes: UnderWay::nothing(),
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
        if self.watched.iter().any(|symbol| !self.known.contains(symbol)) {
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
            if let Some(seen) = self.desk.memory.last_seen(symbol) {
                self.gate.set_reference(symbol, seen.price);
            }
        }
    }

    /// Begins what is due and can begin.
    async fn go_on(&mut self) {
        let now = self.desk.now();
        self.note_close(now);
        if !self.round.is_something() && now >= self.next_round {
            self.begin_round(now);
        }
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
        let dues = [round, gap, hold, close, open];
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
        let skew = skew(&self.desk.options.combination, Capability::Stream);
        self.take_quotes(news.quotes, skew, now).await;
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

    /// What of these quotes may be judged goes on: now if it is of now, as missed if it is told late.
    async fn take_quotes(&mut self, quotes: Vec<QuoteRow>, skew: SignedDuration, now: Timestamp) {
        let provider_now = now.saturating_add(skew).unwrap_or(now);
        let calendar = &self.desk.options.calendar;
        let is_open = calendar.session_at(now).is_some();
        let (mut passed, mut missed) = (Vec::with_capacity(quotes.len()), Vec::new());
        for quote in quotes {
            let is_of_a_session = || quote.time.is_some_and(|time| calendar.session_at(time).is_some());
            match self.gate.judge(&quote, provider_now) {
                Verdict::Passed | Verdict::Confirmed if is_open || !is_of_a_session() => passed.push(quote),
                Verdict::Passed | Verdict::Confirmed | Verdict::Held(Reason::Late) => missed.push(quote),
                // An old price is better than none.
                Verdict::Dropped(Reason::Stale) if is_of_a_session() && !self.known.contains(&quote.symbol) => {
                    missed.push(quote);
                }
                Verdict::Held(_) | Verdict::Dropped(_) => {}
            }
        }
        if self.is_holding(now) {
            for (held, news) in [
                (&mut self.held.quotes, &mut passed),
                (&mut self.held.missed, &mut missed),
            ] {
                held.append(news);
                held.drain(..held.len().saturating_sub(MOST_HELD));
            }
        }
        self.deliver(passed, in_time(missed), now).await;
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
    fn is_holding(&self, now: Timestamp) -> bool {
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
