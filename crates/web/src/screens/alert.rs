//! One alert: its state, why it fires or does not, its history and what followed its firings.

mod firing;
mod route;

use alerts::Channel;
use alerts::engine::{EvaluationStatus, ExplainedTerm};
use alerts::transition::HistoryAction;
use askama::Template;
use jiff::Timestamp;
use market::Decimal;
use serde_json::{Map, Value};
use service::HistoryRow;
use service::alerts::{
    AlertDetail, AlertMember, AlertOutcomes, ExplainedAlert, HORIZON_SESSIONS, Horizon, ScoredFiring,
};

use super::alerts::AlertState;
use super::builder::alert_form::label_of;
use super::deliveries::AlertDeliveries;
use crate::figures;
use crate::filters;
use crate::layout::Shell;
use crate::local_time::has_instant;
use crate::texts;
use crate::wording::in_words;

pub use firing::{AcknowledgementLine, FiringMessageLine, FiringReceipt};
pub use route::{AlertRoute, ChannelNames};

/// The facts of an alert.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertFacts {
    /// The id.
    pub id: String,
    /// The symbol; `None` for an alert over many stocks.
    pub symbol: Option<String>,
    /// The company's name, or that of the stocks.
    pub name: String,
    /// The condition as a sentence.
    pub sentence: String,
    /// The state.
    pub state: AlertState,
    /// The reason why it is not evaluated.
    pub issue: Option<String>,
    /// The last price.
    pub price: Option<String>,
    /// The day's change in percent, and whether it rises.
    pub change: Option<(String, bool)>,
    /// The price when it was created or last activated.
    pub initial_price: Option<String>,
    /// The time of its creation.
    pub created_at: Timestamp,
    /// The time of the last firing.
    pub triggered_at: Option<Timestamp>,
    /// The id of the channel's text.
    pub channel: &'static str,
    /// The options that differ from their defaults.
    pub options: Vec<(String, String)>,
    /// The note.
    pub note: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
}

impl AlertFacts {
    /// Formats an alert.
    #[must_use]
    pub fn of(detail: &AlertDetail, now: Timestamp) -> Self {
        let alert = &detail.stored.alert;
        let is_single = detail.stored.scope().is_none();
        let state = detail.evaluation.map(|evaluation| evaluation.state);
        let stock = &detail.stock;
        Self {
            id: alert.id.to_string(),
            symbol: is_single.then(|| alert.symbol.to_string()),
            name: stock.row.name.clone(),
            sentence: detail.sentence(),
            state: AlertState::of(alert, state, now),
            issue: state.and_then(issue_text),
            price: stock.last_price.map(|price| figures::usd(price.decimal())),
            change: stock
                .change_percent
                .map(|change| (figures::signed_percent(change), change.micros() >= 0)),
            initial_price: alert.initial_price.map(|price| figures::usd(price.decimal())),
            created_at: alert.created_at,
            triggered_at: alert.triggered_at,
            channel: match alert.notification {
                Channel::Email => "channel-email",
                Channel::Sms => "channel-sms",
            },
            options: option_texts(alert),
            note: alert.note.as_ref().map(|note| note.as_str().to_owned()),
            tags: alert.tags.as_slice().to_vec(),
        }
    }
}

/// Returns the reason why an alert is not evaluated.
fn issue_text(state: EvaluationStatus) -> Option<String> {
    match state {
        EvaluationStatus::Ok => None,
        EvaluationStatus::Waiting(issue) | EvaluationStatus::Blind(issue) => Some(issue.to_string()),
    }
}

/// Returns the labels and values of the options that differ from their defaults.
fn option_texts(alert: &alerts::Alert) -> Vec<(String, String)> {
    if alert.options.are_default() {
        return Vec::new();
    }
    let mut shown = Vec::new();
    add_options("options", &alert.options.to_json(), &mut shown);
    shown
}

