//! `GET /watchlist/performance`

use axum::extract::State;
use serde::Serialize;
use service::watchlist::{PerformanceView, Point, Range};
use utoipa::{IntoParams, ToSchema};

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WatchlistRead};
use crate::document::names::PerformanceRangeName;
use crate::error::ApiError;
use crate::query::Query;
use crate::values::date;

/// The ranges by name.
pub(crate) const RANGES: &[(&str, Range)] = &[
    ("3m", Range::ThreeMonths),
    ("6m", Range::SixMonths),
    ("1y", Range::Year),
    ("max", Range::Max),
];

/// How far back.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct PerformanceParams {
    /// How far back from today; `max` is to the first paper trade.
    #[param(value_type = Option<PerformanceRangeName>, default = "max")]
    range: Option<String>,
}

/// A day of a series.
#[derive(Debug, Serialize, ToSchema)]
pub struct PerformancePoint {
    /// The session.
    #[schema(format = Date, example = "2026-03-02")]
    pub date: String,
    /// What 100 on the first day have become.
    #[schema(example = 101.25)]
    pub value: f64,
    /// `true` while the session is not complete: the value follows from the prices so far. Left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub provisional: Option<bool>,
}

/// The series, each with the same days.
#[derive(Debug, Serialize, ToSchema)]
pub struct PerformanceSeries {
    /// The paper trades of the watchlist.
    pub watchlist: Vec<PerformancePoint>,
    /// The benchmark; empty while nothing is known of it.
    pub sp_500: Vec<PerformancePoint>,
}

/// What came of it, in percent.
#[derive(Debug, Serialize, ToSchema)]
pub struct PerformanceSummary {
    /// The return on the paper trades.
    #[schema(example = 1.25)]
    pub watchlist_return_pct: f64,
    /// The benchmark's return; null while the benchmark is unknown, 0 without trades.
    #[schema(required, example = 0.5)]
    pub sp500_return_pct: Option<f64>,
    /// The same.
    #[schema(required, example = 0.5)]
    pub sp_500_return_pct: Option<f64>,
    /// By how many percentage points the paper trades did better; null while the benchmark is unknown, 0 without trades.
    #[schema(required, example = 0.75)]
    pub alpha_pct: Option<f64>,
}

/// What following the watchlist would have earned.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatchlistPerformance {
    /// How far back.
    #[schema(value_type = PerformanceRangeName)]
    pub range: &'static str,
    /// The first day; null without trades.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub base_date: Option<String>,
    /// The symbol of the benchmark.
    #[schema(example = "SPY")]
    pub benchmark: String,
    /// Day by day.
    pub series: PerformanceSeries,
    /// In one.
    pub summary: PerformanceSummary,
}

impl WatchlistPerformance {
    fn of(view: PerformanceView) -> Self {
        let PerformanceView {
            performance,
            benchmark,
            provisional_from,
        } = view;
        let points = |series: Vec<Point>| {
            let points = series.into_iter().map(|point| PerformancePoint {
                date: date(point.date),
                value: point.value,
                provisional: provisional_from.filter(|from| point.date >= *from).map(|_| true),
            });
            points.collect()
        };
        let summary = performance.summary;
        // Without trades there is nothing to compare, and all returns are zero.
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

/// Read the watchlist's performance
///
/// The daily time-weighted return on all paper trades that were open that day, weighted by their value at the previous close,
/// chained, 100 on the first day of the range; beside it the benchmark on the same days. The running session is the last,
/// provisional point.
#[utoipa::path(
    get,
    path = "/watchlist/performance",
    tag = "Watchlist",
    params(PerformanceParams),
    responses(
        (status = 200, description = "The performance", body = Envelope<WatchlistPerformance>),
    ),
    security(("ApiKeyHeader" = ["watchlist:read"]))
)]
pub(super) async fn get_performance(
    State(app): State<App>,
    who: Allowed<WatchlistRead>,
    mut query: Query,
) -> Result<Reply<WatchlistPerformance>, ApiError> {
    let range = query.word("range", RANGES);
    query.finish()?;
    let performance = app
        .service()
        .watchlists
        .paper_performance(&who.actor, range.unwrap_or_default())
        .await?;
    Ok(Reply::ok(WatchlistPerformance::of(performance)))
}
