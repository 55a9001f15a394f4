//! The loop.

use std::collections::HashMap;
use std::ops::ControlFlow;

use alerts::condition::RsiDirection;
use alerts::engine::{Decision, Engine, Event, Quote, Settings, Verdict, after_split};
use alerts::{Alert, AlertId, Condition, Revision, Status};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Calendar, Session, SplitRatio, Symbol};
use sources::folder::MarketData;
use uuid::Uuid;

use super::firing::Firing;
use super::span::Span;
use super::tape::{Reel, Rounds};
use super::timeline::{Fact, facts, tell_known_dates};
use crate::alerts_file::ReplayAlert;

/// What a replay came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Sessions replayed.
    pub sessions: u64,
    /// Observations judged.
    pub observations: u64,
    /// Alerts watched.
    pub alerts: usize,
    /// How many of them are on symbols without a single bar.
    pub alerts_without_bars: usize,
    /// How many of them were created after the last replayed day.
    pub alerts_not_begun: usize,
    /// Firings told.
    pub firings: u64,
}

/// A replay under way.
pub struct Replay<'a, Tell> {
    engine: Engine,
    calendar: &'a Calendar,
    span: Span,
    reels: Vec<Reel<'a>>,
    facts: std::iter::Peekable<std::vec::IntoIter<(Timestamp, Fact)>>,
    /// All alerts by their index; what a split moves is moved here, too.
    alerts: Vec<Alert>,
    /// The indexes of the alerts that are not created yet, the first one last.
    to_create: Vec<usize>,
    /// The indexes of the alerts that were created before the first replayed day. They are armed when it begins.
    held: Vec<usize>,
    /// Whether the first replayed day has begun. Before it, nothing fires.
    has_begun: bool,
    /// Percent changes that wait for their stock's first price.
    to_price: HashMap<Symbol, Vec<usize>>,
    decisions: Vec<Decision>,
    /// Firings of `told_until`, not told yet.
    pending: Vec<Firing>,
    pending_at: Timestamp,
    tell: Tell,
    summary: Summary,
}

/// Whether to go on: whoever is told may have heard enough.
type Flow = ControlFlow<()>;

impl<'a, Tell: FnMut(Firing) -> Flow> Replay<'a, Tell> {
    /// Prepares a replay of the days of `span`. `tell` is told each firing, in time order, at one instant by alert
    /// index.
    pub fn new(data: &'a MarketData, calendar: &'a Calendar, span: Span, alerts: Vec<ReplayAlert>, tell: Tell) -> Self {
        let mut engine = Engine::new(calendar.clone(), Settings::default());
        tell_known_dates(data, &mut engine, Timestamp::MIN);
        let reels: Vec<_> = data
            .bars
            .iter()
            .map(|(&symbol, bars)| Reel::new(symbol, engine.stock(symbol), bars))
            .collect();
        let alerts: Vec<_> = alerts
            .into_iter()
            .enumerate()
            .map(|(index, alert)| made(index, alert, &span))
            .collect();
        let mut to_create: Vec<_> = (0..alerts.len()).collect();
        to_create.sort_by_key(|&index| (alerts[index].created_at, index));
        to_create.reverse();
        let summary = Summary {
            alerts: alerts.len(),
            alerts_without_bars: alerts
                .iter()
                .filter(|alert| !data.bars.contains_key(&alert.symbol))
                .count(),
            ..Summary::default()
        };
        Self {
            engine,
            calendar,
            span,
            reels,
            facts: facts(data, calendar).into_iter().peekable(),
            alerts,
            to_create,
            held: Vec::new(),
            has_begun: false,
            to_price: HashMap::new(),
            decisions: Vec::new(),
            pending: Vec::new(),
            pending_at: Timestamp::MIN,
            tell,
            summary,
        }
    }

    /// Runs to the end, or until `tell` breaks. Calls `progress` with each session's date before the session is replayed.
    pub fn run(mut self, progress: impl FnMut(Date)) -> Summary {
        // A run that is broken off has a summary, too.
        let _ = self.run_days(progress);
        self.summary.alerts_not_begun = self.to_create.len();
        self.summary
    }

