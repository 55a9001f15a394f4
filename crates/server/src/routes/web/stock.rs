//! `GET /stocks/{symbol}`: one stock with its chart, its figures and the account's alerts on it.

use evaluation::stocks::CandleRange;
use foundation::ServiceError;
use market::Symbol;
use service::{AlertFilter, AlertSort, AlertSortField, PageRequest};
use web::screens::stock::StockPage;

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
    let found = match symbol {
        Ok(SymbolPath(symbol)) => stock_page(&app, &visitor, symbol).await,
        Err(error) => return api_error_page(&error),
    };
    match found {
        Ok(page) => visitor.after_notice(rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn stock_page(app: &App, visitor: &Visitor, symbol: Symbol) -> Result<StockPage, ServiceError> {
    let (stocks, alerts) = (&app.service().stocks, &app.service().alerts);
    let stock = stocks.stock(symbol).await?;
    let fundamentals = stocks.fundamentals(symbol).await?;
    let bars = stocks.candles(symbol, CandleRange::Year1).await?;
    let filter = AlertFilter {
        symbol: Some(symbol),
        ..AlertFilter::default()
    };
    let own = alerts
        .alerts(&visitor.actor, &filter, NEWEST_FIRST, ALERTS, true)
        .await?;
    let shell = visitor.shell(app, None);
    Ok(StockPage::new(
        shell,
        &stock,
        &fundamentals,
        &bars,
        &own.items,
        app.now(),
    ))
}
