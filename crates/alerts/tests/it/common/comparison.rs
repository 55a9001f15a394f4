//! A comparison of the engine with the oracle.

use std::collections::{BTreeMap, BTreeSet};

use alerts::condition::Side;
use alerts::engine::{AlertAction, Engine, EngineConfig, Event};
use alerts::lifecycle::Lifecycle;
use alerts::{Alert, AlertId};
use jiff::Timestamp;
use market::{Calendar, Symbol};

use super::reasons::supports;
use super::{outcomes, process_event, sides, states};
use crate::oracle::{Oracle, Outcome, OwnedEvent};

/// The oracle and engines that process the same events. Restarted engines run beside the original one.
pub(crate) struct EngineComparison {
    calendar: Calendar,
    pub(crate) oracle: Oracle,
    engines: Vec<Engine>,
    symbols: BTreeSet<Symbol>,
    /// The events for a restarted engine: bars and facts, in their original order.
    kept: Vec<(Timestamp, OwnedEvent)>,
    bars_made: usize,
    /// The last armed revision of every alert, for error messages.
    armed: BTreeMap<AlertId, Alert>,
    /// The RSI sides that the first engine determined, stored with the alerts as in the service.
    rsi_sides: BTreeMap<AlertId, Side>,
    /// The states of rules that the first engine decided.
    states: BTreeMap<AlertId, Lifecycle>,
    pub(crate) firings: Vec<Outcome>,
    processed_until: Timestamp,
}

impl EngineComparison {
    pub(crate) fn new(calendar: Calendar) -> Self {
        Self {
            oracle: Oracle::new(calendar.clone()),
            engines: vec![Engine::new(calendar.clone(), EngineConfig::default())],
            calendar,
            symbols: BTreeSet::new(),
            kept: Vec::new(),
            bars_made: 0,
            armed: BTreeMap::new(),
            rsi_sides: BTreeMap::new(),
            states: BTreeMap::new(),
            firings: Vec::new(),
            processed_until: Timestamp::MIN,
        }
    }

    /// Advances the clock to every moment that is due, then processes the event.
    ///
    /// # Errors
    /// Returns a description if an engine and the oracle disagree.
    pub(crate) fn process(&mut self, event: &OwnedEvent, now: Timestamp) -> Result<Vec<Outcome>, String> {
        self.processed_until = now;
        while let Some(moment) = self.engines[0].next_moment().filter(|&moment| moment < now) {
            self.process_exactly(&OwnedEvent::Clock, moment.max(self.oracle.clock()))?;
        }
        if matches!(event, OwnedEvent::Snapshot(_) | OwnedEvent::Evaluate) && self.oracle.clock() < now {
            self.process_exactly(&OwnedEvent::Clock, now)?;
        }
        self.process_exactly(event, now)
    }

    fn process_exactly(&mut self, event: &OwnedEvent, now: Timestamp) -> Result<Vec<Outcome>, String> {
        let expected = self.oracle.process(event, now);
        self.keep(event, now);
        for (restarts, engine) in self.engines.iter_mut().enumerate() {
            let decisions = process_event(engine, event, now).0;
            if restarts == 0 {
                self.rsi_sides.extend(sides(&decisions));
                self.states.extend(states(&decisions));
            }
            for decision in &decisions {
                if let AlertAction::Fire { reason, .. } = &decision.action
                    && !supports(&self.armed[&decision.alert].condition, reason)
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
                    "at {now}, event {event:?}, restarts: {restarts}\n  only the engine:{}\n  only the oracle:{}\n",
                    only(&found, &expected),
                    only(&expected, &found)
                ));
            }
        }
        self.firings.extend(&expected);
        Ok(expected)
    }

    /// Returns the state of an alert as the service stores it.
    fn stored_state(&self, alert: &Alert) -> Option<Box<Lifecycle>> {
        // Before the first decision it is that of the arming.
        let decided = self.states.get(&alert.id);
        let state = decided.or_else(|| self.armed[&alert.id].lifecycle.as_deref())?;
        let text = state.to_stored().expect("a text");
        Some(Box::new(Lifecycle::from_stored(&text).expect("a state")))
    }

    fn keep(&mut self, event: &OwnedEvent, now: Timestamp) {
        for (symbol, bar) in &self.oracle.made[self.bars_made..] {
            self.kept.push((now, OwnedEvent::Bar(*symbol, *bar)));
        }
        self.bars_made = self.oracle.made.len();
        match event {
            OwnedEvent::Snapshot(seen) => self.symbols.extend(seen.iter().map(|seen| seen.symbol)),
            OwnedEvent::Armed(alert) => {
                self.armed.insert(alert.id, alert.as_ref().clone());
                self.rsi_sides.remove(&alert.id);
                self.states.remove(&alert.id);
            }
            OwnedEvent::Clock | OwnedEvent::Evaluate | OwnedEvent::Disarmed(_) => {}
            _ => self.kept.push((now, event.clone())),
        }
    }

    /// Builds a new engine from the stored data, as the service does after a crash. The service advances the clock right after
    /// it stores facts, and commits both together.
    ///
    /// # Errors
    /// Returns a description if an engine and the oracle disagree.
    pub(crate) fn restart(&mut self) -> Result<(), String> {
        while let Some(moment) = self.engines[0]
            .next_moment()
            .filter(|&moment| moment <= self.processed_until)
        {
            self.process_exactly(&OwnedEvent::Clock, moment.max(self.oracle.clock()))?;
        }
        if self.oracle.clock() < self.processed_until {
            self.process_exactly(&OwnedEvent::Clock, self.processed_until)?;
        }
        let mut engine = Engine::new(self.calendar.clone(), EngineConfig::default());
        for (at, event) in &self.kept {
            assert!(
                process_event(&mut engine, event, *at).0.is_empty(),
                "without alerts there is nothing to decide"
            );
        }
        let (now, last) = (self.oracle.clock(), self.engines.last().expect("the first engine"));
        let mut silently = |event: Event<'_>| {
            let taken = engine.process(event, now, &mut Vec::new());
            taken.expect("nothing refuses it");
        };
        for &symbol in &self.symbols {
            if let Some(session) = last.observed_session(symbol) {
                silently(Event::Resume { symbol, session });
            }
        }
        silently(Event::Clock);
        for alert in self.oracle.armed() {
            let rsi_side = self.rsi_sides.get(&alert.id).copied();
            let alert = Alert {
                rsi_side,
                lifecycle: self.stored_state(alert),
                ..alert.clone()
            };
            silently(Event::Armed(&alert));
        }
        self.engines.push(engine);
        Ok(())
    }
}
