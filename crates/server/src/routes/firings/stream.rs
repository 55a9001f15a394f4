//! `GET /firings/stream`: the firings of an account as they are written, as server-sent events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Extension;
use axum::response::sse::Event;
use foundation::{Actor, Scope, ServiceError};
use futures_util::{FutureExt, Stream, stream};
use http::Method;
use serde_json::{Value, json};
use service::alerts::HistoryPosition;
use tokio::time::Interval;
use tokio_util::sync::CancellationToken;
use utoipa::OpenApi;

use super::view::FiringView;
use crate::auth::credentials::{CREDENTIAL_HEADERS, header_credential};
use crate::auth::{self, Credentials, Identity};
use crate::connection::shutdown_signal::ShutdownSignal;
use crate::error::ApiErrorCode;
use crate::event_stream::{self, FiringFeed, OpenStream, ticks};
use crate::routes::prelude::*;

/// The time between two checks of the credentials while there is nothing to send.
const CREDENTIALS_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The time after which a client that has too many streams may try again, in seconds.
const RETRY_AFTER_S: u64 = 10;

/// Query parameters: the start.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct FiringStreamParams {
    /// The id of the event after which the stream starts; default: the present. `Last-Event-ID` takes precedence.
    #[param(minimum = 0, example = 1_204)]
    after: Option<i64>,
}

/// A server-sent event of the stream.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the events; they are written as they come")]
pub struct FiringEvent {
    /// Event type: `open`, `firing`.
    #[schema(example = "firing")]
    event: String,
    /// The position after which a new stream continues.
    #[schema(example = "1205")]
    id: String,
    /// JSON text; `x-events` contains the schema of each event type.
    data: String,
}

/// The start of a stream.
#[derive(Debug, Serialize, ToSchema)]
pub struct FiringStreamOpen {
    /// The position after which the firings of this stream come.
    #[schema(example = 1_204)]
    position: i64,
}

/// Schemas of the event data for the OpenAPI document.
#[derive(Debug, OpenApi)]
#[openapi(components(schemas(FiringStreamOpen, FiringView)))]
pub(in crate::routes) struct FiringEventSchemas;

/// Stream firings
///
/// Sends the firings of all alerts when they are written, as server-sent events, each with one line of JSON data: `open` at once, then a
/// `firing` for each firing, oldest first. `x-events` contains the schema of each event type. Lines that begin with a colon are
/// keep-alive comments.
///
/// The `id` of an event is its position. To continue a broken stream without loss or repetition, send the last id as `Last-Event-ID`.
/// The stream ends when the credentials are no longer valid, and when the server stops. An account has at most 20 streams at the same
/// time on each process.
#[utoipa::path(
    get,
    path = "/firings/stream",
    tag = "Firings",
    params(
        FiringStreamParams,
        ("Last-Event-ID" = Option<i64>, Header, description = "The id of the last event that was received", minimum = 0)
    ),
    responses(
        (
            status = 200,
            description = "The event stream",
            content_type = "text/event-stream",
            body = FiringEvent,
        ),
        (status = 429, description = "Too many requests, or too many streams"),
    ),
    extensions(("x-events" = json!({
        "open": {"$ref": "#/components/schemas/FiringStreamOpen"},
        "firing": {"$ref": "#/components/schemas/Firing"},
    }))),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn stream_firings(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    headers: HeaderMap,
    shutdown: Option<Extension<ShutdownSignal>>,
    mut query: Query,
) -> Result<Response, ApiError> {
    let after = event_stream::position(&headers, &mut query);
    query.finish()?;
    if header_credential(&headers)?.is_none() {
        event_stream::refuse_other_sites(&headers)?;
    }
    if let Some(after) = after
        && after > app.service().alerts.last_event_position().await?
    {
        let message =
            "is ahead of the history of this service, which may have been restored from a backup; start without it";
        return Err(ApiError::field("after", message));
    }
    let open = app.open_streams().open(caller.actor.account).ok_or_else(|| {
        ApiError::new(
            ApiErrorCode::RateLimited,
            "this account has too many open streams; close one, and try again",
        )
        .retry_after(RETRY_AFTER_S)
    })?;
    let stream = FiringStream {
        firings: FiringFeed::new(app.clone(), Arc::clone(&caller.actor), after).await?,
        app,
        headers: credential_headers(&headers),
        actor: caller.actor,
        credentials: ticks(CREDENTIALS_CHECK_INTERVAL),
        ready: VecDeque::new(),
        _open: open,
    };
    let stop = shutdown.map(|Extension(ShutdownSignal(stop))| stop);
    Ok(event_stream::response(stream.events(stop.unwrap_or_default())))
}