    fn run_days(&mut self, mut progress: impl FnMut(Date)) -> Flow {
        let has_no_bars = self.reels.is_empty();
        while let Some(date) = self.reels.iter().filter_map(Reel::next_date).min() {
            if date > self.span.to {
                break;
            }
            if date >= self.span.from && !self.has_begun {
                self.begin()?;
            }
            progress(date);
            let Some(session) = self.calendar.session(date) else {
                // The reader of the folder has reported bars of a day without a session.
                self.reels.iter_mut().for_each(|reel| reel.skip_through(date));
                continue;
            };
            self.session(&session)?;
        }
        if !self.has_begun {
            self.begin()?;
        }
        if has_no_bars {
            for session in self.calendar.sessions(self.span.from, self.span.to) {
                progress(session.date);
                self.advance(session.close)?;
                self.summary.sessions += 1;
            }
        }
        self.advance(self.span.end())?;
        self.flush()
    }

    /// Begins the first replayed day: arms the alerts that were created before it. Splits of the day itself move them
    /// first, because they were created before the split.
    fn begin(&mut self) -> Flow {
        let start = self.span.start();
        self.advance(self.span.eve())?;
        self.advance_facts(start)?;
        self.has_begun = true;
        for index in std::mem::take(&mut self.held) {
            let alert = &mut self.alerts[index];
            alert.armed_at = start;
            // A reminder for an earlier instant would have fired before the first replayed day.
            if !matches!(alert.condition, Condition::Reminder { at } if at < start) {
                self.arm(index, start)?;
            }
        }
        self.process(Event::Clock, start)
    }

    fn session(&mut self, session: &Session) -> Flow {
        let mut rounds = Rounds::new();
        let bars = self.take_bars(session, &mut rounds);
        for ((at, _), quotes) in rounds {
            self.advance(at)?;
            self.process(Event::Clock, at)?;
            self.observe(at, &quotes)?;
        }
        self.advance(session.close)?;
        self.complete(session, bars);
        self.summary.sessions += u64::from(self.has_begun);
        Flow::Continue(())
    }

    fn take_bars(&mut self, session: &Session, rounds: &mut Rounds) -> Vec<(Symbol, Bar)> {
        let due = self
            .reels
            .iter_mut()
            .filter(|reel| reel.next_date().is_some_and(|date| date <= session.date));
        due.filter_map(|reel| Some((reel.symbol, reel.take(session, rounds)?)))
            .collect()
    }

    fn complete(&mut self, session: &Session, bars: Vec<(Symbol, Bar)>) {
        for (symbol, bar) in bars {
            // The session has just ended and bars come in order, so the engine takes each of them.
            let taken = self
                .engine
                .process(Event::Bar { symbol, bar }, session.close, &mut self.decisions);
            debug_assert_eq!(taken, Ok(()));
        }
    }

    fn observe(&mut self, at: Timestamp, quotes: &[Quote]) -> Flow {
        if !self.to_price.is_empty() {
            self.price_waiting_alerts(at, quotes)?;
        }
        if self.has_begun {
            self.summary.observations += quotes.len() as u64;
        }
        self.process(Event::Snapshot(quotes), at)
    }

    /// The first price of a stock is what its waiting percent changes count from.
    fn price_waiting_alerts(&mut self, at: Timestamp, quotes: &[Quote]) -> Flow {
        for quote in quotes {
            let symbol = self.engine.symbol(quote.stock());
            for index in self.to_price.remove(&symbol).unwrap_or_default() {
                self.alerts[index].initial_price = Some(quote.price());
                self.watch(index, at)?;
            }
        }
        Flow::Continue(())
    }

    /// Goes to `to`: tells what becomes known, arms what is created and lets the clock strike on the way, in time
    /// order.
    fn advance(&mut self, to: Timestamp) -> Flow {
        loop {
            let fact = self.facts.peek().map(|&(at, _)| at);
            let alert = self.to_create.last().map(|&index| self.alerts[index].created_at);
            let moment = self.engine.next_moment();
            let Some(at) = [fact, alert, moment].into_iter().flatten().min().filter(|&at| at <= to) else {
                return Flow::Continue(());
            };
            self.advance_facts(at)?;
            while let Some(index) = self.to_create.pop_if(|&mut index| self.alerts[index].created_at <= at) {
                self.create(index, at)?;
            }
            self.process(Event::Clock, at)?;
        }
    }

    /// Processes the facts that become known up to `to`.
    fn advance_facts(&mut self, to: Timestamp) -> Flow {
        while let Some((at, fact)) = self.facts.next_if(|&(at, _)| at <= to) {
            self.process(fact.event(), at)?;
            if let Fact::Split { symbol, ratio } = fact {
                self.split_held(symbol, ratio);
            }
        }
        Flow::Continue(())
    }

