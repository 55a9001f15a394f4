//! `GET /market/earnings`

use evaluation::market::NamedRow;
use market::records::{EarningsRow, EarningsTime};

use crate::document::names::EarningsTimeName;
use crate::routes::prelude::*;

/// Query parameters: the range of days.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct EarningsParams {
    /// First day; defaults to today in New York.
    #[param(format = Date, pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", example = "2026-03-02")]
    from: Option<String>,
    /// Last day, at most 30 days after the first; defaults to six days after the first.
    #[param(format = Date, pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", example = "2026-03-08")]
    to: Option<String>,
}

/// An earnings date of a company.
#[derive(Debug, Serialize, ToSchema)]
pub struct EarningsDate {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Date of the report.
    #[schema(format = Date, example = "2026-03-04")]
    pub date: String,
    /// Time of the report relative to the session.
    #[schema(value_type = EarningsTimeName)]
    pub time: &'static str,
    /// Estimated earnings per share, in US dollars.
    #[schema(required, example = 1.62)]
    pub eps_estimate: Option<f64>,
}

/// API names of report times.
pub(crate) const EARNINGS_TIMES: &[&str] = &["before_open", "after_close", "unknown"];

const fn time_name(time: EarningsTime) -> &'static str {
    match time {
        EarningsTime::BeforeOpen => EARNINGS_TIMES[0],
        EarningsTime::AfterClose => EARNINGS_TIMES[1],
        EarningsTime::Unknown => EARNINGS_TIMES[2],
    }
}

impl EarningsDate {
    fn of(named: NamedRow<EarningsRow>) -> Self {
        let NamedRow { name, row } = named;
        Self {
            symbol: row.symbol.to_string(),
            name,
            date: date(row.date),
            time: time_name(row.time),
            eps_estimate: row.eps_estimate.map(decimal),
        }
    }
}

/// List earnings dates
///
/// Returns known past and future earnings dates in the range, sorted by date, then by symbol.
#[utoipa::path(
    get,
    path = "/market/earnings",
    tag = "Market",
    params(EarningsParams),
    responses((status = 200, description = "The earnings dates", body = Envelope<Vec<EarningsDate>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_earnings(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
    mut query: Query,
) -> Result<ApiResponse<Vec<EarningsDate>>, ApiError> {
    let (from, to) = (query.date("from"), query.date("to"));
    query.finish()?;
    let earnings = app.service().market.earnings_dates(from, to)?;
    Ok(ApiResponse::ok(earnings.into_iter().map(EarningsDate::of).collect()))
}
