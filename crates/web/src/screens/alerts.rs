//! The list of alerts, with filters, selection and changes of many alerts at once.

use alerts::engine::EvaluationStatus;
use alerts::{ConditionKind, Status};
use askama::Template;
use jiff::Timestamp;
use service::alerts::AlertItem;
use url::form_urlencoded::Serializer;

use crate::figures;
use crate::filters;
use crate::layout::Shell;
use crate::texts;

/// The order of a list of alerts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AlertOrder {
    /// The newest first.
    #[default]
    Created,
    /// The nearest to firing first.
    Distance,
    /// By symbol.
    Symbol,
    /// The last fired first.
    Fired,
}

impl AlertOrder {
    /// All orders.
    pub const ALL: [Self; 4] = [Self::Created, Self::Distance, Self::Symbol, Self::Fired];

    /// Returns the name in an address.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Distance => "distance",
            Self::Symbol => "symbol",
            Self::Fired => "fired",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Created => "sort-created",
            Self::Distance => "sort-distance",
            Self::Symbol => "sort-symbol",
            Self::Fired => "sort-fired",
        }
    }
}

/// The filters of the list, as the address has them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlertListQuery {
    /// The status.
    pub status: Option<Status>,
    /// The condition.
    pub condition: Option<ConditionKind>,
    /// The symbol.
    pub symbol: String,
    /// A tag.
    pub tag: String,
    /// A part of a symbol or of a company's name.
    pub search: String,
    /// The order.
    pub sort: AlertOrder,
}

impl AlertListQuery {
    /// Returns the path and query of a page of the list.
    #[must_use]
    pub fn address(&self, page: u32) -> String {
        format!("/alerts{}", self.parameters(page))
    }

    /// Returns the query of a page of the list with its question mark, without parameters that have their defaults.
    fn parameters(&self, page: u32) -> String {
        let page = (page > 1).then(|| page.to_string());
        let sort = (self.sort != AlertOrder::default()).then(|| self.sort.name());
        let parameters = [
            ("status", self.status.map(Status::name)),
            ("condition", self.condition.map(ConditionKind::name)),
            ("symbol", Some(self.symbol.as_str())),
            ("tag", Some(self.tag.as_str())),
            ("search", Some(self.search.as_str())),
            ("sort", sort),
            ("page", page.as_deref()),
        ];
        let mut query = Serializer::new(String::new());
        for (name, value) in parameters {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                query.append_pair(name, value);
            }
        }
        let query = query.finish();
        let separator = if query.is_empty() { "" } else { "?" };
        format!("{separator}{query}")
    }

    /// Returns whether a filter is set.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        let all = Self {
            sort: self.sort,
            ..Self::default()
        };
        *self != all
    }
}

/// An alert in the list.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedAlert {
    /// The id.
    pub id: String,
    /// The symbol, or the name of the stocks.
    pub stocks: String,
    /// The symbol; `None` for an alert over many stocks.
    pub symbol: Option<String>,
    /// The company's name.
    pub name: String,
    /// The condition as a sentence.
    pub sentence: String,
    /// The state.
    pub state: AlertState,
    /// The last price.
    pub price: Option<String>,
    /// The distance from firing in percent.
    pub distance: Option<String>,
    /// How near the alert is to firing, from 0 to 100.
    pub nearness: u8,
    /// The time of the last firing.
    pub triggered_at: Option<Timestamp>,
    /// The tags.
    pub tags: Vec<String>,
}

/// The state of an alert as a person sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlertState {
    /// It is evaluated.
    Active,
    /// It waits for data.
    Waiting,
    /// It cannot be evaluated.
    Blind,
    /// It does not fire until this instant.
    Snoozed(Timestamp),
    /// It is paused.
    Paused,
    /// It has fired.
    Triggered,
    /// It has expired.
    Expired,
    /// It waits for the verification of its email address.
    Inactive,
}

impl AlertState {
    /// Returns the state of an alert.
    #[must_use]
    pub fn of(alert: &alerts::Alert, evaluation: Option<EvaluationStatus>, now: Timestamp) -> Self {
        match alert.status {
            Status::Paused => Self::Paused,
            Status::Triggered => Self::Triggered,
            Status::Inactive if alert.has_expired() => Self::Expired,
            Status::Inactive => Self::Inactive,
            Status::Active => match (alert.options.snoozed_until.filter(|&end| now < end), evaluation) {
                (Some(end), _) => Self::Snoozed(end),
                (None, Some(EvaluationStatus::Waiting(_))) => Self::Waiting,
                (None, Some(EvaluationStatus::Blind(_))) => Self::Blind,
                (None, Some(EvaluationStatus::Ok) | None) => Self::Active,
            },
        }
    }

    /// Returns the name of its style.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Waiting => "waiting",
            Self::Blind => "blind",
            Self::Snoozed(_) => "snoozed",
            Self::Paused => "paused",
            Self::Triggered => "triggered",
            Self::Expired => "expired",
            Self::Inactive => "inactive",
        }
    }

    /// Returns the id of its text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Active => "state-active",
            Self::Waiting => "state-waiting",
            Self::Blind => "state-blind",
            Self::Snoozed(_) => "state-snoozed",
            Self::Paused => "state-paused",
            Self::Triggered => "state-triggered",
            Self::Expired => "state-expired",
            Self::Inactive => "state-inactive",
        }
    }

    /// Returns a symbol, so that color alone never tells states apart.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Active => "●",
            Self::Waiting => "◌",
            Self::Blind => "⊘",
            Self::Snoozed(_) => "☾",
            Self::Paused => "❚❚",
            Self::Triggered => "✓",
            Self::Expired => "⌛",
            Self::Inactive => "○",
        }
    }
}

