//! Evaluation of gaps in a second engine.

use std::collections::{HashMap, HashSet};

use ::alerts::engine::{AlertAction, Decision, Engine, Event, ObservedSession, Quote, QuoteDetails};
use ::alerts::lifecycle::ArmedFigures;
use ::alerts::metrics::MetricDependency;
use ::alerts::options::TriggerPrice;
use ::alerts::{Alert, AlertId};
use ::market::records::BarRow;
use ::market::{Bar, History, Symbol};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::facts::FactTimeline;
use super::inputs::AlertInputs;
use super::known::{GapsByStock, UnknownPeriod};
use super::{Gap, MissedObservation};

/// The result of the evaluation of gaps.
#[derive(Debug, Default)]
pub struct RerunResult {
    /// The decisions in order of time, with the instants of the observations.
    pub decisions: Vec<Decision>,
    /// The sessions that ended within the gap and have no delivered bar, in today's shares.
    pub(crate) bars: Vec<BarRow>,
    /// The periods that could not be evaluated.
    pub(crate) unknown: Vec<UnknownPeriod>,
    /// The last session of each stock.
    pub(super) sessions: Vec<(Symbol, ObservedSession)>,
    /// The evaluated alerts.
    pub(super) alerts: HashMap<AlertId, Alert>,
    /// The rules that were armed within the gap and not judged in it. The live engine armed them with the prices before it.
    pub(super) unjudged_rules: Vec<AlertId>,
}

/// The alerts to evaluate, and the data besides the observations.
pub(super) struct RerunInputs {
    pub(super) alerts: Vec<Alert>,
    pub(super) facts: FactTimeline,
    /// The present instant: closes of sessions are evaluated until then.
    pub(super) until: Timestamp,
    /// The time without an observation after which the price of a stock is not known any more.
    pub(super) stale_after: SignedDuration,
}

/// Evaluates gaps as if their observations had been received in time.
pub(super) fn rerun(engine: Engine, gaps: &[Gap], inputs: RerunInputs) -> RerunResult {
    let until = inputs.until;
    let mut rerun = Rerun::new(engine, gaps, inputs);
    let mut observations: Vec<(usize, MissedObservation)> = Vec::new();
    for (place, gap) in gaps.iter().enumerate() {
        observations.extend(gap.observations.iter().map(|&observation| (place, observation)));
    }
    // Stable: observations of one stock at one instant stay in their order.
    observations.sort_by_key(|(_, observation)| observation.at);
    let Some(&(_, first)) = observations.first() else {
        return rerun.end();
    };
    for place in 0..gaps.len() {
        rerun.begin(place, first.session);
    }
    rerun
        .resumes
        .sort_by_key(|&(at, place, _)| std::cmp::Reverse((at, place)));
    // Alerts that were armed before then are not new.
    rerun.process(Event::Clock, first.at);
    for at_one_instant in observations.chunk_by(|(_, a), (_, b)| a.at == b.at) {
        rerun.evaluate_instant(at_one_instant);
    }
    rerun.evaluate_last_closes(until);
    rerun.end()
}

/// Returns the state of a session before the first observation of the gap, without bid, ask and average price, which may have changed
/// since. If the live engine has newer observations, the last price before the gap is unknown. The first observation of the
/// gap replaces it, so that there is no artificial price step.
fn session_before(session: ObservedSession, first: Option<&MissedObservation>) -> ObservedSession {
    let session = ObservedSession {
        bid: None,
        ask: None,
        vwap: None,
        ..session
    };
    match first {
        Some(first) if first.at <= session.last_at => ObservedSession {
            last: first.price,
            last_at: first.at,
            volume: None,
            ..session
        },
        _ => session,
    }
}

