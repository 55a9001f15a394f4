//! The start page: what has fired since the last visit, the alerts nearest to firing, those that cannot be evaluated, the market's
//! clock and the paper return.

use alerts::engine::EvaluationStatus;
use alerts::expression::Truth;
use askama::Template;
use evaluation::market::MarketStatus;
use jiff::Timestamp;
use service::alerts::{AlertItem, ExplainedAlert, NearAlert};
use watchlist::PerformanceView;

use super::fired::FiredLine;
use crate::figures;
use crate::filters;
use crate::layout::Shell;
use crate::local_time::has_instant;
use crate::{texts, wording};

/// An alert near to firing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearLine {
    /// The id.
    pub id: String,
    /// The symbol.
    pub symbol: String,
    /// The stock and the condition as a sentence.
    pub sentence: String,
    /// The distance in percent.
    pub distance: String,
    /// How near it is, from 0 to 100.
    pub nearness: u8,
    /// Why it has not fired although its condition is true; `None` while it is not true.
    pub waits_for: Option<WaitText>,
}

/// Why an alert waits whose condition is true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitText {
    /// The reasons.
    pub reasons: String,
    /// When the last of them ends by itself, if the reasons do not say it.
    pub until: Option<Timestamp>,
}

impl WaitText {
    fn of(explained: &ExplainedAlert) -> Self {
        let reasons: Vec<&str> = explained.gates.iter().map(|gate| gate.message.as_str()).collect();
        let reasons = match reasons.is_empty() {
            true => texts::text("near-true"),
            false => reasons.join("; "),
        };
        let until = explained.gates.iter().filter_map(|gate| gate.until).max();
        Self {
            until: until.filter(|_| !has_instant(&reasons)),
            reasons: wording::message(&reasons),
        }
    }
}

/// The alerts nearest to firing: those whose conditions are not true yet, and those that wait although they are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NearAlerts {
    /// Those that are not true, the nearest first.
    pub near: Vec<NearLine>,
    /// Those that are true and wait.
    pub waiting: Vec<NearLine>,
    /// Whether the account has an alert.
    pub has_alerts: bool,
}

impl NearAlerts {
    /// Formats the first alerts of each kind.
    #[must_use]
    pub fn of(alerts: &[NearAlert], limit: usize, has_alerts: bool) -> Self {
        let (waiting, near): (Vec<_>, Vec<_>) = alerts
            .iter()
            .map(NearLine::of)
            .partition(|line| line.waits_for.is_some());
        Self {
            near: near.into_iter().take(limit).collect(),
            waiting: waiting.into_iter().take(limit).collect(),
            has_alerts,
        }
    }
}

impl NearLine {
    /// Formats an alert.
    #[must_use]
    pub fn of(near: &NearAlert) -> Self {
        let explanation = near.explained.explanation.as_ref();
        let is_true = explanation.is_some_and(|explanation| explanation.truth == Truth::True);
        Self {
            id: near.id.to_string(),
            symbol: near.symbol.to_string(),
            sentence: near.explained.sentence.clone(),
            distance: figures::percent(near.distance_pct),
            nearness: figures::nearness(near.distance_pct),
            waits_for: is_true.then(|| WaitText::of(&near.explained)),
        }
    }
}

/// An alert that cannot be evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlindLine {
    /// The id.
    pub id: String,
    /// The symbol.
    pub symbol: String,
    /// The condition as a sentence.
    pub sentence: String,
    /// Why it cannot be evaluated.
    pub issue: String,
}

impl BlindLine {
    /// Formats an alert; `None` if it can be evaluated.
    #[must_use]
    pub fn of(item: &AlertItem) -> Option<Self> {
        let extended = item.extended.as_ref()?;
        let alert = &item.stored.alert;
        let EvaluationStatus::Blind(issue) = extended.evaluation?.state else {
            return None;
        };
        Some(Self {
            issue: issue.to_string(),
            id: alert.id.to_string(),
            symbol: alert.symbol.to_string(),
            sentence: item.sentence(),
        })
    }
}

/// The market's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarketClock {
    /// Whether the regular session is running.
    pub is_open: bool,
    /// When the session ends, or the next one begins.
    pub changes_at: Option<Timestamp>,
}

impl MarketClock {
    /// Formats the market's state.
    #[must_use]
    pub const fn of(status: &MarketStatus) -> Self {
        Self {
            is_open: status.is_open,
            changes_at: if status.is_open {
                status.next_close
            } else {
                status.next_open
            },
        }
    }
}

/// The return of the paper trades.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaperTotal {
    /// The return in percent, and whether it is a gain.
    pub own: (String, bool),
    /// The symbol of the benchmark.
    pub benchmark: String,
    /// The return of the benchmark in percent.
    pub benchmark_return: Option<String>,
}

impl PaperTotal {
    /// Formats the performance; `None` without trades.
    #[must_use]
    pub fn of(view: &PerformanceView) -> Option<Self> {
        view.performance.base_date?;
        let summary = &view.performance.summary;
        Some(Self {
            own: (
                figures::signed_share(summary.watchlist_return_pct),
                summary.watchlist_return_pct >= 0.0,
            ),
            benchmark: view.benchmark.to_string(),
            benchmark_return: summary.benchmark_return_pct.map(figures::signed_share),
        })
    }
}

/// The contents of the start page.
#[derive(Clone, PartialEq, Debug)]
pub struct Today {
    /// The firings since the last visit, newest first.
    pub unseen: Vec<FiredLine>,
    /// The firings before, newest first.
    pub earlier: Vec<FiredLine>,
    /// The alerts nearest to firing.
    pub near: NearAlerts,
    /// The alerts that cannot be evaluated.
    pub blind: Vec<BlindLine>,
    /// The market's clock.
    pub clock: MarketClock,
    /// The return of the paper trades.
    pub paper: Option<PaperTotal>,
}

/// Returns the text of the link to all new firings.
fn all_unseen_text(count: &u32) -> String {
    texts::text_with("all-unseen", [("count", (*count).into())])
}

/// The start page.
#[derive(Template, Debug)]
#[template(path = "today.html")]
pub struct TodayPage {
    /// The frame.
    pub shell: Shell,
    /// Its contents.
    pub today: Today,
}

/// The contents of the start page, for a page that has its frame already.
#[derive(Template, Debug)]
#[template(path = "today_main.html")]
pub struct TodayPart {
    /// The frame.
    pub shell: Shell,
    /// Its contents.
    pub today: Today,
}

/// The alerts nearest to firing, which follow the quotes.
#[derive(Template, Debug)]
#[template(path = "today_near.html")]
pub struct NearPart {
    /// The frame.
    pub shell: Shell,
    /// The alerts.
    pub near: NearAlerts,
}