    /// Adjusts held alerts, which the engine does not have yet, to a split.
    fn split_held(&mut self, symbol: Symbol, ratio: SplitRatio) {
        for &index in &self.held {
            let alert = &mut self.alerts[index];
            if alert.symbol == symbol {
                (alert.condition, alert.initial_price) = after_split(alert.condition, alert.initial_price, ratio);
            }
        }
    }

    /// Watches for a new alert, or lets it wait for the price it counts from.
    fn create(&mut self, index: usize, at: Timestamp) -> Flow {
        let alert = &mut self.alerts[index];
        alert.initial_price = self.engine.last_price(alert.symbol);
        if alert.initial_price.is_none() && matches!(alert.condition, Condition::PriceChange { .. }) {
            self.to_price.entry(alert.symbol).or_default().push(index);
            return Flow::Continue(());
        }
        self.watch(index, at)
    }

    /// Arms an alert; before the first replayed day, holds it until then.
    fn watch(&mut self, index: usize, at: Timestamp) -> Flow {
        if self.has_begun {
            return self.arm(index, at);
        }
        self.held.push(index);
        let alert = &self.alerts[index];
        if !matches!(
            alert.condition,
            Condition::Rsi {
                direction: RsiDirection::Both,
                ..
            }
        ) {
            return Flow::Continue(());
        }
        // The RSI at its creation, or else the first one after it, decides the side that it waits for.
        let undecided = Alert {
            initial_price: None,
            ..alert.clone()
        };
        self.process(Event::Armed(&undecided), at)
    }

    fn arm(&mut self, index: usize, at: Timestamp) -> Flow {
        let alert = self.alerts[index].clone();
        self.process(Event::Armed(&alert), at)
    }

    fn process(&mut self, event: Event<'_>, at: Timestamp) -> Flow {
        if at > self.pending_at {
            self.flush()?;
            self.pending_at = at;
        }
        // What the engine does not take (an observation of a session that is over, say) changes nothing.
        let _ = self.engine.process(event, at, &mut self.decisions);
        for decision in std::mem::take(&mut self.decisions) {
            if self.has_begun {
                self.decided(&decision);
            } else {
                self.decided_before(&decision);
            }
        }
        Flow::Continue(())
    }

    /// Before the first replayed day nothing fires; only the side of an RSI alert is decided.
    fn decided_before(&mut self, decision: &Decision) {
        if let Verdict::Decide { side } = decision.verdict {
            self.alerts[index_of(decision.alert)].rsi_side = Some(side);
            // It may have fired at the very observation that decided it, and then is not armed any more.
            let _ = self
                .engine
                .process(Event::Disarmed(decision.alert), decision.at, &mut Vec::new());
        }
    }

    fn decided(&mut self, decision: &Decision) {
        let index = index_of(decision.alert);
        let alert = &mut self.alerts[index];
        match decision.verdict {
            Verdict::Fire { price, reason } => self.pending.push(Firing {
                time: decision.at,
                alert_index: index,
                symbol: alert.symbol,
                condition: alert.condition.kind(),
                threshold: alert.condition.threshold(),
                price,
                reason,
            }),
            Verdict::Decide { side } => alert.rsi_side = Some(side),
            Verdict::Adjust {
                threshold,
                initial_price,
            } => {
                if let (Condition::Price { threshold: old, .. }, Some(new)) = (&mut alert.condition, threshold) {
                    *old = new;
                }
                alert.initial_price = initial_price;
            }
        }
    }

    /// Tells the firings of the instant that is over.
    fn flush(&mut self) -> Flow {
        self.pending.sort_by_key(|firing| (firing.time, firing.alert_index));
        for firing in self.pending.drain(..) {
            self.summary.firings += 1;
            (self.tell)(firing)?;
        }
        Flow::Continue(())
    }
}

/// The alert at place `index` of the list. One without a time of creation is created just before the first replayed day.
fn made(index: usize, alert: ReplayAlert, span: &Span) -> Alert {
    let ReplayAlert { alert, created_at } = alert;
    let created_at = created_at.unwrap_or_else(|| span.eve());
    Alert {
        id: AlertId(Uuid::from_u128(index as u128)),
        revision: Revision::default(),
        symbol: alert.symbol,
        condition: alert.condition,
        notification: alert.notification,
        parameters: None,
        status: Status::Active,
        initial_price: None,
        created_at,
        armed_at: created_at,
        threshold_set_at: created_at,
        initial_price_set_at: created_at,
        rsi_side: None,
        triggered_at: None,
    }
}

fn index_of(id: AlertId) -> usize {
    usize::try_from(id.0.as_u128()).expect("the id was made of an index")
}
