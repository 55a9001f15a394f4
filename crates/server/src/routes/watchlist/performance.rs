//! `GET /watchlist/performance`

use watchlist::{PerformanceRange, PerformanceView, SeriesPoint};

use crate::document::names::PerformanceRangeName;
use crate::routes::prelude::*;

/// API names of performance ranges.
pub(crate) const PERFORMANCE_RANGES: &[(&str, PerformanceRange)] = &[
    ("3m", PerformanceRange::ThreeMonths),
    ("6m", PerformanceRange::SixMonths),
    ("1y", PerformanceRange::Year),
    ("max", PerformanceRange::Max),
];

/// Query parameters: the range.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct WatchlistPerformanceParams {
    /// Range up to today; `max` starts at the first paper trade.
    #[param(value_type = Option<PerformanceRangeName>, default = "max")]
    range: Option<String>,
}

/// A point of a performance series.
#[derive(Debug, Serialize, ToSchema)]
pub struct PerformancePoint {
    /// Date of the session.
    #[schema(format = Date, example = "2026-03-02")]
    pub date: String,
    /// Index value; 100 on the first day.
    #[schema(example = 101.25)]
    pub value: f64,
    /// `true` while the session is not complete and the value is based on current prices. Omitted otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub provisional: Option<bool>,
}

/// Performance series with identical dates.
#[derive(Debug, Serialize, ToSchema)]
pub struct PerformanceSeries {
    /// Series of the watchlist's paper trades.
    pub watchlist: Vec<PerformancePoint>,
    /// Series of the benchmark; empty if no prices of it are known.
    pub sp_500: Vec<PerformancePoint>,
}

/// Total returns, in percent.
#[derive(Debug, Serialize, ToSchema)]
pub struct PerformanceSummary {
    /// Return of the paper trades.
    #[schema(example = 1.25)]
    pub watchlist_return_pct: f64,
    /// Return of the benchmark; null while its prices are unknown, 0 without trades.
    #[schema(required, example = 0.5)]
    pub sp500_return_pct: Option<f64>,
    /// Same as `sp500_return_pct`.
    #[schema(required, example = 0.5)]
    pub sp_500_return_pct: Option<f64>,
    /// Return of the paper trades minus return of the benchmark, in percentage points; null while the benchmark's prices are
    /// unknown, 0 without trades.
    #[schema(required, example = 0.75)]
    pub alpha_pct: Option<f64>,
}

/// Performance of the watchlist's paper trades.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatchlistPerformance {
    /// Range.
    #[schema(value_type = PerformanceRangeName)]
    pub range: &'static str,
    /// First day; null without trades.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub base_date: Option<String>,
    /// Symbol of the benchmark.
    #[schema(example = "SPY")]
    pub benchmark: String,
    /// Daily series.
    pub series: PerformanceSeries,
    /// Total returns.
    pub summary: PerformanceSummary,
}

impl WatchlistPerformance {
    fn of(view: PerformanceView) -> Self {
        let PerformanceView {
            performance,
            benchmark,
            provisional_from,
        } = view;
        let points = |series: Vec<SeriesPoint>| {
            let points = series.into_iter().map(|point| PerformancePoint {
                date: date(point.date),
                value: point.value,
                provisional: provisional_from.filter(|from| point.date >= *from).map(|_| true),
            });
            points.collect()
        };
        let summary = performance.summary;
        // Without trades all returns are zero.
        let without_trades = performance.base_date.is_none().then_some(0.0);
        let benchmark_return = summary.benchmark_return_pct.or(without_trades);
        Self {
            range: performance.range.as_str(),
            base_date: performance.base_date.map(date),
            benchmark: benchmark.to_string(),
            series: PerformanceSeries {
                watchlist: points(performance.watchlist),
                sp_500: points(performance.benchmark),
            },
            summary: PerformanceSummary {
                watchlist_return_pct: summary.watchlist_return_pct,
                sp500_return_pct: benchmark_return,
                sp_500_return_pct: benchmark_return,
                alpha_pct: summary.alpha_pct.or(without_trades),
            },
        }
    }
}

/// Get the watchlist's performance
///
/// Returns the chained daily time-weighted return of the open paper trades, weighted by their value at the previous close and
/// indexed to 100 on the first day, together with the benchmark on the same days. The current session is the last, provisional
/// point.
#[utoipa::path(
    get,
    path = "/watchlist/performance",
    tag = "Watchlist",
    params(WatchlistPerformanceParams),
    responses(
        (status = 200, description = "The performance", body = Envelope<WatchlistPerformance>),
    ),
    security(("ApiKeyHeader" = ["watchlist:read"]))
)]
pub(super) async fn get_performance(
    State(app): State<App>,
    caller: Authorized<WatchlistRead>,
    mut query: Query,
) -> Result<ApiResponse<WatchlistPerformance>, ApiError> {
    let range = query.choice("range", PERFORMANCE_RANGES);
    query.finish()?;
    let performance = app
        .service()
        .watchlists
        .paper_performance(&caller.actor, range.unwrap_or_default())
        .await?;
    Ok(ApiResponse::ok(WatchlistPerformance::of(performance)))
}
