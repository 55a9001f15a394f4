//! The watchlist: intentions, paper trades, the analyst's advice, and the performance against the benchmark.

use alerts::Intention;
use askama::Template;
use jiff::Timestamp;
use market::{Decimal, PriceChange};
use serde_json::{Value, json};
use service::alerts::{DescribedAlert, StoredAlert, describe_stored};
use watchlist::{ItemView, PerformanceRange, PerformanceView, SeriesPoint, TradeView, WatchlistItemId};

use super::today::PaperTotal;
use crate::figures;
use crate::filters;
use crate::form_state::FormState;
use crate::layout::Shell;
use crate::wording::in_words;

/// A stock on the watchlist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WatchedLine {
    /// The id of the item.
    pub id: String,
    /// The symbol.
    pub symbol: String,
    /// The company's name.
    pub name: String,
    /// The intended action.
    pub intention: Intention,
    /// The last price.
    pub price: Option<String>,
    /// The move since the item was added in percent, and whether it rose.
    pub since_added: Option<(String, bool)>,
    /// The target price, as a form has it.
    pub target: String,
    /// The notes.
    pub notes: String,
    /// Whether the analyst creates alerts.
    pub has_auto_alerts: bool,
    /// Whether the item is active.
    pub is_active: bool,
    /// The number of the account's active alerts on the stock.
    pub alerts: u64,
    /// The analyst's advice: its time, its author and its rationale.
    pub advice: Option<(Timestamp, String, String)>,
    /// The alerts that the analyst has created.
    pub made: Vec<MadeAlert>,
    /// The analyst's present proposals, if they are asked for.
    pub proposals: Option<Proposals>,
}

/// An alert that the analyst has created for a stock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MadeAlert {
    /// Its id.
    pub id: String,
    /// The alert as a sentence.
    pub sentence: String,
    /// Why the analyst has created it.
    pub rationale: String,
}

impl MadeAlert {
    /// Formats an alert; `None` unless the analyst has created it for the item.
    #[must_use]
    pub fn of(stored: &StoredAlert, item: WatchlistItemId) -> Option<Self> {
        let parameters = stored.alert.parameters.as_ref()?;
        let text = |name: &str| parameters.get(name).and_then(Value::as_str);
        (text("watchlist_item_id")? == item.0.to_string()).then(|| Self {
            id: stored.alert.id.to_string(),
            sentence: describe_stored(stored).sentence,
            rationale: text("rationale").unwrap_or_default().to_owned(),
        })
    }
}

/// The analyst's proposals for a stock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proposals {
    /// Alerts that can be created as they are, or with another level.
    Alerts(Vec<ProposalLine>),
    /// There are none for this reason.
    Unavailable(String),
}

/// A proposed alert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProposalLine {
    /// Its purpose in words.
    pub role: String,
    /// The alert as a sentence.
    pub sentence: String,
    /// The rule that the builder reads as the same alert.
    pub rule: Option<String>,
    /// Why it is proposed.
    pub rationale: String,
    /// The body of the create request, as JSON.
    pub body: String,
    /// The level, which can be changed.
    pub threshold: Option<String>,
}

impl ProposalLine {
    /// Formats a proposal. `role` is the name of its purpose.
    #[must_use]
    pub fn of(role: &str, rationale: &str, body: &Value, described: &DescribedAlert) -> Self {
        let threshold = body.get("threshold").filter(|threshold| threshold.is_number());
        Self {
            role: in_words(role),
            sentence: described.sentence.clone(),
            rule: described.text.clone(),
            rationale: rationale.to_owned(),
            body: body.to_string(),
            threshold: threshold.map(ToString::to_string),
        }
    }

    /// Returns the query of the builder with this alert.
    fn query(&self) -> Option<String> {
        let rule = self.rule.as_ref()?;
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        Some(query.append_pair("text", rule).finish())
    }
}

impl WatchedLine {
    /// Formats an item.
    #[must_use]
    pub fn of(view: &ItemView) -> Self {
        let item = &view.listed.item;
        let last = view.stock.last_price;
        let moved = item.initial_price.map(|initial| initial.price).zip(last);
        let percent = moved.map(|(from, to)| PriceChange::between(from, to).percent);
        Self {
            id: item.id.0.to_string(),
            symbol: item.symbol.to_string(),
            name: view.stock.name.clone(),
            intention: item.intention,
            price: last.map(|price| figures::usd(price.decimal())),
            since_added: percent.map(|percent| (figures::signed_percent(percent), percent >= Decimal::ZERO)),
            target: item
                .target_price
                .map(|target| target.price.to_string())
                .unwrap_or_default(),
            notes: item.notes.clone().unwrap_or_default(),
            has_auto_alerts: item.has_auto_alerts,
            is_active: item.is_active,
            alerts: view.listed.active_alerts,
            advice: item
                .advised
                .as_ref()
                .map(|advice| (advice.priced.at, advice.by.clone(), advice.summary.clone())),
            made: Vec::new(),
            proposals: None,
        }
    }

    /// Returns the id of an input, which belongs to the item alone.
    fn input_id(&self, name: &str) -> String {
        format!("{name}-{}", self.id)
    }

