//! One stock: its price, its chart with the levels of the account's alerts, its figures.

use askama::Template;
use evaluation::stocks::{Fundamentals, StockView};
use jiff::Timestamp;
use market::{Bar, Decimal, Symbol};
use service::alerts::AlertItem;

use super::alerts::AlertLine;
use super::price_chart::{ChartMark, SessionCells, listed_sessions, price_chart};
use crate::figures;
use crate::filters;
use crate::layout::Shell;
use crate::texts;

/// A figure of a stock, which leads to a new alert on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockFigure {
    /// The id of the name's text.
    pub text: &'static str,
    /// The value.
    pub value: String,
    /// The query of the builder with a rule on this figure; `None` if no rule uses it.
    pub rule: Option<String>,
}

/// The screen of one stock.
#[derive(Template, Debug)]
#[template(path = "stock.html")]
pub struct StockPage {
    /// The frame.
    pub shell: Shell,
    /// The symbol.
    pub symbol: String,
    /// The company's name.
    pub name: String,
    /// The last price.
    pub price: Option<String>,
    /// The day's change in percent, and whether it rises.
    pub change: Option<(String, bool)>,
    /// The time of the last price.
    pub updated_at: Option<Timestamp>,
    /// The figures.
    pub figures: Vec<StockFigure>,
    /// The account's alerts on the stock.
    pub alerts: Vec<AlertLine>,
    /// The data of the chart, as JSON that is safe within a `script` element.
    pub chart: String,
    /// The last sessions, newest first: date, open, high, low, close, volume.
    pub sessions: Vec<SessionCells>,
}

/// The account's alerts on a stock, for a page that has its frame already.
#[derive(Template, Debug)]
#[template(path = "stock_alerts.html")]
pub struct StockAlertsPart {
    /// The frame.
    pub shell: Shell,
    /// The symbol.
    pub symbol: String,
    /// The alerts.
    pub alerts: Vec<AlertLine>,
}

impl StockAlertsPart {
    /// Formats the alerts.
    #[must_use]
    pub fn new(shell: Shell, symbol: Symbol, alerts: &[AlertItem]) -> Self {
        let now = shell.now;
        Self {
            shell,
            symbol: symbol.to_string(),
            alerts: alerts.iter().map(|item| AlertLine::of(item, now)).collect(),
        }
    }
}

impl StockPage {
    /// Formats a stock.
    #[must_use]
    pub fn new(
        shell: Shell,
        stock: &StockView,
        fundamentals: &Fundamentals,
        bars: &[Bar],
        alerts: &[AlertItem],
        marks: &[ChartMark],
    ) -> Self {
        let (change, now) = (stock.change_percent, shell.now);
        Self {
            symbol: stock.row.symbol.to_string(),
            name: stock.row.name.clone(),
            price: stock.last_price.map(|price| figures::usd(price.decimal())),
            change: change.map(|change| (figures::signed_percent(change), change.micros() >= 0)),
            updated_at: stock.updated_at,
            figures: stock_figures(stock, fundamentals),
            alerts: alerts.iter().map(|item| AlertLine::of(item, now)).collect(),
            chart: price_chart(stock, bars, alerts, marks),
            sessions: listed_sessions(bars),
            shell,
        }
    }
}

fn stock_figures(stock: &StockView, fundamentals: &Fundamentals) -> Vec<StockFigure> {
    let symbol = stock.row.symbol;
    let rule = |rule: String| {
        let text = format!("{symbol} {rule}");
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("text", &text)
            .finish();
        Some(query)
    };
    let figure = |text, value: Option<String>, rule| value.map(|value| StockFigure { text, value, rule });
    let usd = |value: Option<Decimal>| value.map(figures::usd);
    let price = |price: Option<market::Price>| price.map(|price| figures::usd(price.decimal()));
    let two = |value: Option<Decimal>| value.map(|value| format!("{:.2}", value.as_f64()));
    let date = |date: Option<jiff::civil::Date>| date.map(|date| date.to_string());
    let rows = [
        figure("figure-rsi", two(stock.rsi), rule("rsi < 30".to_owned())),
        figure(
            "figure-ma-50",
            usd(stock.ma_50),
            rule("price crosses sma(50)".to_owned()),
        ),
        figure(
            "figure-ma-200",
            usd(stock.ma_200),
            rule("price crosses sma(200)".to_owned()),
        ),
        figure(
            "figure-high",
            price(stock.high_52w),
            rule("price >= high_52w".to_owned()),
        ),
        figure("figure-low", price(stock.low_52w), rule("price <= low_52w".to_owned())),
        figure(
            "figure-volume",
            stock.volume.map(figures::grouped),
            rule("volume > 2 * avg_volume(20)".to_owned()),
        ),
        figure("figure-pe", two(fundamentals.pe_ratio), rule("pe < 15".to_owned())),
        figure("figure-eps", usd(fundamentals.eps_ttm), None),
        figure("figure-dividend", usd(fundamentals.dividend_amount), None),
        figure("figure-ex-dividend", date(fundamentals.ex_dividend_date), None),
        figure("figure-earnings", date(fundamentals.next_earnings_date), None),
    ];
    rows.into_iter().flatten().collect()
}

/// Returns the text of a preview, in which the script replaces `{count}`.
fn preview_text() -> String {
    texts::text_with("level-preview", [("count", "{count}".into())])
}