impl ListedAlert {
    /// Formats an alert.
    #[must_use]
    pub fn of(item: &AlertItem, now: Timestamp) -> Self {
        let stored = &item.stored;
        let alert = &stored.alert;
        let is_single = stored.scope().is_none();
        let extended = item.extended.as_ref();
        let evaluation = extended.and_then(|extended| extended.evaluation);
        let distance = extended.and_then(|extended| extended.distance_pct);
        let distance = distance.filter(|_| is_single && alert.status == Status::Active);
        Self {
            id: alert.id.to_string(),
            stocks: if is_single {
                alert.symbol.to_string()
            } else {
                item.stock_name.clone()
            },
            symbol: is_single.then(|| alert.symbol.to_string()),
            name: if is_single {
                item.stock_name.clone()
            } else {
                String::new()
            },
            sentence: alerts::sentence::sentence(&alert.condition, alert.initial_price),
            state: AlertState::of(alert, evaluation.map(|evaluation| evaluation.state), now),
            price: item
                .last_price
                .filter(|_| is_single)
                .map(|price| figures::usd(price.decimal())),
            nearness: distance.map_or(0, figures::nearness),
            distance: distance.map(figures::percent),
            triggered_at: alert.triggered_at,
            tags: alert.tags.as_slice().to_vec(),
        }
    }
}

/// The list of alerts.
#[derive(Template, Debug)]
#[template(path = "alerts.html")]
pub struct AlertsPage {
    /// The list.
    pub list: AlertList,
    /// The frame.
    pub shell: Shell,
}

/// The contents of the list, for a page that has its frame already.
#[derive(Template, Debug)]
#[template(path = "alerts_main.html")]
pub struct AlertsPart {
    /// The list.
    pub list: AlertList,
    /// The frame.
    pub shell: Shell,
}

/// One page of alerts.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertList {
    /// The filters.
    pub query: AlertListQuery,
    /// The alerts.
    pub alerts: Vec<ListedAlert>,
    /// The number of alerts on all pages.
    pub total: u64,
    /// The number of this page, from 1.
    pub page: u32,
    /// The number of alerts on a full page.
    pub page_size: u32,
}

impl AlertList {
    /// Returns the address of this page.
    fn address(&self) -> String {
        self.query.address(self.page)
    }

    fn previous(&self) -> Option<String> {
        let page = self.page.checked_sub(1).filter(|&page| page > 0)?;
        Some(self.query.address(page))
    }

    fn next(&self) -> Option<String> {
        (u64::from(self.page) < self.pages()).then(|| self.query.address(self.page.saturating_add(1)))
    }

    fn pages(&self) -> u64 {
        self.total.div_ceil(u64::from(self.page_size)).max(1)
    }

    fn is_sorted_by(&self, order: &AlertOrder) -> bool {
        self.query.sort == *order
    }

    fn is_selected_status(&self, status: &Status) -> bool {
        self.query.status == Some(*status)
    }

    fn is_selected_condition(&self, condition: &ConditionKind) -> bool {
        self.query.condition == Some(*condition)
    }
}

/// Returns the id of a status' text.
const fn status_text(status: &Status) -> &'static str {
    match *status {
        Status::Active => "state-active",
        Status::Paused => "state-paused",
        Status::Triggered => "state-triggered",
        Status::Inactive => "state-inactive",
    }
}

/// Returns a condition's name in words.
fn condition_text(condition: &ConditionKind) -> String {
    condition.name().replace('_', " ")
}

/// What was done with many alerts at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkAction {
    /// They were paused.
    Pause,
    /// They were resumed.
    Resume,
    /// They were snoozed.
    Snooze,
    /// They were deleted.
    Delete,
    /// A change was undone.
    Undo,
}

impl BulkAction {
    /// Returns the notice about the result: the number of changed alerts, and the first reason of those that are unchanged.
    #[must_use]
    pub fn notice(self, changed: usize, refused: usize, reason: &str) -> String {
        let id = match self {
            Self::Pause => "alerts-paused",
            Self::Resume => "alerts-resumed",
            Self::Snooze => "alerts-snoozed",
            Self::Delete => "alerts-deleted",
            Self::Undo => "alerts-undone",
        };
        let changed = (changed > 0).then(|| texts::text_with(id, [("count", changed.into())]));
        let refused = (refused > 0)
            .then(|| texts::text_with("alerts-refused", [("count", refused.into()), ("reason", reason.into())]));
        let parts: Vec<String> = changed.into_iter().chain(refused).collect();
        match parts.is_empty() {
            true => texts::text("alerts-none-selected"),
            false => parts.join(" "),
        }
    }
}

fn select_all_text(count: &u64) -> String {
    texts::text_with("select-all", [("count", (*count).into())])
}

fn count_text(count: &u64) -> String {
    texts::text_with("alerts-count", [("count", (*count).into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_only_the_filters_that_are_set() {
        assert_eq!(AlertListQuery::default().address(1), "/alerts");
        let query = AlertListQuery {
            status: Some(Status::Paused),
            search: "a & b".to_owned(),
            sort: AlertOrder::Distance,
            ..AlertListQuery::default()
        };
        assert_eq!(
            query.address(2),
            "/alerts?status=paused&search=a+%26+b&sort=distance&page=2"
        );
    }

    #[test]
    fn order_alone_is_no_filter() {
        let sorted = AlertListQuery {
            sort: AlertOrder::Symbol,
            ..AlertListQuery::default()
        };
        assert!(!sorted.is_filtered());
        let tagged = AlertListQuery {
            tag: "swing".to_owned(),
            ..AlertListQuery::default()
        };
        assert!(tagged.is_filtered());
    }
}
