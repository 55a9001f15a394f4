//! `GET /market/dividend-dates`

use axum::extract::State;
use market::records::DividendRow;
use serde::Serialize;
use service::market::Named;
use utoipa::{IntoParams, ToSchema};

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::error::ApiError;
use crate::query::Query;
use crate::values::{date, decimal};

/// Which month.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct DividendDatesParams {
    /// The month; the present one in New York if it is left out.
    #[param(pattern = "^[0-9]{4}-(0[1-9]|1[0-2])$", example = "2026-03")]
    month: Option<String>,
}

/// A dividend of a company.
#[derive(Debug, Serialize, ToSchema)]
pub struct DividendDate {
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// The first session without a claim to the dividend.
    #[schema(format = Date, example = "2026-03-09")]
    pub ex_date: String,
    /// When it is paid.
    #[schema(required, format = Date, example = "2026-03-16")]
    pub payment_date: Option<String>,
    /// Dollars per share.
    #[schema(required, minimum = 0, example = 0.26)]
    pub amount: Option<f64>,
}

impl DividendDate {
    fn of(named: Named<DividendRow>) -> Self {
        let Named { name, row } = named;
        Self {
            symbol: row.symbol.to_string(),
            name,
            ex_date: date(row.ex_date),
            payment_date: row.payment_date.map(date),
            amount: row.amount.map(decimal),
        }
    }
}

/// List a month's dividends
///
/// Those that are known to go ex or to be paid in the month: by the first of their dates in it, then by symbol.
#[utoipa::path(
    get,
    path = "/market/dividend-dates",
    tag = "Market",
    params(DividendDatesParams),
    responses((status = 200, description = "The dividends", body = Envelope<Vec<DividendDate>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_dividend_dates(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
    mut query: Query,
) -> Result<Reply<Vec<DividendDate>>, ApiError> {
    let month = query.month("month");
    query.finish()?;
    let dividends = app.service().market.dividend_dates(month);
    Ok(Reply::ok(dividends.into_iter().map(DividendDate::of).collect()))
}
