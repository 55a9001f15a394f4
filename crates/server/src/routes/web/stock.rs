//! `GET /stocks/{symbol}`: one stock with its chart, its figures and the account's alerts on it.

use evaluation::stocks::CandleRange;
use foundation::ServiceError;
use jiff::civil::Date;
use market::Symbol;
use market::calendar::new_york_date;
use service::alerts::AlertItem;
use service::{AlertFilter, AlertSort, AlertSortField, PageRequest};
use web::screens::price_chart::{ChartMark, MarkKind};
use web::screens::stock::{StockAlertsPart, StockPage};

use super::response::rendered;
use super::visitor::Visitor;
use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;

/// The newest alerts on the page.
const ALERTS: PageRequest = PageRequest { page: 1, limit: 100 };

/// The last firings of the account, some of which are marks.
const LAST_FIRINGS: PageRequest = PageRequest { page: 1, limit: 500 };

const NEWEST_FIRST: AlertSort = AlertSort {
    field: AlertSortField::CreatedAt,
    ascending: false,
};

/// Shows a stock.
pub(super) async fn show_stock(
    State(app): State<App>,
    visitor: Visitor,
    symbol: Result<SymbolPath, ApiError>,
) -> Response {
    let SymbolPath(symbol) = match symbol {
        Ok(symbol) => symbol,
        Err(error) => return api_error_page(&error),
    };
    let found = match visitor.is_part {
        true => own_alerts(&app, &visitor, symbol).await.map(|own| {
            let shell = visitor.shell(&app, None);
            rendered(&StockAlertsPart::new(shell, symbol, &own))
        }),
        false => stock_page(&app, &visitor, symbol)
            .await
            .map(|page| visitor.after_notice(rendered(&page))),
    };
    found.unwrap_or_else(error_page)
}

async fn stock_page(app: &App, visitor: &Visitor, symbol: Symbol) -> Result<StockPage, ServiceError> {
    let stocks = &app.service().stocks;
    let stock = stocks.stock(symbol).await?;
    let fundamentals = stocks.fundamentals(symbol).await?;
    // Averages and RSI need more history than the chart shows.
    let bars = stocks.candles(symbol, CandleRange::Year5).await?;
    let own = own_alerts(app, visitor, symbol).await?;
    let marks = marks(app, visitor, symbol).await?;
    let shell = visitor.shell(app, None);
    Ok(StockPage::new(shell, &stock, &fundamentals, &bars, &own, &marks))
}

/// Returns what happened to the stock, oldest first.
async fn marks(app: &App, visitor: &Visitor, symbol: Symbol) -> Result<Vec<ChartMark>, ServiceError> {
    let service = app.service();
    let firings = service.alerts.latest_firings(&visitor.actor, LAST_FIRINGS).await?;
    let fired = firings.items.iter().filter(|firing| firing.symbol == symbol);
    let fired = fired.map(|firing| ChartMark {
        date: new_york_date(firing.at),
        kind: MarkKind::Firing,
    });
    let days = service.stocks.event_days(symbol).await?;
    let all = |days: Vec<Date>, kind| days.into_iter().map(move |date| ChartMark { date, kind });
    let events = all(days.splits, MarkKind::Split)
        .chain(all(days.ex_dividend, MarkKind::Dividend))
        .chain(all(days.earnings, MarkKind::Earnings));
    let today = new_york_date(app.now());
    let mut marks: Vec<_> = fired.chain(events).collect();
    marks.retain(|mark| mark.date <= today);
    marks.sort_by_key(|mark| mark.date);
    marks.dedup();
    Ok(marks)
}

async fn own_alerts(app: &App, visitor: &Visitor, symbol: Symbol) -> Result<Vec<AlertItem>, ServiceError> {
    let filter = AlertFilter {
        symbol: Some(symbol),
        ..AlertFilter::default()
    };
    let alerts = &app.service().alerts;
    let found = alerts
        .alerts(&visitor.actor, &filter, NEWEST_FIRST, ALERTS, true)
        .await?;
    Ok(found.items)
}
