//! Going through a gap with an engine of its own.

use std::collections::{HashMap, HashSet};

use ::alerts::engine::{AlertAction, Decision, Engine, Event, ObservedSession, Quote, Reason};
use ::alerts::{Alert, AlertId};
use ::market::records::{BarRow, FundamentalsRow};
use ::market::{Bar, History, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;

use super::{Gap, Sight};

/// What became known by judging what was missed.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What is to be done, in the order of time. The instants are those of the observations.
    pub(super) decisions: Vec<Decision>,
    /// The sessions that ended within the gap and have no delivered bar, in today's shares.
    pub(crate) bars: Vec<BarRow>,
    /// What the last session has seen of each stock.
    pub(super) sessions: Vec<(Symbol, ObservedSession)>,
    /// The alerts that were judged.
    pub(super) alerts: HashMap<AlertId, Alert>,
}

/// Judges what was missed as it would have been judged, had it been seen.
pub(super) fn rerun(engine: Engine, gaps: &[Gap], earnings: Earnings, alerts: Vec<Alert>) -> Found {
    let mut rerun = Rerun::new(engine, gaps, earnings, alerts);
    let mut sights: Vec<(usize, Sight)> = Vec::new();
    for (place, gap) in gaps.iter().enumerate() {
        rerun.begin(gap);
        sights.extend(gap.sights.iter().map(|&sight| (place, sight)));
    }
    // Stable: what one stock was seen at, at one instant, stays in its order.
    sights.sort_by_key(|(_, sight)| sight.at);
    if let Some((_, first)) = sights.first() {
        // What was armed before then is not new.
        rerun.tell(Event::Clock, first.at);
    }
    for at_once in sights.chunk_by(|(_, a), (_, b)| a.at == b.at) {
        rerun.see(at_once);
    }
    rerun.end()
}

/// Earnings per share of each stock as they became known, in today's shares, by date.
pub(super) type Earnings = HashMap<Symbol, Vec<FundamentalsRow>>;

/// What a session had seen when the first of the gap was seen. If the live engine has seen more since, nobody knows what the
/// last one was: then it is the first of the gap itself, so that nothing is taken for a step.
fn before(session: ObservedSession, first: Option<&Sight>) -> ObservedSession {
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
    /// Of each gap the bars that complete sessions of it, the first one last.
    bars: Vec<Vec<Bar>>,
    /// The figures that are still to be told, the first ones last.
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

    /// Tells what was known of a stock before the gap.
    fn begin(&mut self, gap: &Gap) {
        let from = gap.first_session().unwrap_or(Date::MAX);
        let mut bars: Vec<Bar> = gap.history.bars().filter(|bar| bar.date >= from).copied().collect();
        bars.reverse();
        self.bars.push(bars);
        self.engine.replace_history(gap.symbol, gap.history.before(from));
        if let Some(session) = gap.session.filter(|session| session.date <= from) {
            let session = before(session, gap.sights.first());
            let symbol = gap.symbol;
            self.tell(Event::Resume { symbol, session }, session.last_at);
        }
    }

    /// Judges what was seen at one instant.
    fn see(&mut self, at_once: &[(usize, Sight)]) {
        let Some(&(_, Sight { at, session, .. })) = at_once.first() else {
            return;
        };
        for &(place, _) in at_once {
            self.complete_before(place, session, at);
            self.learn_earnings(place, session, at);
        }
        self.arm_until(at);
        self.tell(Event::Clock, at);
        let decided = self.decisions.len();
        let mut snapshot: Vec<Quote> = Vec::with_capacity(at_once.len());
        let mut seen = HashSet::with_capacity(at_once.len());
        for (place, sight) in at_once {
            if !seen.insert(*place) {
                self.tell(Event::Snapshot(&snapshot), at);
                snapshot.clear();
                seen = HashSet::from([*place]);
            }
            let quote = Quote::new(self.engine.stock(self.gaps[*place].symbol), sight.price);
            snapshot.push(sight.volume.map_or(quote, |volume| quote.with_volume(volume)));
        }
        self.tell(Event::Snapshot(&snapshot), at);
        self.forget_untold_volumes(decided, at_once);
    }

    /// An observation without a volume fires no alert on volume: what it would be judged by was told before, and is judged by
    /// the live engine. Those are the decisions from that place on.
    fn forget_untold_volumes(&mut self, from: usize, at_once: &[(usize, Sight)]) {
        let told = at_once.iter().filter(|(_, sight)| sight.volume.is_some());
        let told: HashSet<Symbol> = told.map(|(place, _)| self.gaps[*place].symbol).collect();
        let is_sound = |decision: &Decision| {
            let reason = match decision.action {
                AlertAction::Fire { reason, .. } => reason,
                _ => return true,
            };
            let symbol = self.armed.get(&decision.alert).map(|alert| alert.symbol);
            !matches!(reason, Reason::VolumeAboveAverage { .. }) || symbol.is_some_and(|symbol| told.contains(&symbol))
        };
        let late = self.decisions.split_off(from);
        let late: Vec<Decision> = late.into_iter().filter(is_sound).collect();
        self.decisions.extend(late);
    }

    /// Tells the bars of a stock's sessions before `session`.
    fn complete_before(&mut self, place: usize, session: Date, at: Timestamp) {
        let symbol = self.gaps[place].symbol;
        while let Some(bar) = self.bars[place].pop_if(|bar| bar.date < session) {
            self.tell(Event::Bar { symbol, bar }, at);
        }
    }

    /// Tells the earnings per share of a stock that were known on the day of a session.
    fn learn_earnings(&mut self, place: usize, session: Date, at: Timestamp) {
        let symbol = self.gaps[place].symbol;
        while let Some(row) = self
            .earnings
            .get_mut(&symbol)
            .and_then(|rows| rows.pop_if(|row| row.as_of <= session))
        {
            let event = Event::Fundamentals {
                symbol,
                eps_ttm: row.eps_ttm,
                eps_forward: row.eps_forward,
            };
            self.tell(event, at);
        }
    }

    /// Arms the alerts that were armed by `at`, in the order of time.
    fn arm_until(&mut self, at: Timestamp) {
        while let Some(alert) = self.to_arm.pop_if(|alert| alert.armed_at <= at) {
            self.tell(Event::Armed(&alert), alert.armed_at);
            self.armed.insert(alert.id, alert);
        }
    }

    /// Tells the engine something that it takes, or that it is right to ignore.
    fn tell(&mut self, event: Event<'_>, at: Timestamp) {
        if let Err(why) = self.engine.process(event, at, &mut self.decisions) {
            tracing::debug!(%why, "not judged of what was missed");
        }
    }

    /// The bars that the engine has made of a stock's sessions.
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

    fn end(self) -> Found {
        let sessions = self.gaps.iter().filter_map(|gap| {
            let session = self.engine.observed_session(gap.symbol)?;
            Some((gap.symbol, session))
        });
        let bars = self.gaps.iter().flat_map(|gap| self.observed_bars(gap));
        Found {
            bars: bars.collect(),
            sessions: sessions.collect(),
            decisions: self.decisions,
            alerts: self.armed,
        }
    }
}