struct Rerun<'a> {
    engine: Engine,
    gaps: &'a [Gap],
    by_stock: GapsByStock<'a>,
    /// For each gap the bars that complete its sessions, the first one last.
    bars: Vec<Vec<Bar>>,
    /// The states of sessions before the gaps, the first one last.
    resumes: Vec<(Timestamp, usize, ObservedSession)>,
    facts: FactTimeline,
    /// The alerts that are still to be armed, with the instants from which they are evaluated, the first one last.
    to_arm: Vec<(Timestamp, Alert)>,
    armed: HashMap<AlertId, Alert>,
    /// The stocks of alerts over several stocks.
    linked: HashSet<Symbol>,
    /// The stocks whose volume an alert needs.
    with_volume: HashSet<Symbol>,
    /// The volumes from before observations without one, which no alert is evaluated with.
    hidden_volumes: HashMap<(Symbol, Date), i64>,
    unknown: Vec<UnknownPeriod>,
    decisions: Vec<Decision>,
    /// The session of the last instant.
    session: Option<Date>,
}

impl<'a> Rerun<'a> {
    fn new(engine: Engine, gaps: &'a [Gap], inputs: RerunInputs) -> Self {
        let mut rerun = Self {
            engine,
            gaps,
            by_stock: GapsByStock::new(gaps, inputs.stale_after),
            bars: Vec::with_capacity(gaps.len()),
            resumes: Vec::with_capacity(gaps.len()),
            facts: inputs.facts,
            to_arm: Vec::with_capacity(inputs.alerts.len()),
            armed: HashMap::new(),
            linked: HashSet::new(),
            with_volume: HashSet::new(),
            hidden_volumes: HashMap::new(),
            unknown: Vec::new(),
            decisions: Vec::new(),
            session: None,
        };
        let begin = rerun.first_instant();
        for alert in inputs.alerts {
            let is_in_gap = begin.is_some_and(|begin| alert.armed_at >= begin);
            rerun.add(if is_in_gap { before_arming(alert) } else { alert });
        }
        rerun
            .to_arm
            .sort_by_key(|(from, alert)| std::cmp::Reverse((*from, alert.armed_at, alert.id)));
        rerun
    }

    fn add(&mut self, alert: Alert) {
        let inputs = AlertInputs::of(&alert);
        if inputs.is_of_several_stocks() {
            self.linked.extend(inputs.stocks());
        }
        self.with_volume.extend(inputs.stocks_with(MetricDependency::Volume));
        let (from, unknown) = self.by_stock.evaluated_from(&alert, &inputs);
        self.unknown.extend(unknown);
        self.to_arm.push((from, alert));
    }

    /// Loads the state of a stock before its gap, or before the first session if it is linked to others.
    fn begin(&mut self, place: usize, first: Date) {
        let gap = &self.gaps[place];
        let own = gap.first_session().filter(|_| !self.linked.contains(&gap.symbol));
        let from = own.unwrap_or(first);
        let mut bars: Vec<Bar> = gap.history.bars().filter(|bar| bar.date >= from).copied().collect();
        bars.reverse();
        self.bars.push(bars);
        self.engine.replace_history(gap.symbol, gap.history.before(from));
        let is_before = |session: &ObservedSession| gap.first_session().is_none_or(|first| session.date <= first);
        if let Some(session) = gap.session.filter(is_before) {
            let session = session_before(session, gap.observations.first());
            self.resumes.push((session.last_at, place, session));
        }
    }

    /// Evaluates the observations of one instant.
    fn evaluate_instant(&mut self, at_one_instant: &[(usize, MissedObservation)]) {
        let Some(&(_, MissedObservation { at, session, .. })) = at_one_instant.first() else {
            return;
        };
        if self.session.replace(session) != Some(session) {
            for place in 0..self.gaps.len() {
                self.complete_before(place, session, at);
                self.end_session_before(place, session, at);
            }
        }
        self.learn_until(at);
        self.arm_until(at);
        self.process(Event::Clock, at);
        let mut snapshot: Vec<(usize, MissedObservation)> = Vec::with_capacity(at_one_instant.len());
        let mut seen = HashSet::with_capacity(at_one_instant.len());
        for &(place, observation) in at_one_instant {
            if !seen.insert(place) {
                self.observe(&snapshot, at);
                snapshot.clear();
                seen = HashSet::from([place]);
            }
            snapshot.push((place, observation));
        }
        self.observe(&snapshot, at);
    }

