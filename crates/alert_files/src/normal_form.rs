//! The normal form of an alert, in which alerts are compared.

use alerts::{AlertScope, Channel, Condition, NewAlert, Note};
use market::Symbol;
use serde_json::{Map, Value};

/// A part of an alert that an update replaces as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Condition,
    Notification,
    Options,
    Note,
    Tags,
    Route,
    Urgent,
    Scope,
}

impl Part {
    /// Returns the fields of the request that belong to the part.
    pub(crate) const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Condition => &["condition", "threshold", "parameters"],
            Self::Notification => &["notification"],
            Self::Options => &["options"],
            Self::Note => &["note"],
            Self::Tags => &["tags"],
            Self::Route => &["channels", "policy", "ack_timeout"],
            Self::Urgent => &["urgent"],
            Self::Scope => &["scope"],
        }
    }
}

/// The normal form of an alert: equal alerts have equal forms, however they are written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct NormalForm {
    /// `None` for an alert over many stocks.
    symbol: Option<Symbol>,
    scope: Option<AlertScope>,
    condition: Condition,
    parameters: Option<Map<String, Value>>,
    notification: Channel,
    options: Map<String, Value>,
    note: Option<Note>,
    tags: Vec<String>,
    routing: Map<String, Value>,
}

impl NormalForm {
    pub(crate) fn new(alert: &NewAlert, scope: Option<AlertScope>) -> Self {
        let mut options = alert.options.to_json();
        // A snooze is the state of an alert, which people change.
        options.remove("snoozed_until");
        let mut routing = alert.routing.to_json();
        routing.remove("templates");
        Self {
            symbol: scope.is_none().then_some(alert.symbol),
            scope,
            condition: alert.condition.clone(),
            parameters: alert.parameters.clone(),
            notification: alert.notification,
            options,
            note: alert.note.clone(),
            tags: alert.tags.as_slice().to_vec(),
            routing,
        }
    }

    /// Whether an alert can become the other one by an update. The stock of an alert cannot be changed.
    pub(crate) fn can_become(&self, other: &Self) -> bool {
        self.symbol == other.symbol && self.scope.is_some() == other.scope.is_some()
    }

    /// Returns the parts that differ.
    pub(crate) fn differences(&self, other: &Self) -> Vec<Part> {
        let has_same_scope = match (&self.scope, &other.scope) {
            (None, None) => true,
            (Some(one), Some(other)) => one.is_same(other),
            (Some(_), None) | (None, Some(_)) => false,
        };
        let route = |form: &Self| -> Map<String, Value> {
            let members = form.routing.iter().filter(|(name, _)| *name != "urgent");
            members.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let parts = [
            (
                Part::Condition,
                self.condition == other.condition && self.parameters == other.parameters,
            ),
            (Part::Notification, self.notification == other.notification),
            (Part::Options, self.options == other.options),
            (Part::Note, self.note == other.note),
            (Part::Tags, self.tags == other.tags),
            (Part::Route, route(self) == route(other)),
            (Part::Urgent, self.routing.get("urgent") == other.routing.get("urgent")),
            (Part::Scope, has_same_scope),
        ];
        let different = parts.into_iter().filter(|(_, is_same)| !is_same);
        different.map(|(part, _)| part).collect()
    }

    /// Whether the alerts are the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.can_become(other) && self.differences(other).is_empty()
    }
}
