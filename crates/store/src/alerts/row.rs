//! Alert rows.
//!
//! A condition is stored as its kind, threshold, parameters and, for a reminder, moment. See [`alerts::restore`].

use std::sync::Arc;

use alerts::condition::Side;
use alerts::lifecycle::{Lifecycle, StoredLifecycleError};
use alerts::options::{AlertOptions, restore_options};
use alerts::routing::{Routing, read_routing};
use alerts::{Alert, AlertId, AlertScope, Channel, ConditionKind, ManagedBy, Note, Revision, Status, Tags, restore};
use jiff::Timestamp;
use market::Decimal;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::StoreError;
use crate::columns::Table;
use crate::model::{AccountId, AlertOwner, ScopeRole, StoredAlert};
use crate::sqlite::row;

pub(crate) const TABLE: Table = Table("alerts");

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT alerts.seq, alerts.id, account_id, guest_email, alerts.symbol, condition, threshold, moment, parameters, \
             notification, status, revision, initial_price, alerts.created_at, armed_at, triggered_at, rsi_side, \
             threshold_set_at, initial_price_set_at, created_by, deleted_at, note, tags, \
             options, routing, templates, lifecycle, scope, managed_source, managed_name, alerts.parent_seq, \
             (SELECT parents.id FROM alerts parents WHERE parents.seq = alerts.parent_seq) AS parent_id \
             FROM alerts ",
            $rest
        )
    };
}
pub(crate) use select;

row! {
    pub(crate) struct AlertRow {
        pub(crate) seq: i64,
        id: Uuid,
        account_id: Option<Uuid>,
        guest_email: Option<String>,
        symbol: String,
        condition: String,
        threshold: Option<i64>,
        moment: Option<i64>,
        parameters: Option<String>,
        notification: String,
        status: String,
        revision: i64,
        initial_price: Option<i64>,
        created_at: i64,
        armed_at: i64,
        triggered_at: Option<i64>,
        rsi_side: Option<String>,
        threshold_set_at: i64,
        initial_price_set_at: i64,
        created_by: Option<String>,
        deleted_at: Option<i64>,
        note: Option<String>,
        tags: Option<String>,
        options: Option<String>,
        routing: Option<String>,
        templates: Option<String>,
        lifecycle: Option<String>,
        scope: Option<String>,
        managed_source: Option<String>,
        managed_name: Option<String>,
        pub(crate) parent_seq: Option<i64>,
        parent_id: Option<Uuid>,
    }
}

impl AlertRow {
    pub(crate) const fn id(&self) -> AlertId {
        AlertId(self.id)
    }

    /// Whether it is an alert over many stocks.
    pub(crate) const fn is_scoped(&self) -> bool {
        self.scope.is_some()
    }

    pub(crate) const fn is_deleted(&self) -> bool {
        self.deleted_at.is_some()
    }

    pub(crate) fn deleted_at(&self) -> Result<Option<Timestamp>, StoreError> {
        TABLE.optional_instant(self.deleted_at)
    }

    fn managed_by(&self) -> Result<Option<ManagedBy>, StoreError> {
        let (Some(source), Some(name)) = (&self.managed_source, &self.managed_name) else {
            return Ok(None);
        };
        ManagedBy::new(source, name)
            .map(Some)
            .map_err(|error| TABLE.corrupt(format_args!("managed_by {error}")))
    }

    fn alert(&self) -> Result<Alert, StoreError> {
        let kind = TABLE.parse("condition", &self.condition, ConditionKind::from_name)?;
        let parameters = TABLE.optional_object(self.parameters.as_deref())?;
        let threshold = self.threshold.map(Decimal::from_micros);
        let moment = TABLE.optional_instant(self.moment)?;
        let condition = restore::condition(kind, threshold, parameters.as_ref(), moment);
        let rsi_side = self
            .rsi_side
            .as_deref()
            .map(|name| TABLE.parse("rsi_side", name, parse_side));
        let note = self.note.as_deref().map(Note::read).transpose();
        let lifecycle = self.lifecycle.as_deref().map(parse_lifecycle);
        Ok(Alert {
            id: self.id(),
            revision: Revision(TABLE.narrow("revision", self.revision)?),
            symbol: TABLE.symbol(&self.symbol)?,
            condition: condition.map_err(|error| TABLE.corrupt(error))?,
            notification: TABLE.parse("notification", &self.notification, Channel::from_name)?,
            parameters,
            note: note
                .map_err(|error| TABLE.corrupt(format_args!("note {error}")))?
                .flatten(),
            tags: parse_tags(self.tags.as_deref())?,
            options: parse_options(self.options.as_deref())?,
            routing: parse_routing(self.routing.as_deref(), self.templates.as_deref())?,
            lifecycle: lifecycle
                .transpose()
                .map_err(|error| TABLE.corrupt(error))?
                .map(Box::new),
            status: TABLE.parse("status", &self.status, Status::from_name)?,
            initial_price: TABLE.optional_price(self.initial_price)?,
            created_at: TABLE.instant(self.created_at)?,
            armed_at: TABLE.instant(self.armed_at)?,
            threshold_set_at: TABLE.instant(self.threshold_set_at)?,
            initial_price_set_at: TABLE.instant(self.initial_price_set_at)?,
            rsi_side: rsi_side.transpose()?,
            triggered_at: TABLE.optional_instant(self.triggered_at)?,
        })
    }
}

