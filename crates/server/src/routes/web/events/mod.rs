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

use axum::extract::Extension;
use foundation::{Actor, ServiceError};
use market::Symbol;

use self::stream::EventStream;
use crate::connection::shutdown_signal::ShutdownSignal;
use crate::event_stream;
use crate::query::SYMBOL_ERROR;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::pages::link;
use crate::routes::pages::session::signed_in_actor;
use crate::routes::prelude::*;

/// The largest number of stocks whose quotes a stream has.
const MAX_SYMBOLS: usize = 100;

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
    event_stream::response(stream.events(stop))
}

async fn open_stream(app: App, headers: HeaderMap, mut query: Query) -> Result<EventStream, ApiError> {
    event_stream::refuse_other_sites(&headers)?;
    let actor: Option<Actor> = signed_in_actor(&app, &headers).await?;
    let actor = actor.ok_or_else(|| ServiceError::Unauthenticated("sign in to receive events".to_owned()))?;
    let symbols = query.list("symbols", MAX_SYMBOLS, SYMBOL_ERROR, |text| text.parse::<Symbol>().ok());
    let after = event_stream::position(&headers, &mut query);
    query.finish()?;
    Ok(EventStream::new(app, headers, actor, after, symbols.unwrap_or_default()).await?)
}
