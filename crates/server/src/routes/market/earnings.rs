//! `GET /market/earnings`

use axum::extract::State;
use market::records::{EarningsRow, EarningsTime};
use serde::Serialize;
use service::market::Named;
use utoipa::{IntoParams, ToSchema};

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::document::names::EarningsTimeName;
use crate::error::ApiError;
use crate::query::Query;
use crate::values::{date, decimal};

/// Which days.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct EarningsParams {
    /// The first day; today in New York if it is left out.
    #[param(format = Date, pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", example = "2026-03-02")]
    from: Option<String>,
    /// The last day, at most 30 days after the first; six days after it if it is left out.
    #[param(format = Date, pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", example = "2026-03-08")]
    to: Option<String>,
}

/// A day on which a company reports its earnings.
#[derive(Debug, Serialize, ToSchema)]
pub struct EarningsDate {
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// The date of the report.
    #[schema(format = Date, example = "2026-03-04")]
    pub date: String,
    /// Before or after the session.
    #[schema(value_type = EarningsTimeName)]
    pub time: &'static str,
    /// Expected earnings per share, in dollars.
    #[schema(required, example = 1.62)]
    pub eps_estimate: Option<f64>,
}

/// The words for the time of a report.
pub(crate) const TIMES: &[&str] = &["before_open", "after_close", "unknown"];

const fn time_name(time: EarningsTime) -> &'static str {
    match time {
        EarningsTime::BeforeOpen => TIMES[0],
        EarningsTime::AfterClose => TIMES[1],
        EarningsTime::Unknown => TIMES[2],
    }
}

impl EarningsDate {
    fn of(named: Named<EarningsRow>) -> Self {
        let Named { name, row } = named;
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
/// The days on which companies are known to report (or to have reported), by date, then by symbol.
#[utoipa::path(
    get,
    path = "/market/earnings",
    tag = "Market",
    params(EarningsParams),
    responses((status = 200, description = "The dates", body = Envelope<Vec<EarningsDate>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_earnings(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
    mut query: Query,
) -> Result<Reply<Vec<EarningsDate>>, ApiError> {
    let (from, to) = (query.date("from"), query.date("to"));
    query.finish()?;
    let earnings = app.service().market.earnings_dates(from, to)?;
    Ok(Reply::ok(earnings.into_iter().map(EarningsDate::of).collect()))
}
