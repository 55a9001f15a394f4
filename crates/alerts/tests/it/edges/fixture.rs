//! A fixture: an engine with one stock.

use alerts::Alert;
use alerts::condition::Condition;
use alerts::engine::{AlertAction, Engine, EngineConfig, EvaluationStatus, Event, EventError};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Calendar, Price, Symbol};

use crate::common::{alert, at, id, price, process_event};
use crate::oracle::{OwnedEvent, TestQuote};

pub(crate) struct Fixture {
    pub(crate) engine: Engine,
    pub(crate) calendar: Calendar,
    pub(crate) symbol: Symbol,
    /// The events for a new engine after a restart.
    kept: Vec<(Timestamp, OwnedEvent)>,
    armed: Vec<Alert>,
}

/// The empty list of fired alerts.
pub(crate) const NOTHING: [u32; 0] = [];

/// Returns a bar with four equal prices.
pub(crate) fn flat(date: Date, price: Price) -> Bar {
    Bar {
        date,
        open: price,
        high: price,
        low: price,
        close: price,
        volume: 1000,
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::on(Calendar::nyse())
    }

    pub(crate) fn on(calendar: Calendar) -> Self {
        Self {
            engine: Engine::new(calendar.clone(), EngineConfig::default()),
            calendar,
            symbol: "ACME".parse().expect("a symbol"),
            kept: Vec::new(),
            armed: Vec::new(),
        }
    }

    /// Adds flat sessions before `date` with the given closes, in order.
    pub(crate) fn after_closes(mut self, date: &str, closes: &[&str]) -> Self {
        let mut day: Date = date.parse().expect("a date");
        let mut bars = Vec::new();
        for close in closes.iter().rev() {
            day = self.calendar.previous_session_before(day).expect("a session").date;
            bars.push(flat(day, price(close)));
        }
        for bar in bars.into_iter().rev() {
            let close = self.calendar.session(bar.date).expect("a session").close;
            self.try_process(&OwnedEvent::Bar(self.symbol, bar), close)
                .expect("a completed session");
        }
        self
    }

    pub(crate) fn try_process(&mut self, event: &OwnedEvent, now: Timestamp) -> Result<Vec<u32>, EventError> {
        match event {
            OwnedEvent::Armed(alert) => self.armed.push(alert.as_ref().clone()),
            OwnedEvent::Snapshot(_) | OwnedEvent::Clock | OwnedEvent::Evaluate | OwnedEvent::Disarmed(_) => {}
            _ => self.kept.push((now, event.clone())),
        }
        let (decisions, taken) = process_event(&mut self.engine, event, now);
        let fired = decisions
            .iter()
            .filter(|decision| matches!(decision.action, AlertAction::Fire { .. }));
        let mut fired: Vec<_> = fired
            .map(|decision| u32::try_from(decision.alert.0.as_u128()).expect("small"))
            .collect();
        fired.sort_unstable();
        self.armed
            .retain(|alert| !fired.iter().any(|&number| id(number) == alert.id));
        taken.map(|()| fired)
    }

    /// Processes an event. Returns the numbers of the alerts that fire.
    pub(crate) fn process(&mut self, event: &OwnedEvent, now: &str) -> Vec<u32> {
        self.try_process(event, at(now)).expect("taken")
    }

    pub(crate) fn arm(&mut self, number: u32, condition: Condition, now: &str) {
        self.arm_with_initial_price(number, condition, None, now);
    }

    /// Arms an alert with an initial price.
    pub(crate) fn arm_with_initial_price(
        &mut self,
        number: u32,
        condition: Condition,
        initial: Option<&str>,
        now: &str,
    ) {
        let alert = Alert {
            initial_price: initial.map(price),
            ..alert(number, self.symbol, condition, at(now))
        };
        assert_eq!(
            self.process(&OwnedEvent::Armed(Box::new(alert)), now),
            Vec::<u32>::new()
        );
    }

    pub(crate) fn quote(&self, text: &str, volume: Option<i64>) -> OwnedEvent {
        OwnedEvent::Snapshot(vec![TestQuote {
            symbol: self.symbol,
            price: price(text),
            volume,
        }])
    }

    /// Observes a price. Returns the numbers of the alerts that fire.
    pub(crate) fn observe(&mut self, text: &str, now: &str) -> Vec<u32> {
        self.process(&self.quote(text, None), now)
    }

    pub(crate) fn bar(&mut self, date: &str, close: &str, now: &str) -> Vec<u32> {
        self.process(
            &OwnedEvent::Bar(self.symbol, flat(date.parse().expect("a date"), price(close))),
            now,
        )
    }

    pub(crate) fn state(&self, number: u32, now: &str) -> EvaluationStatus {
        self.engine.evaluation(id(number), at(now)).expect("it is armed").state
    }

    /// Returns the time from which the stock's quotes are stale.
    pub(crate) fn stale_since(&self, now: &str) -> Option<Timestamp> {
        let stale = self.engine.stale_stocks(at(now));
        assert!(stale.iter().all(|stock| stock.symbol == self.symbol));
        stale.first().map(|stock| stock.since)
    }

    /// Replaces the engine with a new one that is built from the stored data.
    pub(crate) fn restart(&mut self, now: &str) {
        let mut engine = Engine::new(self.calendar.clone(), EngineConfig::default());
        for (at, event) in &self.kept {
            process_event(&mut engine, event, *at).1.expect("taken before");
        }
        let mut silently = |event| engine.process(event, at(now), &mut Vec::new()).expect("taken");
        if let Some(session) = self.engine.observed_session(self.symbol) {
            silently(Event::Resume {
                symbol: self.symbol,
                session,
            });
        }
        silently(Event::Clock);
        for alert in &self.armed {
            silently(Event::Armed(alert));
        }
        self.engine = engine;
    }
}