fn add_options(parent: &str, options: &Map<String, Value>, shown: &mut Vec<(String, String)>) {
    for (name, value) in options {
        let name = format!("{parent}.{name}");
        let text = match value {
            Value::Object(members) => {
                add_options(&name, members, shown);
                continue;
            }
            Value::Bool(true) => texts::text("yes"),
            Value::Bool(false) => texts::text("no"),
            // The other texts are instants and spans.
            Value::String(text) if text.starts_with(|first: char| first.is_ascii_alphabetic()) => in_words(text),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        shown.push((label_of(&name), text));
    }
}

/// One comparison of a condition.
#[derive(Clone, PartialEq, Debug)]
pub struct WhyTerm {
    /// The text.
    pub text: String,
    /// The left value.
    pub left: Option<String>,
    /// The right value.
    pub right: Option<String>,
    /// Whether it holds.
    pub holds: Option<bool>,
    /// The distance in percent.
    pub distance: Option<String>,
    /// How near it is, from 0 to 100.
    pub nearness: u8,
}

impl WhyTerm {
    fn of(term: &ExplainedTerm) -> Self {
        Self {
            text: term.text.clone(),
            left: term.left.map(figures::usd),
            right: term.right.map(figures::usd),
            holds: term.holds,
            distance: term.distance_pct.map(figures::percent),
            nearness: term.distance_pct.map_or(0, figures::nearness),
        }
    }

    const fn mark(&self) -> &'static str {
        match self.holds {
            Some(true) => "✓",
            Some(false) => "✗",
            None => "?",
        }
    }

    const fn text_of_mark(&self) -> &'static str {
        match self.holds {
            Some(true) => "term-holds",
            Some(false) => "term-fails",
            None => "term-unknown",
        }
    }
}

/// A reason that holds an alert back, besides its condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WhyGate {
    /// The reason.
    pub message: String,
    /// The instant at which it ends by itself.
    pub until: Option<Timestamp>,
}

/// Why an alert fires, or why not.
#[derive(Clone, PartialEq, Debug)]
pub struct Why {
    /// The condition as a sentence.
    pub sentence: String,
    /// Whether the condition holds.
    pub holds: Option<bool>,
    /// The comparisons.
    pub terms: Vec<WhyTerm>,
    /// The other reasons.
    pub gates: Vec<WhyGate>,
    /// The next instant at which the alert is judged without an observation.
    pub next_check: Option<Timestamp>,
    /// The past moment that is explained.
    pub at: Option<Timestamp>,
    /// Since when the alert has another condition than at the past moment.
    pub changed_at: Option<Timestamp>,
}

impl Why {
    /// Formats an explanation.
    #[must_use]
    pub fn of(found: &ExplainedAlert) -> Self {
        let explanation = found.explanation.as_ref();
        Self {
            sentence: found.sentence.clone(),
            holds: explanation.and_then(|explanation| explanation.truth.known()),
            terms: explanation.map_or_else(Vec::new, |explanation| {
                explanation.terms.iter().map(WhyTerm::of).collect()
            }),
            gates: found
                .gates
                .iter()
                .map(|gate| WhyGate {
                    message: gate.message.clone(),
                    until: gate.until.filter(|_| !has_instant(&gate.message)),
                })
                .collect(),
            next_check: found.next_check,
            at: found.past.map(|past| past.at),
            changed_at: found.past.and_then(|past| past.changed_at),
        }
    }

    /// Returns the id of the summary's text.
    const fn summary(&self) -> &'static str {
        match (self.holds, self.gates.is_empty()) {
            (Some(true), true) => "why-true",
            (Some(true), false) => "why-true-held-back",
            (Some(false), _) => "why-false",
            (None, true) => "why-unknown",
            (None, false) => "why-held-back",
        }
    }
}

/// An entry of an alert's history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HistoryLine {
    /// The time.
    pub at: Timestamp,
    /// The action.
    pub action: String,
    /// The stock of an alert over many stocks.
    pub symbol: Option<String>,
    /// The price.
    pub price: Option<String>,
    /// The reason of a firing.
    pub reason: Option<String>,
    /// Whether it is a firing.
    pub is_firing: bool,
    /// Whether the firing came late, because the data did.
    pub is_late: bool,
}

