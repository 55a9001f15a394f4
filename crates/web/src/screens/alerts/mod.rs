//! The list of alerts, with filters, selection and changes of many alerts at once.

mod action;
mod query;
mod recent;
mod state;

use alerts::{ConditionKind, Status};
use askama::Template;
use jiff::Timestamp;
use service::alerts::AlertItem;

use crate::figures;
use crate::filters;
use crate::layout::Shell;
use crate::texts;

pub use action::{BulkAction, ChangeCounts};
pub use query::{AlertListQuery, AlertOrder};
pub use recent::RecentChange;
pub use state::AlertState;

/// An alert in the list.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertLine {
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

impl AlertLine {
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
            sentence: item.sentence(),
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
    pub alerts: Vec<AlertLine>,
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

const fn condition_text(condition: &ConditionKind) -> &'static str {
    condition.spec().label
}

fn select_all_text(count: &u64) -> String {
    texts::text_with("select-all", [("count", (*count).into())])
}

fn count_text(count: &u64) -> String {
    texts::text_with("alerts-count", [("count", (*count).into())])
}