/// Names the alert in an error about its row.
pub(super) fn of_alert(id: Uuid, error: StoreError) -> StoreError {
    match error {
        StoreError::Corrupt { table, what } => StoreError::Corrupt {
            table,
            what: format!("alert {id}: {what}"),
        },
        other => other,
    }
}

/// Reads the state of an alert. The states of members, one a line, are read as one with all of their firings.
pub(super) fn parse_lifecycle(text: &str) -> Result<Lifecycle, StoredLifecycleError> {
    let mut states = text.lines().map(Lifecycle::from_stored);
    let first = states.next().unwrap_or_else(|| Lifecycle::from_stored(text))?;
    states.try_fold(first, |all, state| {
        let state = state?;
        Ok(Lifecycle {
            firings: all.firings.saturating_add(state.firings),
            last_fired_at: all.last_fired_at.max(state.last_fired_at),
            ..all
        })
    })
}

impl TryFrom<AlertRow> for StoredAlert {
    type Error = StoreError;

    fn try_from(row: AlertRow) -> Result<Self, StoreError> {
        let alert = row.alert().map_err(|error| of_alert(row.id, error))?;
        let managed_by = row.managed_by().map_err(|error| of_alert(row.id, error))?;
        let owner = match (row.account_id, row.guest_email) {
            (Some(account), _) => AlertOwner::Account(AccountId(account)),
            (None, Some(email)) => AlertOwner::Guest { email },
            (None, None) => return Err(TABLE.corrupt(format_args!("alert {}: no owner", alert.id))),
        };
        Ok(Self {
            alert,
            owner,
            created_by: row.created_by,
            role: match (row.scope, row.parent_id) {
                (_, Some(parent)) => ScopeRole::Member(AlertId(parent)),
                (Some(scope), None) => ScopeRole::Scoped(parse_scope(&scope)?),
                (None, None) => ScopeRole::Single,
            },
            managed_by,
        })
    }
}

/// Parses a side from its column value.
pub(super) fn parse_side(name: &str) -> Option<Side> {
    [Side::Above, Side::Below]
        .into_iter()
        .find(|side| side_name(*side) == name)
}

/// The column value of a side.
pub(crate) const fn side_name(side: Side) -> &'static str {
    side.pick("above", "below")
}

/// The column value of tags: a JSON array, `None` without tags.
pub(super) fn tags_column(tags: &Tags) -> Option<String> {
    (!tags.is_empty()).then(|| serde_json::Value::from(tags.as_slice()).to_string())
}

/// Reads tags from their column value.
fn parse_tags(text: Option<&str>) -> Result<Tags, StoreError> {
    let Some(text) = text else {
        return Ok(Tags::default());
    };
    let texts: Vec<String> = serde_json::from_str(text).map_err(|error| TABLE.corrupt(error))?;
    Tags::read(texts.iter().map(String::as_str)).map_err(|error| TABLE.corrupt(format_args!("tags {error}")))
}

/// The column value of options: a JSON object, `None` if all have their defaults.
pub(super) fn options_column(options: &AlertOptions) -> Option<String> {
    (!options.are_default()).then(|| Value::from(options.to_json()).to_string())
}

/// Reads options from their column value.
pub(super) fn parse_options(text: Option<&str>) -> Result<AlertOptions, StoreError> {
    let Some(text) = text else {
        return Ok(AlertOptions::default());
    };
    let stored: Value = serde_json::from_str(text).map_err(|error| TABLE.corrupt(error))?;
    restore_options(&stored).map_err(|errors| TABLE.corrupt(errors))
}

/// The column value of a routing. The templates have their own column, because the search for due messages does not need them.
pub(super) fn routing_column(routing: &Routing) -> Option<String> {
    let members = routing.of_member().to_json();
    (!members.is_empty()).then(|| Value::from(members).to_string())
}

/// Reads a routing from the values of its columns.
pub(crate) fn parse_routing(text: Option<&str>, templates: Option<&str>) -> Result<Routing, StoreError> {
    let mut routing = Routing::default();
    if let Some(members) = TABLE.optional_object(text)? {
        let stored = read_routing(&members, &routing).map_err(|errors| TABLE.corrupt(errors))?;
        routing = stored.apply(&routing);
    }
    routing.templates = TABLE.templates(templates)?.map(Arc::new);
    Ok(routing)
}

/// The column value of a scope.
pub(super) fn scope_column(role: &ScopeRole) -> Option<String> {
    match role {
        ScopeRole::Scoped(scope) => Some(scope.to_json().to_string()),
        ScopeRole::Single | ScopeRole::Member(_) => None,
    }
}

/// Reads a scope from its column value.
fn parse_scope(text: &str) -> Result<AlertScope, StoreError> {
    let stored: Value = serde_json::from_str(text).map_err(|error| TABLE.corrupt(error))?;
    AlertScope::read(&stored).map_err(|errors| TABLE.corrupt(errors))
}

/// The column value of a life cycle.
pub(crate) fn lifecycle_column(lifecycle: Option<&Lifecycle>) -> Result<Option<String>, StoreError> {
    lifecycle
        .map(Lifecycle::to_stored)
        .transpose()
        .map_err(|error| TABLE.corrupt(error))
}

/// The mark by which a client recognises its own request, as indexed text.
///
/// As in [`alerts::equivalence`], null, an empty text and any value that is not a text or a number count as absent.
pub(crate) fn onboarding_id(parameters: Option<&Map<String, Value>>) -> Option<String> {
    match parameters?.get("onboarding_id")? {
        Value::String(text) if text.is_empty() => None,
        id @ (Value::String(_) | Value::Number(_)) => Some(id.to_string()),
        _ => None,
    }
}