    fn form(&self) -> WatchlistForm {
        WatchlistForm::Item(self.id.clone())
    }
}

/// Returns the id of an intention's text.
const fn intention_text(intention: &Intention) -> &'static str {
    match intention {
        Intention::Buy => "intention-buy",
        Intention::Sell => "intention-sell",
    }
}

/// A paper trade.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TradeLine {
    /// The symbol.
    pub symbol: String,
    /// `long` or `short`.
    pub direction: &'static str,
    /// When it was opened.
    pub entry_at: Timestamp,
    /// The entry price in today's shares.
    pub entry_price: String,
    /// When it was closed.
    pub exit_at: Option<Timestamp>,
    /// The profit in US dollars, and whether it is one.
    pub profit: Option<(String, bool)>,
}

impl TradeLine {
    /// Formats a trade.
    #[must_use]
    pub fn of(trade: &TradeView) -> Self {
        let profit = trade.realized_pnl.or(trade.unrealized_pnl);
        Self {
            symbol: trade.stored.symbol.to_string(),
            direction: trade.direction,
            entry_at: trade.stored.entry.at,
            entry_price: figures::usd(trade.entry_price.decimal()),
            exit_at: trade.stored.exit.map(|exit| exit.at),
            profit: profit.map(|profit| (figures::signed_usd(profit), profit >= Decimal::ZERO)),
        }
    }
}

/// The performance of the paper trades.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PerformanceChart {
    /// The total returns.
    pub returns: PaperTotal,
    /// The first day.
    pub since: String,
    /// The range.
    pub range: PerformanceRange,
    /// The data of the chart, as JSON that is safe within a `script` element.
    pub data: String,
    /// The last days, newest first: date, value of the paper trades, value of the benchmark.
    pub days: Vec<[String; 3]>,
}

/// The number of days in the table of the performance.
const LISTED_DAYS: usize = 20;

/// Returns the rows of the table of the performance.
fn listed_days(own: &[SeriesPoint], benchmark: &[SeriesPoint]) -> Vec<[String; 3]> {
    let value = |point: &SeriesPoint| format!("{:.2}", point.value);
    let row = |point: &SeriesPoint| {
        let same_day = benchmark.iter().find(|other| other.date == point.date);
        [
            point.date.to_string(),
            value(point),
            same_day.map_or_else(|| "–".to_owned(), value),
        ]
    };
    own.iter().rev().take(LISTED_DAYS).map(row).collect()
}

impl PerformanceChart {
    /// Formats a performance; `None` without trades.
    #[must_use]
    pub fn of(view: &PerformanceView) -> Option<Self> {
        let performance = &view.performance;
        let points = |series: &[SeriesPoint]| -> Vec<_> {
            series
                .iter()
                .map(|point| json!([point.date.to_string(), point.value]))
                .collect()
        };
        let returns = PaperTotal::of(view)?;
        let data = json!({
            "own": points(&performance.watchlist),
            "benchmark": points(&performance.benchmark),
            "benchmark_name": returns.benchmark,
        });
        Some(Self {
            days: listed_days(&performance.watchlist, &performance.benchmark),
            returns,
            since: performance.base_date?.to_string(),
            range: performance.range,
            data: data.to_string().replace('<', "\\u003c"),
        })
    }

    fn is_range(&self, range: &PerformanceRange) -> bool {
        self.range == *range
    }
}

/// A form of the page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum WatchlistForm {
    /// Adds a stock.
    #[default]
    Add,
    /// Changes the item with this id.
    Item(String),
    /// Creates an alert over all stocks.
    OverAll,
}

/// The form that was refused, with its errors by the field of the request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RefusedForm {
    /// The form.
    pub kind: WatchlistForm,
    /// The entered values, and the errors.
    pub state: FormState,
}

impl RefusedForm {
    /// Returns the error of a form's field.
    fn error_of(&self, form: &WatchlistForm, field: &str) -> Option<&str> {
        self.state.error_of(field).filter(|_| self.kind == *form)
    }

    /// Returns the value of a form's input: the one that was refused, or else the present one.
    fn value<'a>(&'a self, form: &WatchlistForm, input: &str, present: &'a str) -> &'a str {
        match self.kind == *form {
            true => self.state.value(input, present),
            false => present,
        }
    }

    /// Returns whether a form's checkbox is checked: as in the form that was refused, or else as at present.
    fn is_checked(&self, form: &WatchlistForm, input: &str, present: bool) -> bool {
        match self.kind == *form {
            true => !self.state.value(input, "").is_empty(),
            false => present,
        }
    }
}

/// The watchlist.
#[derive(Template, Debug)]
#[template(path = "watchlist.html")]
pub struct WatchlistPage {
    /// The frame.
    pub shell: Shell,
    /// The items, newest first.
    pub items: Vec<WatchedLine>,
    /// The trades, the last opened first.
    pub trades: Vec<TradeLine>,
    /// The performance.
    pub performance: Option<PerformanceChart>,
    /// The form that was refused.
    pub refused: RefusedForm,
}