    /// Evaluates observations of one instant, at most one of each stock.
    fn observe(&mut self, snapshot: &[(usize, MissedObservation)], at: Timestamp) {
        let mut quotes: Vec<Quote> = Vec::with_capacity(snapshot.len());
        let mut details: Vec<QuoteDetails> = Vec::new();
        for (place, observation) in snapshot {
            let symbol = self.gaps[*place].symbol;
            if observation.volume.is_none() && self.with_volume.contains(&symbol) {
                self.hide_volume(symbol, observation.session, at);
            }
            let stock = self.engine.stock(symbol);
            let quote = Quote::new(stock, observation.price);
            quotes.push(observation.volume.map_or(quote, |volume| quote.with_volume(volume)));
            let &MissedObservation { bid, ask, vwap, .. } = observation;
            if bid.or(ask).or(vwap).is_some() {
                details.push(QuoteDetails { stock, bid, ask, vwap });
            }
        }
        self.process(Event::QuoteDetails(&details), at);
        self.process(Event::Snapshot(&quotes), at);
    }

    /// Lets a session's volume be unknown to alerts: that of an observation without one is higher than the last known one.
    fn hide_volume(&mut self, symbol: Symbol, date: Date, at: Timestamp) {
        let session = self
            .engine
            .observed_session(symbol)
            .filter(|session| session.date == date);
        let Some((session, volume)) = session.and_then(|session| Some((session, session.volume?))) else {
            return;
        };
        self.hidden_volumes.insert((symbol, date), volume);
        let session = ObservedSession {
            volume: None,
            ..session
        };
        self.process(Event::Resume { symbol, session }, at);
    }

    /// Processes the bars of a stock's sessions before `session`.
    fn complete_before(&mut self, place: usize, session: Date, at: Timestamp) {
        let symbol = self.gaps[place].symbol;
        while let Some(bar) = self.bars[place].pop_if(|bar| bar.date < session) {
            self.process(Event::Bar { symbol, bar }, at);
        }
    }

    /// Ends a session of a linked stock before `session`, for which no bar was delivered, before another stock is observed.
    fn end_session_before(&mut self, place: usize, session: Date, at: Timestamp) {
        let symbol = self.gaps[place].symbol;
        let observed = self.engine.observed_session(symbol);
        let ended = observed.filter(|observed| observed.date < session && self.linked.contains(&symbol));
        let completed = self.engine.history(symbol).and_then(|history| history.last());
        let Some(ended) = ended.filter(|ended| completed.is_none_or(|bar| bar.date < ended.date)) else {
            return;
        };
        let bar = Bar {
            date: ended.date,
            open: ended.open,
            high: ended.high,
            low: ended.low,
            close: ended.last,
            volume: ended.volume.unwrap_or_default(),
        };
        self.process(Event::Bar { symbol, bar }, at);
    }

    /// Loads the states of sessions and the facts that were known at `at`.
    fn learn_until(&mut self, at: Timestamp) {
        while let Some((_, place, session)) = self.resumes.pop_if(|(known_at, ..)| *known_at <= at) {
            let symbol = self.gaps[place].symbol;
            self.process(Event::Resume { symbol, session }, at);
        }
        while let Some((symbol, fact)) = self.facts.next_until(at) {
            fact.process(symbol, |event| self.process(event, at));
        }
    }

    /// Arms the alerts that are evaluated at `at`, in order of time.
    fn arm_until(&mut self, at: Timestamp) {
        while let Some((from, alert)) = self.to_arm.pop_if(|(from, _)| *from <= at) {
            self.process(Event::Armed(&alert), from);
            self.armed.insert(alert.id, alert);
        }
    }