impl HistoryLine {
    /// Formats an entry. `is_scoped` tells whether the alert is over many stocks.
    #[must_use]
    pub fn of(row: &HistoryRow, is_scoped: bool) -> Self {
        let detail = |name: &str| row.details.as_ref().and_then(|details| details.get(name));
        Self {
            at: row.at,
            action: row.entry.action.name().replace('_', " "),
            symbol: is_scoped.then(|| row.symbol.to_string()).filter(|symbol| symbol != "-"),
            price: row.price.map(|price| figures::usd(price.decimal())),
            reason: detail("reason").and_then(|reason| reason.as_str()).map(str::to_owned),
            is_firing: row.entry.action == HistoryAction::Triggered,
            is_late: detail("late").and_then(Value::as_bool).unwrap_or(false),
        }
    }
}

/// The moves after a firing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutcomeLine {
    /// The time of the firing.
    pub at: Timestamp,
    /// The price of the firing.
    pub price: Option<String>,
    /// The moves after each of [`HORIZON_SESSIONS`]; `None` while it is not over.
    pub horizons: Vec<Option<HorizonMoves>>,
}

/// The moves after a firing in percent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HorizonMoves {
    /// The stock's move.
    pub stock: String,
    /// The benchmark's move.
    pub benchmark: Option<String>,
}

impl OutcomeLine {
    /// Formats the outcomes of an alert's firings.
    #[must_use]
    pub fn all_of(found: &AlertOutcomes) -> Vec<Self> {
        found.outcomes.iter().map(Self::of).collect()
    }

    fn of(outcome: &ScoredFiring) -> Self {
        let ScoredFiring { firing, scorecard } = outcome;
        Self {
            at: firing.at,
            price: firing.price.map(|price| figures::usd(price.decimal())),
            horizons: scorecard.horizons.iter().map(horizon_moves).collect(),
        }
    }
}

/// Returns the moves of the stock and of the benchmark.
fn horizon_moves(horizon: &Horizon) -> Option<HorizonMoves> {
    let reached = horizon.reached?;
    let percent = |value: f64| Decimal::from_f64(value).ok().map(figures::signed_percent);
    Some(HorizonMoves {
        stock: percent(reached.move_pct)?,
        benchmark: reached.benchmark_pct.and_then(percent),
    })
}

/// One stock of an alert over many stocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberLine {
    /// The symbol.
    pub symbol: String,
    /// The status.
    pub state: AlertState,
    /// The distance from firing in percent.
    pub distance: Option<String>,
    /// The time of its last firing.
    pub triggered_at: Option<Timestamp>,
}

impl MemberLine {
    /// Formats a member.
    #[must_use]
    pub fn of(member: &AlertMember, now: Timestamp) -> Self {
        let alert = &member.stored.alert;
        Self {
            symbol: alert.symbol.to_string(),
            state: AlertState::of(alert, None, now),
            distance: member.distance_pct.map(figures::percent),
            triggered_at: alert.triggered_at,
        }
    }
}

/// The screen of one alert.
#[derive(Template, Debug)]
#[template(path = "alert.html")]
pub struct AlertPage {
    /// The frame.
    pub shell: Shell,
    /// The alert.
    pub alert: AlertFacts,
    /// Why it fires, or why not; `None` for an alert over many stocks.
    pub why: Option<Why>,
    /// The error of the past moment that was entered, and the input.
    pub at: PastMomentInput,
    /// The stocks of an alert over many stocks.
    pub members: Vec<MemberLine>,
    /// The newest entries of its history.
    pub history: Vec<HistoryLine>,
    /// The moves after its firings.
    pub outcomes: Vec<OutcomeLine>,
    /// The deliveries and messages about its latest firings.
    pub sent: AlertDeliveries,
    /// Where its firings go.
    pub route: AlertRoute,
    /// Its latest firings.
    pub firings: Vec<FiringReceipt>,
}

impl AlertPage {
    fn has_moving_firing(&self) -> bool {
        self.firings.iter().any(FiringReceipt::is_moving)
    }
}

/// The past moment that a person has entered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PastMomentInput {
    /// The input.
    pub value: String,
    /// Its error.
    pub error: Option<String>,
}

fn sessions_text(sessions: &u16) -> String {
    texts::text_with("after-sessions", [("count", (*sessions).into())])
}
