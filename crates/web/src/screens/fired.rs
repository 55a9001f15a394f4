//! The feed of firings, newest first.

use std::collections::{BTreeMap, BTreeSet};

use alerts::condition::Side;
use alerts::{AlertId, Condition};
use askama::Template;
use jiff::Timestamp;
use market::{Decimal, PriceChange};
use serde_json::Value;
use service::HistoryRow;
use service::alerts::AlertItem;

use crate::figures;
use crate::filters;
use crate::layout::Shell;
use crate::screens::passed_level::flip_text;

/// How a fired alert can be activated again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RearmForm {
    /// The present level of a price alert, without a currency sign, or the one that was refused; `None` if the alert has no level.
    pub level: Option<String>,
    /// Why the alert was not activated.
    pub refusal: Option<RearmRefusal>,
}

/// Why a fired alert was not activated again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RearmRefusal {
    /// The alert.
    pub alert: AlertId,
    /// The level that was entered.
    pub level: String,
    /// The reason.
    pub text: String,
    /// The side to which the alert can be turned, so that it does not fire at once.
    pub flip: Option<Side>,
}

/// A firing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiredLine {
    /// The id of the alert.
    pub id: String,
    /// The symbol.
    pub symbol: String,
    /// The time.
    pub at: Timestamp,
    /// The price.
    pub price: Option<String>,
    /// The reason.
    pub reason: String,
    /// Whether it came late, because the data did.
    pub is_late: bool,
    /// Whether the account has not seen it yet.
    pub is_unseen: bool,
    /// The stock's move since then in percent, and whether it rose.
    pub since: Option<(String, bool)>,
    /// How the alert can be activated again; `None` unless this is its last firing and it has ended there.
    pub rearm: Option<RearmForm>,
}

impl FiredLine {
    /// Returns a name of the firing that no other firing of the account has. A live redraw recognizes its row by it.
    pub(crate) fn key(&self) -> String {
        format!("{}-{}-{}", self.id, self.symbol, self.at.as_microsecond())
    }

    /// Formats a firing.
    #[must_use]
    pub fn of(row: &HistoryRow) -> Self {
        let detail = |name: &str| row.details.as_ref().and_then(|details| details.get(name));
        Self {
            id: row.alert.to_string(),
            symbol: row.symbol.to_string(),
            at: row.at,
            price: row.price.map(|price| figures::usd(price.decimal())),
            reason: detail("reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
            is_late: detail("late").and_then(Value::as_bool).unwrap_or(false),
            is_unseen: false,
            since: None,
            rearm: None,
        }
    }

    /// Formats the firings of a page. The first `unseen` are new. `ended` are the alerts that have fired and ended; `last_price` is the
    /// last price of a stock.
    #[must_use]
    pub fn all_of(
        rows: &[HistoryRow],
        unseen: usize,
        ended: &[AlertItem],
        last_price: impl Fn(market::Symbol) -> Option<market::Price>,
    ) -> Vec<Self> {
        let ended: BTreeMap<AlertId, &AlertItem> = ended.iter().map(|item| (item.stored.alert.id, item)).collect();
        let mut listed = BTreeSet::new();
        let line = |(place, row): (usize, &HistoryRow)| {
            let moved = row.price.zip(last_price(row.symbol));
            let percent = moved.map(|(from, to)| PriceChange::between(from, to).percent);
            let is_last = listed.insert(row.alert);
            Self {
                is_unseen: place < unseen,
                since: percent.map(|percent| (figures::signed_percent(percent), percent >= Decimal::ZERO)),
                rearm: ended
                    .get(&row.alert)
                    .filter(|_| is_last)
                    .map(|item| RearmForm::of(item)),
                ..Self::of(row)
            }
        };
        rows.iter().enumerate().map(line).collect()
    }
}

impl RearmForm {
    fn of(item: &AlertItem) -> Self {
        let level = match item.stored.alert.condition {
            Condition::Price { threshold, .. } => Some(threshold.to_string()),
            _ => None,
        };
        Self { level, refusal: None }
    }
}

/// One page of the feed.
#[derive(Clone, PartialEq, Debug)]
pub struct FiredFeed {
    /// The firings.
    pub fired: Vec<FiredLine>,
    /// The number of this page, from 1.
    pub page: u32,
    /// Whether there are older firings.
    pub has_older: bool,
}

impl FiredFeed {
    /// Shows why an alert was not activated, in its row. Returns `false` if the page has no such row any more.
    pub fn refuse(&mut self, refusal: &RearmRefusal) -> bool {
        let id = refusal.alert.to_string();
        let mut forms = self
            .fired
            .iter_mut()
            .filter(|line| line.id == id)
            .filter_map(|line| line.rearm.as_mut());
        let Some(form) = forms.next() else {
            return false;
        };
        *form = RearmForm {
            level: Some(refusal.level.clone()),
            refusal: Some(refusal.clone()),
        };
        true
    }

    const fn newer_page(&self) -> u32 {
        self.page.saturating_sub(1)
    }

    const fn older_page(&self) -> u32 {
        self.page.saturating_add(1)
    }
}

/// The feed of firings.
#[derive(Template, Debug)]
#[template(path = "fired.html")]
pub struct FiredPage {
    /// The frame.
    pub shell: Shell,
    /// The firings.
    pub feed: FiredFeed,
}

/// The contents of the feed, for a page that has its frame already.
#[derive(Template, Debug)]
#[template(path = "fired_main.html")]
pub struct FiredPart {
    /// The frame.
    pub shell: Shell,
    /// The firings.
    pub feed: FiredFeed,
}
