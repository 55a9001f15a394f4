//! The engine and the oracle side by side.

use std::collections::{BTreeMap, BTreeSet};

use alerts::condition::Side;
use alerts::engine::{Engine, Event, Settings, Verdict};
use alerts::{Alert, AlertId};
use jiff::Timestamp;
use market::{Calendar, Symbol};

use super::reasons::bears_out;
use super::{outcomes, sides, tell};
use crate::oracle::{Oracle, Outcome, Told};

/// Both of them, told the same. Engines that were rebuilt on the way go on beside those that were not.
pub(crate) struct Bench {
    calendar: Calendar,
    pub(crate) oracle: Oracle,
    engines: Vec<Engine>,
    symbols: BTreeSet<Symbol>,
    /// What a restarted engine is told: bars and facts, in the order in which they came.
    kept: Vec<(Timestamp, Told)>,
    bars_made: usize,
    /// Every alert as it was armed last, to name it in what went wrong.
    armed: BTreeMap<AlertId, Alert>,
    /// The sides the first engine decided for RSI alerts, kept with the alerts as a service keeps them.
    rsi_sides: BTreeMap<AlertId, Side>,
    pub(crate) firings: Vec<Outcome>,
    told_until: Timestamp,
}

impl Bench {
    pub(crate) fn new(calendar: Calendar) -> Self {
        Self {
            oracle: Oracle::new(calendar.clone()),
            engines: vec![Engine::new(calendar.clone(), Settings::default())],
            calendar,
            symbols: BTreeSet::new(),
            kept: Vec::new(),
            bars_made: 0,
            armed: BTreeMap::new(),
            rsi_sides: BTreeMap::new(),
            firings: Vec::new(),
            told_until: Timestamp::MIN,
        }
    }

    /// Lets the clock strike for what waits for it, then tells everybody.
    ///
    /// # Errors
    /// Where an engine decides otherwise than the oracle.
    pub(crate) fn tell(&mut self, told: &Told, now: Timestamp) -> Result<Vec<Outcome>, String> {
        self.told_until = now;
        while let Some(moment) = self.engines[0].next_moment().filter(|&moment| moment < now) {
            self.tell_exactly(&Told::Clock, moment.max(self.oracle.clock()))?;
        }
        if matches!(told, Told::Snapshot(_) | Told::Evaluate) && self.oracle.clock() < now {
            self.tell_exactly(&Told::Clock, now)?;
        }
        self.tell_exactly(told, now)
    }

    fn tell_exactly(&mut self, told: &Told, now: Timestamp) -> Result<Vec<Outcome>, String> {
        let expected = self.oracle.tell(told, now);
        self.keep(told, now);
        for (restarts, engine) in self.engines.iter_mut().enumerate() {
            let decisions = tell(engine, told, now).0;
            if restarts == 0 {
                self.rsi_sides.extend(sides(&decisions));
            }
            for decision in &decisions {
                if let Verdict::Fire { reason, .. } = &decision.verdict
                    && !bears_out(&self.armed[&decision.alert].condition, reason)
                {
                    return Err(format!(
                        "at {now} {:?} fired because {reason:?}",
                        self.armed[&decision.alert]
                    ));
                }
            }
            let found = outcomes(&decisions);
            if found != expected {
                let only = |these: &[Outcome], others: &[Outcome]| -> String {
                    let only = these.iter().filter(|outcome| !others.contains(outcome));
                    only.map(|outcome| format!("\n    {outcome:?}\n        {:?}", self.armed.get(&outcome.alert)))
                        .collect()
                };
                return Err(format!(
                    "at {now}, told {told:?}, restarts: {restarts}\n  only the engine:{}\n  only the oracle:{}\n",
                    only(&found, &expected),
                    only(&expected, &found)
                ));
            }
        }
        self.firings.extend(&expected);
        Ok(expected)
    }

    fn keep(&mut self, told: &Told, now: Timestamp) {
        for (symbol, bar) in &self.oracle.made[self.bars_made..] {
            self.kept.push((now, Told::Bar(*symbol, *bar)));
        }
        self.bars_made = self.oracle.made.len();
        match told {
            Told::Snapshot(seen) => self.symbols.extend(seen.iter().map(|seen| seen.symbol)),
            Told::Armed(alert) => {
                self.armed.insert(alert.id, alert.clone());
                self.rsi_sides.remove(&alert.id);
            }
            Told::Clock | Told::Evaluate | Told::Disarmed(_) => {}
            _ => self.kept.push((now, told.clone())),
        }
    }

    /// Builds a new engine from what a service keeps, the way it would after a crash. A service lets the clock strike right after
    /// it has taken in facts, and writes both down together.
    ///
    /// # Errors
    /// Where an engine decides otherwise than the oracle.
    pub(crate) fn restart(&mut self) -> Result<(), String> {
        while let Some(moment) = self.engines[0]
            .next_moment()
            .filter(|&moment| moment <= self.told_until)
        {
            self.tell_exactly(&Told::Clock, moment.max(self.oracle.clock()))?;
        }
        let mut engine = Engine::new(self.calendar.clone(), Settings::default());
        for (at, told) in &self.kept {
            assert!(
                tell(&mut engine, told, *at).0.is_empty(),
                "without alerts there is nothing to decide"
            );
        }
        let (now, last) = (self.oracle.clock(), self.engines.last().expect("the first engine"));
        let mut silently = |event: Event<'_>| {
            let taken = engine.process(event, now, &mut Vec::new());
            taken.expect("nothing refuses it");
        };
        for &symbol in &self.symbols {
            if let Some(session) = last.session_so_far(symbol) {
                silently(Event::Resume { symbol, session });
            }
        }
        silently(Event::Clock);
        for alert in self.oracle.armed() {
            let rsi_side = self.rsi_sides.get(&alert.id).copied();
            let alert = Alert {
                rsi_side,
                ..alert.clone()
            };
            silently(Event::Armed(&alert));
        }
        self.engines.push(engine);
        Ok(())
    }
}
