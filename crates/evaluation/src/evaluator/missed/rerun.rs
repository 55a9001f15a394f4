//! Evaluation of gaps in a second engine.

use std::collections::{HashMap, HashSet};

use ::alerts::engine::{AlertAction, Decision, Engine, Event, ObservedSession, Quote, Reason};
use ::alerts::metrics::FundamentalFigures;
use ::alerts::{Alert, AlertId};
use ::market::records::{BarRow, FundamentalsRow};
use ::market::{Bar, History, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;

use super::{Gap, MissedObservation};

/// The result of the evaluation of gaps.
#[derive(Debug, Default)]
pub struct RerunResult {
    /// The decisions in order of time, with the instants of the observations.
    pub decisions: Vec<Decision>,
    /// The sessions that ended within the gap and have no delivered bar, in today's shares.
    pub(crate) bars: Vec<BarRow>,
    /// The last session of each stock.
    pub(super) sessions: Vec<(Symbol, ObservedSession)>,
    /// The evaluated alerts.
    pub(super) alerts: HashMap<AlertId, Alert>,
}

/// Evaluates gaps as if their observations had been received in time.
pub(crate) fn rerun(engine: Engine, gaps: &[Gap], earnings: Earnings, alerts: Vec<Alert>) -> RerunResult {
    let mut rerun = Rerun::new(engine, gaps, earnings, alerts);
    let mut observations: Vec<(usize, MissedObservation)> = Vec::new();
    for (place, gap) in gaps.iter().enumerate() {
        rerun.begin(gap);
        observations.extend(gap.observations.iter().map(|&observation| (place, observation)));
    }
    // Stable: observations of one stock at one instant stay in their order.
    observations.sort_by_key(|(_, observation)| observation.at);
    if let Some((_, first)) = observations.first() {
        // Alerts that were armed before then are not new.
        rerun.process(Event::Clock, first.at);
    }
    for at_one_instant in observations.chunk_by(|(_, a), (_, b)| a.at == b.at) {
        rerun.evaluate_instant(at_one_instant);
    }
    rerun.end()
}

/// The earnings per share of each stock as they became known, in today's shares, by date.
pub type Earnings = HashMap<Symbol, Vec<FundamentalsRow>>;

/// Returns the state of a session before the first observation of the gap. If the live engine has newer
/// observations, the last price before the gap is unknown. The first observation of the gap replaces it, so that
/// there is no artificial price step.
fn session_before(session: ObservedSession, first: Option<&MissedObservation>) -> ObservedSession {
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
    /// For each gap the bars that complete its sessions, the first one last.
    bars: Vec<Vec<Bar>>,
    /// The earnings that are still to be processed, the first ones last.
    earnings: Earnings,
    /// The alerts that are still to be armed, the first one last.
    to_arm: Vec<Alert>,
    armed: HashMap<AlertId, Alert>,
    decisions: Vec<Decision>,
}

impl<'a> Rerun<'a> {
    fn new(engine: Engine, gaps: &'a [Gap], mut earnings: Earnings, mut alerts: Vec<Alert>) -> Self {
        earnings.values_mut().for_each(|rows| rows.reverse());
        alerts.sort_by_key(|alert| (alert.armed_at, alert.id));
        alerts.reverse();
        Self {
            engine,
            gaps,
            bars: Vec::with_capacity(gaps.len()),
            earnings,
            to_arm: alerts,
            armed: HashMap::new(),
            decisions: Vec::new(),
        }
    }

    /// Loads the state of a stock before the gap.
    fn begin(&mut self, gap: &Gap) {
        let from = gap.first_session().unwrap_or(Date::MAX);
        let mut bars: Vec<Bar> = gap.history.bars().filter(|bar| bar.date >= from).copied().collect();
        bars.reverse();
        self.bars.push(bars);
        self.engine.replace_history(gap.symbol, gap.history.before(from));
        if let Some(session) = gap.session.filter(|session| session.date <= from) {
            let session = session_before(session, gap.observations.first());
            let symbol = gap.symbol;
            self.process(Event::Resume { symbol, session }, session.last_at);
        }
    }

    /// Evaluates the observations of one instant.
    fn evaluate_instant(&mut self, at_one_instant: &[(usize, MissedObservation)]) {
        let Some(&(_, MissedObservation { at, session, .. })) = at_one_instant.first() else {
            return;
        };
        for &(place, _) in at_one_instant {
            self.complete_before(place, session, at);
            self.learn_earnings(place, session, at);
        }
        self.arm_until(at);
        self.process(Event::Clock, at);
        let decided = self.decisions.len();
        let mut snapshot: Vec<Quote> = Vec::with_capacity(at_one_instant.len());
        let mut seen = HashSet::with_capacity(at_one_instant.len());
        for (place, observation) in at_one_instant {
            if !seen.insert(*place) {
                self.process(Event::Snapshot(&snapshot), at);
                snapshot.clear();
                seen = HashSet::from([*place]);
            }
            let quote = Quote::new(self.engine.stock(self.gaps[*place].symbol), observation.price);
            snapshot.push(observation.volume.map_or(quote, |volume| quote.with_volume(volume)));
        }
        self.process(Event::Snapshot(&snapshot), at);
        self.drop_decisions_without_volume(decided, at_one_instant);
    }

    /// Removes volume decisions, from index `from` on, that are based on an observation without a volume. Their volume
    /// was received before the gap and is evaluated by the live engine.
    fn drop_decisions_without_volume(&mut self, from: usize, at_one_instant: &[(usize, MissedObservation)]) {
        let symbols_with_volume = at_one_instant
            .iter()
            .filter(|(_, observation)| observation.volume.is_some());
        let symbols_with_volume: HashSet<Symbol> =
            symbols_with_volume.map(|(place, _)| self.gaps[*place].symbol).collect();
        let is_sound = |decision: &Decision| {
            let reason = match &decision.action {
                AlertAction::Fire { reason, .. } => *reason,
                _ => return true,
            };
            let symbol = self.armed.get(&decision.alert).map(|alert| alert.symbol);
            !matches!(reason, Reason::VolumeAboveAverage { .. })
                || symbol.is_some_and(|symbol| symbols_with_volume.contains(&symbol))
        };
        let late = self.decisions.split_off(from);
        let late: Vec<Decision> = late.into_iter().filter(is_sound).collect();
        self.decisions.extend(late);
    }

    /// Processes the bars of a stock's sessions before `session`.
    fn complete_before(&mut self, place: usize, session: Date, at: Timestamp) {
        let symbol = self.gaps[place].symbol;
        while let Some(bar) = self.bars[place].pop_if(|bar| bar.date < session) {
            self.process(Event::Bar { symbol, bar }, at);
        }
    }

    /// Processes the earnings per share of a stock that were known on the day of a session.
    fn learn_earnings(&mut self, place: usize, session: Date, at: Timestamp) {
        let symbol = self.gaps[place].symbol;
        while let Some(row) = self
            .earnings
            .get_mut(&symbol)
            .and_then(|rows| rows.pop_if(|row| row.as_of <= session))
        {
            let event = Event::Fundamentals {
                symbol,
                figures: FundamentalFigures::of(&row),
            };
            self.process(event, at);
        }
    }

    /// Arms the alerts that were armed by `at`, in order of time.
    fn arm_until(&mut self, at: Timestamp) {
        while let Some(alert) = self.to_arm.pop_if(|alert| alert.armed_at <= at) {
            self.process(Event::Armed(&alert), alert.armed_at);
            self.armed.insert(alert.id, alert);
        }
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
                bar: *bar,
            })
            .collect()
    }

    fn end(self) -> RerunResult {
        let sessions = self.gaps.iter().filter_map(|gap| {
            let session = self.engine.observed_session(gap.symbol)?;
            Some((gap.symbol, session))
        });
        let bars = self.gaps.iter().flat_map(|gap| self.observed_bars(gap));
        RerunResult {
            bars: bars.collect(),
            sessions: sessions.collect(),
            decisions: self.decisions,
            alerts: self.armed,
        }
    }
}
