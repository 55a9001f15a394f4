//! `GET /status/latency`

use jiff::SignedDuration;
use service::firings::{DelayPercentiles, NotificationLatency};

use crate::routes::prelude::*;

/// The delays of messages, from the quote to the acceptance.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NotificationLatency)]
pub struct LatencyView {
    /// The last hour.
    pub hour: DelayPercentilesView,
    /// The last 24 hours.
    pub day: DelayPercentilesView,
}

/// The percentiles of the delays of messages.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DelayPercentiles)]
pub struct DelayPercentilesView {
    /// The number of messages and deliveries.
    #[schema(minimum = 0, example = 42)]
    pub count: usize,
    /// Half of them took no longer, in milliseconds; null without messages.
    #[schema(required, example = 85.2)]
    pub p50_ms: Option<f64>,
    /// 95 % of them took no longer, in milliseconds; null without messages.
    #[schema(required, example = 240.1)]
    pub p95_ms: Option<f64>,
    /// 99 % of them took no longer, in milliseconds; null without messages.
    #[schema(required, example = 410.7)]
    pub p99_ms: Option<f64>,
}

impl LatencyView {
    fn of(latency: NotificationLatency) -> Self {
        Self {
            hour: DelayPercentilesView::of(latency.hour),
            day: DelayPercentilesView::of(latency.day),
        }
    }
}

impl DelayPercentilesView {
    fn of(delays: DelayPercentiles) -> Self {
        let millis = |delay: SignedDuration| delay.as_secs_f64() * 1_000.0;
        Self {
            count: delays.count,
            p50_ms: delays.p50.map(millis),
            p95_ms: delays.p95.map(millis),
            p99_ms: delays.p99.map(millis),
        }
    }
}

/// Get the delay of messages
///
/// Returns how long the account's messages about firings took, from the quote that made the alert fire until a receiver accepted the
/// message: emails, text messages, messages to services, and deliveries to webhooks. Messages that quiet hours held count, too.
#[utoipa::path(
    get,
    path = "/status/latency",
    tag = "Firings",
    responses((status = 200, description = "The delays", body = Envelope<LatencyView>)),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn get_latency(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
) -> Result<ApiResponse<LatencyView>, ApiError> {
    let latency = app.service().firings.latency(&caller.actor).await?;
    Ok(ApiResponse::ok(LatencyView::of(latency)))
}
