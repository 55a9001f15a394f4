//! `POST /alerts/preview`

use std::collections::BTreeSet;

use jiff::civil::Date;
use market::Decimal;
use service::alerts::preview::coverage::{Gap, HistoryCoverage};
use service::alerts::preview::noise::Noise;
use service::alerts::preview::outcome::PreviewOutcome;
use service::alerts::{Preview, PreviewAlertRequest, PreviewFiring};

use crate::routes::prelude::*;

/// The note about an alert with `session: extended`.
const NO_EXTENDED_HOURS: &str = "prices of extended hours are not stored, so only the regular session is played";

/// The firings that an alert would have had.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertPreview {
    /// The firings, oldest first; of more than 500 the newest.
    #[schema(max_items = 500)]
    pub firings: Vec<PreviewedFiring>,
    /// The number of all firings.
    #[schema(minimum = 0, example = 410)]
    pub count: u64,
    /// The number of firings per year of 365.25 days; null if no day is covered.
    #[schema(required, minimum = 0, example = 82.04)]
    pub per_year: Option<f64>,
    /// The resolution of the bars: `1d`; `intraday` if all sessions are played in intraday bars, such as minutes; `mixed` if
    /// some are (`coverage.intraday`). Each bar is played as four observations: open, low and high (the one nearer to the open first), close.
    #[schema(value_type = String, pattern = "^(1d|intraday|mixed)$", example = "1d")]
    pub resolution: &'static str,
    /// The played days.
    pub coverage: PreviewCoverage,
    /// A warning if the alert fires more than 30 times a year or more than once in a session; null otherwise.
    #[schema(required)]
    pub noise: Option<PreviewNoise>,
    /// The metrics that never had a value on the played days; null if all had one.
    #[schema(required)]
    pub unknown: Option<UnknownMetrics>,
    /// The reasons why the condition can never be true on the data there is; null if none is found.
    #[schema(required)]
    pub never_true: Option<NeverTrue>,
    /// The stock's performance after the firings.
    pub outcome: PreviewPerformance,
}

/// A firing that an alert would have had.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreviewedFiring {
    /// Time of the firing.
    #[schema(format = DateTime, example = "2025-03-04T14:30:00.000Z")]
    pub time: String,
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Price of the stock, per share of that day; null if none was observed.
    #[schema(required, example = 179.66)]
    pub price: Option<f64>,
    /// Reason of the firing.
    #[schema(example = "price < 180 and rsi(14) < 30: price is 179.66, rsi(14) is 28.1")]
    pub reason: String,
}

/// The days of a preview: those of the period for which daily bars of all stocks of the alert are stored. With `scope`, those with
/// bars of at least one stock.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreviewCoverage {
    /// First day; null if bars of a stock are missing.
    #[schema(required, format = Date, example = "2021-03-08")]
    pub from: Option<String>,
    /// Last day; null if bars of a stock are missing.
    #[schema(required, format = Date, example = "2026-03-06")]
    pub to: Option<String>,
    /// Sessions in between without a bar, at most 100 entries.
    #[schema(max_items = 100)]
    pub gaps: Vec<PreviewGap>,
    /// The sessions of the last 30 days that are played in intraday bars: those whose bars add up to the daily bar. Null without
    /// any. An alert on `vwap`, which daily bars do not have, is played in them alone.
    #[schema(required)]
    pub intraday: Option<PreviewIntraday>,
    /// A note about missing data. Present only for an alert with `session: extended`: the bars have no prices of extended
    /// hours, so the preview has firings of the regular session only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, example = "prices of extended hours are not stored, so only the regular session is played")]
    pub note: Option<&'static str>,
}

/// The sessions that are played in intraday bars.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreviewIntraday {
    /// First session.
    #[schema(format = Date, example = "2026-02-06")]
    pub from: String,
    /// Last session.
    #[schema(format = Date, example = "2026-03-06")]
    pub to: String,
    /// The number of these sessions.
    #[schema(minimum = 1, example = 20)]
    pub sessions: u64,
}

/// Consecutive sessions without a daily bar.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreviewGap {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// First session.
    #[schema(format = Date, example = "2024-03-07")]
    pub from: String,
    /// Last session.
    #[schema(format = Date, example = "2024-03-08")]
    pub to: String,
}

/// A warning: the alert fires too often.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreviewNoise {
    /// How often the alert fires.
    #[schema(example = "fires about 82 times a year, and up to 3 times in one session")]
    pub message: String,
    /// A change that helps.
    #[schema(example = "set options.repeat to once_per_day")]
    pub suggestion: String,
}

/// Metrics that never had a value. Comparisons with them were unknown.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnknownMetrics {
    /// The missing values.
    #[schema(example = "pe never had a value on these days")]
    pub message: String,
    /// The metrics.
    #[schema(min_items = 1, example = json!(["pe"]))]
    pub metrics: Vec<String>,
}

/// The condition can never be true: neither by the definitions of its metrics, nor with the metrics that have a value.
#[derive(Debug, Serialize, ToSchema)]
pub struct NeverTrue {
    /// The reasons in one sentence.
    #[schema(example = "can never be true: rsi(14) > 100 is impossible: rsi(14) is from 0 to 100")]
    pub message: String,
    /// One reason for each way in which the condition could be true.
    #[schema(min_items = 1, example = json!(["rsi(14) > 100 is impossible: rsi(14) is from 0 to 100"]))]
    pub reasons: Vec<String>,
}

