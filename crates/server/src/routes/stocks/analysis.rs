//! `GET /stocks/{symbol}/analysis`
//!
//! Server-sent events: the figures immediately, the proposed alerts when the analysis is complete, which can take a while with
//! a language model. Request errors are returned as usual before the stream starts. The request timeout ends when the stream
//! starts; after that only `analyst.timeout` limits a slow model. On server shutdown, the stream ends with the alerts of the
//! rules. If the client disconnects, the stream is dropped and the model's response is discarded.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::Extension;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{FutureExt, StreamExt, stream};
use service::Service;
use tracing::Instrument;
use utoipa::OpenApi;
use watchlist::analyst::{Intention, RuleAnalysis};

use super::analysis_events::{
    AnalysisDone, AnalysisFigures, AnalysisSummary, ProposedAlert, error, events_after_figures, figures,
};
use crate::connection::shutdown_signal::ShutdownSignal;
use crate::document::names::IntentionName;
use crate::routes::prelude::*;

/// Interval of keep-alive comments. Proxies close connections that are silent for too long.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);

const INTENTION_REQUIRED: &str = "is required; send buy or sell";

const INTENTIONS: &[(&str, Intention)] = &[("buy", Intention::Buy), ("sell", Intention::Sell)];

/// Query parameters: intention and target price.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct AnalysisParams {
    /// Whether you intend to buy or sell the stock.
    #[param(value_type = IntentionName)]
    intention: String,
    /// Target price in US dollars per share, adjusted for splits.
    #[param(minimum = 0.000_001, maximum = 1_000_000_000, example = 160.5)]
    target_price: Option<f64>,
}

/// A server-sent event of the stream.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the events; they are written as they come")]
pub struct AnalysisEvent {
    /// Event type: `figures`, `alert`, `summary`, `done`, `error`.
    #[schema(example = "summary")]
    event: String,
    /// JSON text; `x-events` contains the schema of each event type.
    #[schema(example = "{\"text\":\"AAPL is at 169.00, 9.0% below its 50-day average.\"}")]
    data: String,
}

/// Schemas of the event data for the OpenAPI document.
#[derive(Debug, OpenApi)]
#[openapi(components(schemas(
    AnalysisFigures,
    ProposedAlert,
    AnalysisSummary,
    AnalysisDone,
    crate::error::ErrorBody
)))]
pub(super) struct AnalysisEventSchemas;

/// Stream a stock's analysis
///
/// Returns figures from the stock's price history and two to five proposed alerts for buying or selling it, within the plan's
/// limits. Nothing is created; send an alert's `body` to `POST /alerts` to create it.
///
/// The response is a stream of server-sent events, each with one line of JSON data, in this order: `figures` immediately, then
/// one `alert` per proposed alert, `summary`, `done`. `x-events` contains the schema of each event type. An error after the stream
/// has started is sent as a final `error` event. Lines that begin with a colon are keep-alive comments.
#[utoipa::path(
    get,
    path = "/stocks/{symbol}/analysis",
    tag = "Stocks",
    params(
        ("symbol" = String, Path, description = "Stock symbol (case-insensitive)", pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL"),
        AnalysisParams
    ),
    responses(
        (
            status = 200,
            description = "The event stream",
            content_type = "text/event-stream",
            body = AnalysisEvent,
        ),
        (status = 404, description = "Stock not found"),
        (status = 503, description = "No price of the stock is known yet"),
    ),
    extensions(("x-events" = json!({
        "figures": {"$ref": "#/components/schemas/AnalysisFigures"},
        "alert": {"$ref": "#/components/schemas/ProposedAlert"},
        "summary": {"$ref": "#/components/schemas/AnalysisSummary"},
        "done": {"$ref": "#/components/schemas/AnalysisDone"},
        "error": {"$ref": "#/components/schemas/ErrorBody"},
    }))),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn stream_analysis(
    State(app): State<App>,
    caller: Authorized<StocksRead>,
    SymbolPath(symbol): SymbolPath,
    shutdown: Option<Extension<ShutdownSignal>>,
    mut query: Query,
) -> Result<Response, ApiError> {
    let target_price = query.price("target_price");
    let Some(intention) = query.choice("intention", INTENTIONS) else {
        query.missing("intention", INTENTION_REQUIRED);
        query.finish()?;
        return Err(ApiError::field("intention", INTENTION_REQUIRED));
    };
    query.finish()?;
    let service = app.service();
    let request = service
        .analysis
        .request_for(&caller.actor, symbol, intention, target_price)
        .await?;
    let analysis = service.analysis.analyze_by_rules(request).await?;
    let first = figures(&analysis)?;
    let shutdown = shutdown.map(|Extension(shutdown)| shutdown);
    let later = remaining_events(service.clone(), analysis, shutdown).instrument(tracing::Span::current());
    let events = stream::once(std::future::ready(first)).chain(stream::once(later).flat_map(stream::iter));
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE_INTERVAL);
    let mut response = Sse::new(events.map(Ok::<_, Infallible>))
        .keep_alive(keep_alive)
        .into_response();
    // Disables response buffering in nginx.
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Runs the analysis and returns the events after the figures.
async fn remaining_events(service: Service, analysis: RuleAnalysis, shutdown: Option<ShutdownSignal>) -> Vec<Event> {
    let stop = async {
        match shutdown {
            Some(shutdown) => shutdown.0.cancelled().await,
            None => std::future::pending().await,
        }
    };
    let advised = AssertUnwindSafe(service.analysis.advise_on(analysis, stop))
        .catch_unwind()
        .await;
    let events = match advised {
        Ok(advised) => events_after_figures(&advised),
        Err(_) => Err(ApiError::internal("an analysis panicked")),
    };
    events.unwrap_or_else(|refused| vec![error(&refused)])
}