    /// Evaluates the alerts on closes for the closes after the last missed observation, unless the live engine has newer ones.
    fn evaluate_last_closes(&mut self, until: Timestamp) {
        self.arm_until(until);
        let is_behind = |alert: &&Alert| {
            let inputs = AlertInputs::of(alert);
            let mut gaps = inputs.stocks().filter_map(|symbol| self.by_stock.get(symbol));
            gaps.any(Gap::is_behind)
        };
        let on_closes = self
            .armed
            .values()
            .filter(|alert| alert.options.trigger == TriggerPrice::Close);
        let behind: Vec<AlertId> = on_closes.filter(is_behind).map(|alert| alert.id).collect();
        for id in behind {
            self.process(Event::Disarmed(id), until);
        }
        self.process(Event::Clock, until);
    }

    /// Processes an event. The engine may reject it.
    fn process(&mut self, event: Event<'_>, at: Timestamp) {
        if let Err(why) = self.engine.process(event, at, &mut self.decisions) {
            tracing::debug!(%why, "the engine rejected an event of a missed period");
        }
    }

    /// Returns the bars that the engine has made of a stock's sessions.
    fn observed_bars(&self, gap: &Gap) -> Vec<BarRow> {
        let begun_in = gap.session.map(|session| session.date);
        let from = begun_in.min(gap.first_session()).or(gap.first_session());
        let is_new = |date: Date| from.is_some_and(|from| date >= from);
        let delivered: HashSet<Date> = gap
            .history
            .bars()
            .map(|bar| bar.date)
            .filter(|date| is_new(*date))
            .collect();
        let known = self.engine.history(gap.symbol).into_iter().flat_map(History::bars);
        known
            .filter(|bar| is_new(bar.date) && !delivered.contains(&bar.date))
            .map(|bar| BarRow {
                symbol: gap.symbol,
                bar: Bar {
                    volume: bar
                        .volume
                        .max(self.hidden_volume(gap.symbol, bar.date).unwrap_or_default()),
                    ..*bar
                },
            })
            .collect()
    }

    fn hidden_volume(&self, symbol: Symbol, date: Date) -> Option<i64> {
        self.hidden_volumes.get(&(symbol, date)).copied()
    }

    /// Returns the instant of the first missed observation.
    fn first_instant(&self) -> Option<Timestamp> {
        let observations = self.gaps.iter().flat_map(|gap| gap.observations.first());
        observations.map(|first| first.at).min()
    }

    fn unjudged_rules(&self) -> Vec<AlertId> {
        let Some(begin) = self.first_instant() else {
            return Vec::new();
        };
        let decided: HashSet<AlertId> = self.decisions.iter().map(|decision| decision.alert).collect();
        let is_unjudged =
            |alert: &&Alert| alert.lifecycle.is_some() && alert.armed_at >= begin && !decided.contains(&alert.id);
        self.armed.values().filter(is_unjudged).map(|alert| alert.id).collect()
    }

    fn end(mut self) -> RerunResult {
        // The live engine finds the state at the arming of a rule that was not judged, because it has newer observations.
        self.decisions.retain(|decision| !is_state_at_arming(&decision.action));
        let observed = || self.gaps.iter().filter(|gap| !gap.observations.is_empty());
        let sessions = observed().filter_map(|gap| {
            let session = self.engine.observed_session(gap.symbol)?;
            let volume = session.volume.max(self.hidden_volume(gap.symbol, session.date));
            Some((gap.symbol, ObservedSession { volume, ..session }))
        });
        let sessions = sessions.collect();
        let unjudged_rules = self.unjudged_rules();
        let bars = observed().flat_map(|gap| self.observed_bars(gap)).collect();
        RerunResult {
            bars,
            sessions,
            unjudged_rules,
            unknown: self.unknown,
            decisions: self.decisions,
            alerts: self.armed,
        }
    }
}

/// Returns an alert that was armed within a gap without its state at arming: the live engine found that with the prices before
/// the gap.
fn before_arming(alert: Alert) -> Alert {
    let lifecycle = alert.lifecycle.map(|state| Box::new(state.before_arming()));
    Alert { lifecycle, ..alert }
}

fn is_state_at_arming(action: &AlertAction) -> bool {
    matches!(action, AlertAction::SetLifecycle { state } if state.figures == ArmedFigures::AtArming)
}
