//! `GET /stocks/{symbol}`: one stock with its chart, its figures and the account's alerts on it.

use evaluation::stocks::CandleRange;
use foundation::ServiceError;
use market::Symbol;
use service::alerts::AlertItem;
use service::{AlertFilter, AlertSort, AlertSortField, PageRequest};
use web::screens::stock::{StockAlertsPart, StockPage};

use super::response::rendered;
use super::visitor::Visitor;
use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;

/// The newest alerts on the page.
const ALERTS: PageRequest = PageRequest { page: 1, limit: 100 };

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
    let bars = stocks.candles(symbol, CandleRange::Year1).await?;
    let own = own_alerts(app, visitor, symbol).await?;
    let shell = visitor.shell(app, None);
    Ok(StockPage::new(shell, &stock, &fundamentals, &bars, &own, app.now()))
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