/// The stock's performance 1, 5 and 20 sessions after the firings, from the close of the session of each firing, adjusted for
/// splits. The lists have one number for each entry of `sessions`; null if it is not known for any firing.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreviewPerformance {
    /// Numbers of sessions after the firing.
    #[schema(min_items = 3, max_items = 3, example = json!([1, 5, 20]))]
    pub sessions: Vec<u16>,
    /// Mean move of the stock in percent.
    #[schema(min_items = 3, max_items = 3, example = json!([0.4, 1.9, null]))]
    pub mean_pct: Vec<Option<f64>>,
    /// Mean move of the benchmark in percent.
    #[schema(min_items = 3, max_items = 3, example = json!([0.1, 0.4, null]))]
    pub benchmark_pct: Vec<Option<f64>>,
    /// Share of the firings, from 0 to 1, after which the stock had risen.
    #[schema(min_items = 3, max_items = 3, example = json!([0.5, 0.75, null]))]
    pub hit_rate: Vec<Option<f64>>,
}

impl AlertPreview {
    pub(crate) fn of(preview: Preview) -> Self {
        let Preview {
            firings,
            count,
            per_year,
            coverage,
            lacks_extended_hours,
            noise,
            unknown_metrics,
            never_true,
            outcome,
        } = preview;
        Self {
            firings: firings.into_iter().map(PreviewedFiring::of).collect(),
            count: u64::try_from(count).unwrap_or(u64::MAX),
            per_year: per_year.and_then(rounded),
            resolution: coverage.resolution.name(),
            unknown: UnknownMetrics::of(unknown_metrics, coverage.days.is_some()),
            coverage: PreviewCoverage::of(coverage, lacks_extended_hours.then_some(NO_EXTENDED_HOURS)),
            never_true: NeverTrue::of(never_true),
            noise: noise.map(PreviewNoise::of),
            outcome: PreviewPerformance::of(outcome),
        }
    }
}

impl PreviewNoise {
    fn of(noise: Noise) -> Self {
        Self {
            message: noise.message(),
            suggestion: noise.fix.suggestion(),
        }
    }
}

impl PreviewedFiring {
    fn of(firing: PreviewFiring) -> Self {
        Self {
            time: timestamp(firing.at),
            symbol: firing.symbol.to_string(),
            price: firing.price.map(price),
            reason: firing.reason,
        }
    }
}

impl PreviewIntraday {
    fn of(sessions: &BTreeSet<Date>) -> Option<Self> {
        let (from, to) = (sessions.first()?, sessions.last()?);
        Some(Self {
            from: date(*from),
            to: date(*to),
            sessions: u64::try_from(sessions.len()).unwrap_or(u64::MAX),
        })
    }
}

impl PreviewCoverage {
    fn of(coverage: HistoryCoverage, note: Option<&'static str>) -> Self {
        let HistoryCoverage {
            days, gaps, intraday, ..
        } = coverage;
        let (from, to) = days.unzip();
        let gaps = gaps.into_iter().map(|Gap { symbol, from, to }| PreviewGap {
            symbol: symbol.to_string(),
            from: date(from),
            to: date(to),
        });
        Self {
            from: from.map(date),
            to: to.map(date),
            gaps: gaps.collect(),
            intraday: PreviewIntraday::of(&intraday),
            note,
        }
    }
}

impl UnknownMetrics {
    fn of(metrics: Vec<String>, has_days: bool) -> Option<Self> {
        let message = match has_days {
            _ if metrics.is_empty() => return None,
            true => format!("{} never had a value on these days", metrics.join(", ")),
            false => "no day of the period has daily bars of all stocks of the alert".to_owned(),
        };
        Some(Self { message, metrics })
    }
}

impl NeverTrue {
    fn of(reasons: Vec<String>) -> Option<Self> {
        let message = format!("can never be true: {}", reasons.join("; "));
        (!reasons.is_empty()).then_some(Self { message, reasons })
    }
}

impl PreviewPerformance {
    fn of(outcome: PreviewOutcome) -> Self {
        let numbers = |values: [Option<f64>; 3]| values.map(|value| value.and_then(rounded)).into();
        Self {
            sessions: service::alerts::HORIZON_SESSIONS.into(),
            mean_pct: numbers(outcome.mean_pct),
            benchmark_pct: numbers(outcome.benchmark_pct),
            hit_rate: numbers(outcome.hit_rate),
        }
    }
}

/// Rounds a number to millionths.
fn rounded(number: f64) -> Option<f64> {
    Decimal::from_f64(number).ok().map(decimal)
}

/// Preview an alert
///
/// Plays an alert over the stored bars and returns its firings. The engine is that of the service, with all options of the
/// alert. Nothing is stored, and the alert is not created.
///
/// The alert counts as made on the first day, so `expires_at` and `snoozed_until` have no effect. An alert that fires once plays
/// as `each_time`. A condition that only compares consecutive days or facts, such as a golden cross, is armed again after the
/// session in which it fired.
///
/// The request is checked like a new alert: the same errors, and the same features of each plan. It does not count against the
/// limit of active alerts. An alert over many stocks (`scope`) is played on each of them, one on a watchlist on its present stocks.
/// A metric without stored history, such as `bid`, has no value; `unknown` names it. Prices of extended hours are not stored either;
/// `coverage.note` says so for an alert with `session: extended`.
#[utoipa::path(
    post,
    path = "/alerts/preview",
    tag = "Alerts",
    request_body(content = PreviewAlertRequest, description = "The alert, and the days to play"),
    responses(
        (status = 200, description = "The firings of the alert", body = Envelope<AlertPreview>),
        (status = 404, description = "Stock not found"),
        (status = 503, description = "Too many previews are running, or the service is not available"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn preview_alert(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<AlertPreview>, ApiError> {
    let preview = app.service().alerts.preview_alert(&caller.actor, &body).await?;
    Ok(ApiResponse::ok(AlertPreview::of(preview)))
}
