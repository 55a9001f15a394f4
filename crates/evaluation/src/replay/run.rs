//! The replay loop.

mod decisions;
mod explain_at;

use std::collections::HashMap;
use std::ops::ControlFlow;

use alerts::condition::RsiDirection;
use alerts::engine::{Decision, Engine, EngineConfig, Event, Quote, after_split};
use alerts::{Alert, Condition};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Calendar, Session, SplitRatio, Symbol};
use sources::folder::MarketData;

use super::alert::{ReplayAlert, members};
use super::firing::ReplayFiring;
use super::observations::{BarCursor, ObservationBatches, Observations};
use super::period::ReplayPeriod;
use super::timeline::{Fact, facts, load_known_dates};

/// The result of a replay. An alert over many stocks counts once for each of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReplaySummary {
    /// The number of replayed sessions.
    pub sessions: u64,
    /// The number of evaluated observations.
    pub observations: u64,
    /// The number of alerts.
    pub alerts: usize,
    /// The number of alerts on symbols without any bar.
    pub alerts_without_bars: usize,
    /// The number of alerts that were created after the last replayed day.
    pub alerts_created_after_end: usize,
    /// The number of firings.
    pub firings: u64,
}

/// A running replay.
pub struct Replay<'a, OnFiring> {
    engine: Engine,
    calendar: &'a Calendar,
    period: ReplayPeriod,
    cursors: Vec<BarCursor<'a>>,
    facts: std::iter::Peekable<std::vec::IntoIter<(Timestamp, Fact)>>,
    /// All alerts, one for each stock. Splits adjust them here, too.
    alerts: Vec<Alert>,
    /// The index of each in the list of the replay.
    alert_indexes: Vec<usize>,
    /// The indexes of the alerts that are not created yet. The next one is last.
    to_create: Vec<usize>,
    /// The indexes of the alerts that were created before the first replayed day. They are armed when it begins.
    older_alerts: Vec<usize>,
    /// Whether the first replayed day has begun. Nothing fires before it.
    has_started: bool,
    /// Percent-change alerts that wait for their stock's first price.
    waiting_for_price: HashMap<Symbol, Vec<usize>>,
    decisions: Vec<Decision>,
    /// The firings at `pending_at` that are not reported yet.
    pending: Vec<ReplayFiring>,
    pending_at: Timestamp,
    /// The instant after which nothing is replayed.
    until: Timestamp,
    on_firing: OnFiring,
    summary: ReplaySummary,
}

/// Whether to continue: the callback can stop the replay.
type Flow = ControlFlow<()>;

impl<'a, OnFiring: FnMut(ReplayFiring) -> Flow> Replay<'a, OnFiring> {
    /// Prepares a replay of `period`. `on_firing` is called for each firing in time order, and in the order of alert
    /// indexes and symbols at the same instant.
    pub fn new(
        data: &'a MarketData,
        calendar: &'a Calendar,
        period: ReplayPeriod,
        alerts: Vec<ReplayAlert>,
        on_firing: OnFiring,
    ) -> Self {
        Self::with_config(data, calendar, period, alerts, EngineConfig::default(), on_firing)
    }

    /// As [`Self::new`], with a configuration of the engine.
    pub fn with_config(
        data: &'a MarketData,
        calendar: &'a Calendar,
        period: ReplayPeriod,
        alerts: Vec<ReplayAlert>,
        config: EngineConfig,
        on_firing: OnFiring,
    ) -> Self {
        let mut engine = Engine::new(calendar.clone(), config);
        load_known_dates(data, &mut engine, Timestamp::MIN);
        let cursors: Vec<_> = data
            .bars
            .iter()
            .map(|(&symbol, bars)| BarCursor::new(symbol, engine.stock(symbol), bars))
            .collect();
        let (alert_indexes, alerts): (Vec<_>, Vec<_>) = members(alerts, &period)
            .into_iter()
            .map(|member| (member.alert_index, member.alert))
            .unzip();
        let mut to_create: Vec<_> = (0..alerts.len()).collect();
        to_create.sort_by_key(|&index| (alerts[index].created_at, index));
        to_create.reverse();
        let summary = ReplaySummary {
            alerts: alerts.len(),
            alerts_without_bars: alerts
                .iter()
                .filter(|alert| !data.bars.contains_key(&alert.symbol))
                .count(),
            ..ReplaySummary::default()
        };
        Self {
            engine,
            calendar,
            period,
            cursors,
            facts: facts(data, calendar).into_iter().peekable(),
            alerts,
            alert_indexes,
            to_create,
            older_alerts: Vec::new(),
            has_started: false,
            waiting_for_price: HashMap::new(),
            decisions: Vec::new(),
            pending: Vec::new(),
            pending_at: Timestamp::MIN,
            until: Timestamp::MAX,
            on_firing,
            summary,
        }
    }

    /// Runs to the end, or until `on_firing` breaks. Calls `progress` with each session's date before the session is
    /// replayed.
    pub fn run(mut self, progress: impl FnMut(Date)) -> ReplaySummary {
        // A replay that is stopped early has a summary, too.
        let _ = self.run_days(progress);
        self.summary.alerts_created_after_end = self.to_create.len();
        self.summary
    }

    /// As [`Self::run`], until `may_continue` returns `false` for the next session.
    pub fn run_while(mut self, may_continue: impl FnMut(Date) -> bool) -> ReplaySummary {
        let _ = self.run_days_while(may_continue);
        self.summary.alerts_created_after_end = self.to_create.len();
        self.summary
    }

