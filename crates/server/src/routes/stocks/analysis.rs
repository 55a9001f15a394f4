//! `GET /stocks/{symbol}/analysis`
//!
//! Server-sent events: the figures at once, the alerts when somebody has thought of them, which takes a language model its
//! time. What is wrong with the request is answered as everywhere else, before the stream begins; the limit on a request's
//! time is over once it has begun, so a slow model is bounded by `analyst.timeout` alone. If the server is told to stop, the
//! rules' alerts end the stream. If the client goes away, the stream is dropped, and the model's answer is not waited for.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt, StreamExt, stream};
use http::HeaderValue;
use service::Service;
use service::analyst::{Intention, Look};
use tracing::Instrument;
use utoipa::{IntoParams, OpenApi, ToSchema};

use super::analysis_events::{AnalysisDone, AnalysisFigures, AnalysisSummary, ProposedAlert, error, figures, rest};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::connection::Stopping;
use crate::document::names::IntentionName;
use crate::error::ApiError;
use crate::query::{Query, SymbolPath};

/// Proxies close what says nothing for a while, so it says that it is still there.
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_secs(10);

const MISSING: &str = "is required; give buy or sell";

const INTENTIONS: &[(&str, Intention)] = &[("buy", Intention::Buy), ("sell", Intention::Sell)];

/// What the analysis is for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct AnalysisParams {
    /// What you mean to do with the stock.
    #[param(value_type = IntentionName)]
    intention: String,
    /// The price at which you mean to do it, in dollars per today's share.
    #[param(minimum = 0.000_001, maximum = 1_000_000_000, example = 160.5)]
    target_price: Option<f64>,
}

/// An event of the stream.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the events; they are written as they come")]
pub struct AnalysisEvent {
    /// What it tells: `figures`, `alert`, `summary`, `done`, `error`.
    #[schema(example = "summary")]
    event: String,
    /// JSON text; `x-events` names the schema of each.
    #[schema(example = "{\"text\":\"AAPL is at 169.00, 9.0% below its 50-day average.\"}")]
    data: String,
}

/// The data of the events, for the document.
#[derive(Debug, OpenApi)]
#[openapi(components(schemas(
    AnalysisFigures,
    ProposedAlert,
    AnalysisSummary,
    AnalysisDone,
    crate::error::ErrorBody
)))]
pub(super) struct Events;

/// Stream a stock's analysis
///
/// What the stock's own history says, and two to five alerts that make sense for somebody who means to buy or to sell it,
/// within what the plan has room for. Nothing is created; send an alert's `body` to `POST /alerts` if you want it.
///
/// The answer is a stream of server-sent events, each with one line of JSON as its data, in this order: `figures` at once, then
/// an `alert` for each that is proposed, `summary`, `done`. `x-events` names the schema of each. Where something goes wrong
/// after the stream has begun, an `error` ends it. Lines that begin with a colon are signs of life.
#[utoipa::path(
    get,
    path = "/stocks/{symbol}/analysis",
    tag = "Stocks",
    params(
        ("symbol" = String, Path, description = "The stock, in any case", pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL"),
        AnalysisParams
    ),
    responses(
        (
            status = 200,
            description = "The events",
            content_type = "text/event-stream",
            body = AnalysisEvent,
        ),
        (status = 404, description = "No such stock"),
        (status = 503, description = "No price of it is known yet"),
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
    who: Allowed<StocksRead>,
    SymbolPath(symbol): SymbolPath,
    stopping: Option<Extension<Stopping>>,
    mut query: Query,
) -> Result<Response, ApiError> {
    let target_price = query.price("target_price");
    let Some(intention) = query.word("intention", INTENTIONS) else {
        query.missing("intention", MISSING);
        query.finish()?;
        return Err(ApiError::field("intention", MISSING));
    };
    query.finish()?;
    let service = app.service();
    let wish = service
        .analysis
        .wish_of(&who.actor, symbol, intention, target_price)
        .await?;
    let look = service.analysis.look_at(wish).await?;
    let first = figures(&look)?;
    let stopping = stopping.map(|Extension(stopping)| stopping);
    let later = advised(service.clone(), look, stopping).instrument(tracing::Span::current());
    let events = stream::once(std::future::ready(first)).chain(stream::once(later).flat_map(stream::iter));
    let alive = KeepAlive::new().interval(SIGN_OF_LIFE_EVERY);
    let mut response = Sse::new(events.map(Ok::<_, Infallible>))
        .keep_alive(alive)
        .into_response();
    // What nginx would otherwise keep until there is enough of it.
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// The events after the figures.
async fn advised(service: Service, look: Look, stopping: Option<Stopping>) -> Vec<Event> {
    let stop = async {
        match stopping {
            Some(stopping) => stopping.0.cancelled().await,
            None => std::future::pending().await,
        }
    };
    let advised = AssertUnwindSafe(service.analysis.advise_on(look, stop))
        .catch_unwind()
        .await;
    let events = match advised {
        Ok(advised) => rest(&advised),
        Err(_) => Err(ApiError::internal("an analysis panicked")),
    };
    events.unwrap_or_else(|refused| vec![error(&refused)])
}
