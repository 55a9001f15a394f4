//! `GET /app/events`: the live events of an account, as server-sent events.
//!
//! | event | id | data |
//! |---|---|---|
//! | `alert.triggered` | its position | `alert_id`, `symbol`, `price`, `reason` |
//! | `quotes` | none | a list of `symbol`, `price`, `change_percent`, `at` |
//!
//! The position continues a broken stream: `Last-Event-ID`, or at first `after`, the position of the page. So nothing falls between
//! the rendering of a page and its stream.

mod stream;

use std::time::Duration;

use axum::extract::Extension;
use axum::response::sse::{KeepAlive, Sse};
use foundation::{Actor, ServiceError};
use http::HeaderName;
use market::Symbol;

use self::stream::EventStream;
use crate::auth::same_origin::SEC_FETCH_SITE;
use crate::connection::shutdown_signal::ShutdownSignal;
use crate::error::ApiErrorCode;
use crate::query::SYMBOL_ERROR;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::pages::link;
use crate::routes::pages::session::signed_in_actor;
use crate::routes::prelude::*;

/// The header by which a browser continues a broken stream.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The largest number of stocks whose quotes a stream has.
const MAX_SYMBOLS: usize = 100;

/// The largest number of digits of a position.
const MAX_POSITION_CHARS: usize = 20;
/// The time after which a silent stream sends a comment, so that no proxy takes it for dead.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Streams the account's firings and the quotes of stocks.
pub(super) async fn stream_events(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    shutdown: Option<Extension<ShutdownSignal>>,
    query: Query,
) -> Response {
    if let Some(refusal) = link::rate_limit_page(&app, address, RateLimitGroup::Pages).await {
        return refusal;
    }
    let stream = match open_stream(app, headers, query).await {
        Ok(stream) => stream,
        Err(error) => return error.into_response(),
    };
    let stop = shutdown.map(|Extension(ShutdownSignal(stop))| stop);
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE_INTERVAL);
    let mut response = Sse::new(stream.events(stop)).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Disables response buffering in nginx.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

async fn open_stream(app: App, headers: HeaderMap, mut query: Query) -> Result<EventStream, ApiError> {
    // Another site cannot read the stream, but it could keep connections open with the visitor's cookie.
    let site = headers.get(SEC_FETCH_SITE);
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(ApiError::new(
            ApiErrorCode::Forbidden,
            "open the stream from the dashboard",
        ));
    }
    let actor: Option<Actor> = signed_in_actor(&app, &headers).await?;
    let actor = actor.ok_or_else(|| ServiceError::Unauthenticated("sign in to receive events".to_owned()))?;
    let symbols = query.list("symbols", MAX_SYMBOLS, SYMBOL_ERROR, |text| text.parse::<Symbol>().ok());
    let place = query.text("after", MAX_POSITION_CHARS);
    query.finish()?;
    let last = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok());
    let after = match last.or(place.as_deref()) {
        Some(text) => Some(
            text.parse()
                .map_err(|_| ApiError::field("after", "must be a position of an event"))?,
        ),
        None => None,
    };
    Ok(EventStream::new(app, headers, actor, after, symbols.unwrap_or_default()).await?)
}
