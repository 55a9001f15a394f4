//! Server-sent events: shared parts of the streams of firings.
//!
//! An event has the position of its firing as its id. A client sends the last one as `Last-Event-ID`, and the stream continues there.

mod firing_feed;
mod open_streams;

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use tokio::time::{Interval, MissedTickBehavior, interval};

pub(crate) use firing_feed::FiringFeed;
pub(crate) use open_streams::{OpenStream, OpenStreams};

use crate::auth::same_origin::SEC_FETCH_SITE;
use crate::error::{ApiError, ApiErrorCode};
use crate::query::Query;

/// The header by which a client continues a broken stream.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The largest number of digits of a position.
const MAX_POSITION_CHARS: usize = 19;
/// The time after which a silent stream sends a comment, so that proxies keep it open.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Refuses a stream that another site opens with the visitor's cookie: it could not read it, but it could keep connections open.
pub(crate) fn refuse_other_sites(headers: &HeaderMap) -> Result<(), ApiError> {
    let site = headers.get(SEC_FETCH_SITE);
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        let message = "another site cannot open this stream with a session cookie; use an API key, or the dashboard";
        return Err(ApiError::new(ApiErrorCode::Forbidden, message));
    }
    Ok(())
}

/// Reads the position after which a stream starts: that of the last event, otherwise the parameter `after`.
pub(crate) fn position(headers: &HeaderMap, query: &mut Query) -> Option<i64> {
    let after = query.text("after", MAX_POSITION_CHARS);
    let (name, text) = match headers.get(LAST_EVENT_ID) {
        Some(value) => ("Last-Event-ID", value.to_str().unwrap_or_default()),
        None => ("after", after.as_deref()?),
    };
    let position = text.parse().ok().filter(|position| *position >= 0);
    if position.is_none() {
        query.reject(name, "must be a position of an event");
    }
    position
}

/// Returns the response with the events of a stream.
pub(crate) fn response(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE_INTERVAL);
    let mut response = Sse::new(events.map(Ok::<_, Infallible>))
        .keep_alive(keep_alive)
        .into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Disables response buffering in nginx.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Returns the ticks of a stream. The first is at once. Missed ticks are skipped.
pub(crate) fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
