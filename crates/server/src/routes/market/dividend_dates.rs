//! `GET /market/dividend-dates`

use evaluation::market::NamedRow;
use market::records::DividendRow;

use crate::routes::prelude::*;

/// Query parameters: the month.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct DividendDatesParams {
    /// Month; defaults to the current month in New York.
    #[param(pattern = "^[0-9]{4}-(0[1-9]|1[0-2])$", example = "2026-03")]
    month: Option<String>,
}

/// A dividend.
#[derive(Debug, Serialize, ToSchema)]
pub struct DividendDate {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Ex-dividend date.
    #[schema(format = Date, example = "2026-03-09")]
    pub ex_date: String,
    /// Payment date.
    #[schema(required, format = Date, example = "2026-03-16")]
    pub payment_date: Option<String>,
    /// Amount in US dollars per share.
    #[schema(required, minimum = 0, example = 0.26)]
    pub amount: Option<f64>,
}

impl DividendDate {
    fn of(named: NamedRow<DividendRow>) -> Self {
        let NamedRow { name, row } = named;
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
/// Returns known dividends with an ex-dividend or payment date in the month, sorted by their first date in the month, then by symbol.
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
    _caller: Authorized<StocksRead>,
    mut query: Query,
) -> Result<ApiResponse<Vec<DividendDate>>, ApiError> {
    let month = query.month("month");
    query.finish()?;
    let dividends = app.service().market.dividend_dates(month);
    Ok(ApiResponse::ok(dividends.into_iter().map(DividendDate::of).collect()))
}