/// The stream of one client.
struct FiringStream {
    app: App,
    /// The headers of the request that have credentials.
    headers: HeaderMap,
    actor: Arc<Actor>,
    firings: FiringFeed,
    credentials: Interval,
    ready: VecDeque<Event>,
    _open: OpenStream,
}

impl FiringStream {
    fn events(mut self, stop: CancellationToken) -> impl Stream<Item = Event> {
        let position = self.firings.position();
        let open = FiringStreamOpen { position };
        self.ready.push_back(event("open", position, &json!(open)));
        stream::unfold((self, stop), |(mut stream, stop)| async move {
            let event = stream.next(&stop).await?;
            Some((event, (stream, stop)))
        })
    }

    /// Returns the next event; `None` at the end.
    async fn next(&mut self, stop: &CancellationToken) -> Option<Event> {
        loop {
            // A slow client may read the events long after they were ready.
            let is_check_due = self.credentials.tick().now_or_never().is_some();
            if is_check_due && !self.is_allowed(stop).await {
                return None;
            }
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let has_changed = tokio::select! {
                () = stop.cancelled() => return None,
                has_changed = self.firings.changed() => if has_changed { true } else { return None },
                _ = self.credentials.tick() => false,
            };
            // Nothing is sent after the credentials were revoked.
            if !self.is_allowed(stop).await {
                return None;
            }
            if !has_changed {
                self.firings.retry_if_scheduled();
            } else if let Err(error) = self.read_firings().await {
                tracing::debug!(%error, "cannot read the firings of an event stream");
                self.firings.schedule_retry();
            }
        }
    }

    async fn read_firings(&mut self) -> Result<(), ServiceError> {
        let page = self.firings.read().await?;
        let positions: Vec<_> = page.events.iter().map(|event| HistoryPosition(event.seq)).collect();
        if !positions.is_empty() {
            let mut found = self.app.service().firings.firings_at(&self.actor, &positions).await?;
            for position in positions {
                // A firing that was deleted with its account is left out.
                if let Some(firing) = found.remove(&position) {
                    let data = json!(FiringView::of(firing));
                    self.ready.push_back(event("firing", position.0, &data));
                }
            }
        }
        self.firings.advance(&page);
        Ok(())
    }

    /// Returns whether the credentials of the request are still valid, as soon as the database tells.
    async fn is_allowed(&mut self, stop: &CancellationToken) -> bool {
        loop {
            match self.check_credentials().await {
                Ok(is_allowed) => return is_allowed,
                Err(error) => tracing::debug!(?error, "cannot check the credentials of an event stream"),
            }
            tokio::select! {
                () = stop.cancelled() => return false,
                _ = self.credentials.tick() => {}
            }
        }
    }

    async fn check_credentials(&self) -> Result<bool, ApiError> {
        let credentials = Credentials::from_headers(&self.headers, SessionCookie::of(self.app.service()))?;
        match auth::identify(&self.app, &Method::GET, &self.headers, credentials).await {
            Identity::Authenticated(actor) => {
                Ok(actor.account == self.actor.account && actor.require(Scope::AlertsRead).is_ok())
            }
            Identity::Failed(error) => Err(error),
            Identity::Anonymous | Identity::Scheduler | Identity::Rejected(_) => Ok(false),
        }
    }
}

/// Returns the headers that have credentials.
fn credential_headers(headers: &HeaderMap) -> HeaderMap {
    let credentials = headers.iter().filter(|(name, _)| CREDENTIAL_HEADERS.contains(name));
    credentials.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn event(name: &str, position: i64, data: &Value) -> Event {
    Event::default()
        .event(name)
        .id(position.to_string())
        .data(alerts::json::text(data))
}