    fn run_days(&mut self, mut progress: impl FnMut(Date)) -> Flow {
        self.run_days_while(|date| {
            progress(date);
            true
        })
    }

    fn run_days_while(&mut self, mut may_continue: impl FnMut(Date) -> bool) -> Flow {
        let has_no_bars = self.cursors.is_empty();
        while let Some(date) = self.cursors.iter().filter_map(BarCursor::next_date).min() {
            if date > self.period.to {
                break;
            }
            if date >= self.period.from && !self.has_started {
                self.begin()?;
            }
            if !may_continue(date) {
                return Flow::Break(());
            }
            let Some(session) = self.calendar.session(date) else {
                // The folder reader has already reported bars on days without a session.
                self.cursors.iter_mut().for_each(|cursor| cursor.skip_through(date));
                continue;
            };
            self.session(&session)?;
        }
        if !self.has_started {
            self.begin()?;
        }
        if has_no_bars {
            for session in self.calendar.sessions(self.period.from, self.period.to) {
                if !may_continue(session.date) {
                    return Flow::Break(());
                }
                self.advance(session.close)?;
                self.summary.sessions += 1;
            }
        }
        self.advance(self.period.end())?;
        self.flush()
    }

    /// Begins the first replayed day: arms the alerts that were created before it. Splits of the day itself adjust
    /// them first, because they were created before the split.
    fn begin(&mut self) -> Flow {
        let start = self.period.start();
        self.advance(self.period.just_before_start())?;
        self.advance_facts(start)?;
        self.has_started = true;
        for index in std::mem::take(&mut self.older_alerts) {
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
        let mut batches = ObservationBatches::new();
        let due = self.cursors.iter_mut();
        let due = due.filter(|cursor| cursor.next_date().is_some_and(|date| date <= session.date));
        let bars: Vec<_> = due
            .filter_map(|cursor| Some((cursor.symbol, cursor.take(session, &mut batches)?)))
            .collect();
        for ((at, _), observations) in batches {
            if at > self.until {
                break;
            }
            self.advance(at)?;
            self.process(Event::Clock, at)?;
            self.observe(at, &observations)?;
        }
        self.advance(session.close.min(self.until))?;
        if session.close > self.until {
            return Flow::Break(());
        }
        for (symbol, bar) in bars {
            // The session has just ended and bars come in order, so the engine accepts each of them.
            let processed = self
                .engine
                .process(Event::Bar { symbol, bar }, session.close, &mut self.decisions);
            debug_assert_eq!(processed, Ok(()));
        }
        self.summary.sessions += u64::from(self.has_started);
        Flow::Continue(())
    }

    fn observe(&mut self, at: Timestamp, Observations { quotes, details }: &Observations) -> Flow {
        if !self.waiting_for_price.is_empty() {
            self.set_initial_prices(at, quotes)?;
        }
        if self.has_started {
            self.summary.observations += quotes.len() as u64;
        }
        if !details.is_empty() {
            self.process(Event::QuoteDetails(details), at)?;
        }
        self.process(Event::Snapshot(quotes), at)
    }

    /// Sets the initial price of waiting percent-change alerts to their stock's first price.
    fn set_initial_prices(&mut self, at: Timestamp, quotes: &[Quote]) -> Flow {
        for quote in quotes {
            let symbol = self.engine.symbol(quote.stock());
            for index in self.waiting_for_price.remove(&symbol).unwrap_or_default() {
                self.alerts[index].initial_price = Some(quote.price());
                self.watch(index, at)?;
            }
        }
        Flow::Continue(())
    }

    /// Advances to `to`: processes facts, creates alerts and evaluates time-based conditions on the way, in time
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
                self.split_older_alerts(symbol, ratio);
            }
        }
        Flow::Continue(())
    }

    /// Adjusts older alerts, which the engine does not have yet, to a split.
    fn split_older_alerts(&mut self, symbol: Symbol, ratio: SplitRatio) {
        for &index in &self.older_alerts {
            let alert = &mut self.alerts[index];
            if alert.symbol == symbol {
                (alert.condition, alert.initial_price) = after_split(&alert.condition, alert.initial_price, ratio);
            }
        }
    }

    /// Watches a new alert, or lets it wait for its initial price.
    fn create(&mut self, index: usize, at: Timestamp) -> Flow {
        let alert = &mut self.alerts[index];
        alert.initial_price = alert.initial_price.or_else(|| self.engine.last_price(alert.symbol));
        if alert.initial_price.is_none() && alert.condition.uses_initial_price() {
            self.waiting_for_price.entry(alert.symbol).or_default().push(index);
            return Flow::Continue(());
        }
        self.watch(index, at)
    }

    /// Arms an alert. Before the first replayed day, it is kept until then.
    fn watch(&mut self, index: usize, at: Timestamp) -> Flow {
        if self.has_started {
            return self.arm(index, at);
        }
        self.older_alerts.push(index);
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
        // The RSI at its creation, or else the first one after it, decides which side the alert waits for.
        let without_price = Alert {
            initial_price: None,
            ..alert.clone()
        };
        self.process(Event::Armed(&without_price), at)
    }

    fn arm(&mut self, index: usize, at: Timestamp) -> Flow {
        let alert = self.alerts[index].clone();
        self.process(Event::Armed(&alert), at)
    }
}
