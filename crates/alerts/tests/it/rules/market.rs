//! An engine with a few rules.

use alerts::engine::{AlertAction, Decision, Engine, EngineConfig, EvaluationIssue, EvaluationStatus, Event, Quote};
use alerts::lifecycle::Lifecycle;
use alerts::options::{AlertOptions, restore_options};
use alerts::{Alert, Condition};
use jiff::Timestamp;
use market::{Bar, Calendar, Price, Symbol};
use serde_json::Value;

use crate::common::{alert, at, id, price};

/// Monday, 2024-07-01, 11:00 in New York: the market is open.
pub(crate) const NOW: &str = "2024-07-01T15:00:00Z";

pub(crate) struct RuleMarket {
    pub(crate) engine: Engine,
}

pub(crate) fn symbol(text: &str) -> Symbol {
    text.parse().unwrap()
}

/// Returns an alert on ACME that is armed at [`NOW`].
pub(crate) fn rule(number: u32, when: &str, options: &Value) -> Alert {
    let options: AlertOptions = restore_options(options).unwrap();
    let now = at(NOW);
    Alert {
        options,
        lifecycle: Some(Box::new(Lifecycle::new(now, None, None))),
        initial_price: None,
        ..alert(
            number,
            symbol("ACME"),
            Condition::expression(when.parse().unwrap(), None),
            now,
        )
    }
}

impl RuleMarket {
    pub(crate) fn new() -> Self {
        Self {
            engine: Engine::new(Calendar::nyse(), EngineConfig::default()),
        }
    }

    /// Returns a market without a source of prices in extended hours.
    pub(crate) fn without_extended_hours() -> Self {
        let config = EngineConfig {
            has_extended_hours: false,
            ..EngineConfig::default()
        };
        Self {
            engine: Engine::new(Calendar::nyse(), config),
        }
    }

    pub(crate) fn process(&mut self, event: Event<'_>, now: &str) -> Vec<Decision> {
        let mut decisions = Vec::new();
        self.engine.process(event, at(now), &mut decisions).unwrap();
        decisions
    }

    /// Adds sessions with these closes, the last on 2024-06-28.
    pub(crate) fn with_closes(mut self, stock: &str, closes: impl DoubleEndedIterator<Item = i64>) -> Self {
        let calendar = Calendar::nyse();
        let mut day = jiff::civil::date(2024, 7, 1);
        let mut bars = Vec::new();
        for close in closes.rev() {
            day = calendar.previous_session_before(day).unwrap().date;
            let close = Price::from_micros(close * 1_000_000).unwrap();
            bars.push(Bar {
                date: day,
                open: close,
                high: close,
                low: close,
                close,
                volume: 1_000,
            });
        }
        for bar in bars.into_iter().rev() {
            let symbol = symbol(stock);
            self.process(Event::Bar { symbol, bar }, "2024-07-01T13:00:00Z");
        }
        self
    }

    /// Arms a rule. Returns its state at arming that is to be stored, if any.
    pub(crate) fn arm(&mut self, alert: &Alert, now: &str) -> Option<Lifecycle> {
        let decisions = self.process(Event::Armed(alert), now);
        let mut states = decisions.into_iter().map(|decision| match decision.action {
            AlertAction::SetLifecycle { state } if decision.alert == alert.id => *state,
            other => panic!("{other:?}"),
        });
        states.next_back()
    }

    pub(crate) fn observe(&mut self, stock: &str, text: &str, now: &str) -> Vec<Decision> {
        let quote = Quote::new(self.engine.stock(symbol(stock)), price(text));
        self.process(Event::Snapshot(&[quote]), now)
    }

    pub(crate) fn status(&self, number: u32, now: &str) -> EvaluationStatus {
        self.engine.evaluation(id(number), at(now)).unwrap().state
    }

    /// Returns the status of an alert with this expression that is armed for the question.
    pub(crate) fn status_of(&mut self, when: &str, now: &str) -> EvaluationStatus {
        self.arm(&rule(99, when, &Value::Null), now);
        self.status(99, now)
    }
}

/// Returns the instants of the firings.
pub(crate) fn firings(decisions: &[Decision]) -> Vec<Timestamp> {
    let fired = decisions
        .iter()
        .filter(|decision| matches!(decision.action, AlertAction::FireRule { .. }));
    fired.map(|decision| decision.at).collect()
}

pub(crate) fn waiting(issue: EvaluationIssue) -> EvaluationStatus {
    EvaluationStatus::Waiting(issue)
}

pub(crate) fn blind(issue: EvaluationIssue) -> EvaluationStatus {
    EvaluationStatus::Blind(issue)
}
