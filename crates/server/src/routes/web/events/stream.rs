//! The events of one stream.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::Event;
use foundation::{Actor, ServiceError};
use futures_util::{Stream, StreamExt, stream};
use jiff::Timestamp;
use market::{Price, Symbol};
use serde_json::json;
use service::alerts::StoredEvent;
use tokio::time::Interval;
use tokio_util::sync::CancellationToken;

use crate::event_stream::{FiringFeed, ticks};
use crate::routes::pages::session::signed_in_actor;
use crate::routes::prelude::*;
use crate::routes::stocks::quotes::QuoteResponse;

/// The time between two reads of the quotes: a stream has at most one event per stock in it.
const QUOTE_INTERVAL: Duration = Duration::from_secs(1);
/// The time between two checks of the session while there is nothing to send. The stream ends within 3 seconds of the sign-out.
const SESSION_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// The time after which the stocks are noted as read again, so that their source keeps asking for them.
const INTEREST_INTERVAL: Duration = Duration::from_secs(60);

/// An occasion for which a stream waits.
enum Wake {
    /// The history has grown.
    History,
    /// The quotes are due.
    Quotes,
    /// The stocks are noted as read.
    Interest,
    /// The session is checked.
    Session,
    /// The server stops.
    Stop,
}

/// The stream of one browser.
pub(super) struct EventStream {
    app: App,
    /// The headers of the request, with the session.
    headers: HeaderMap,
    actor: Actor,
    firings: FiringFeed,
    symbols: Vec<Symbol>,
    /// The prices that were sent.
    sent_quotes: BTreeMap<Symbol, (Price, Timestamp)>,
    ready: VecDeque<Event>,
    quotes: Interval,
    interest: Interval,
    session: Interval,
}

impl EventStream {
    /// Creates a stream of the events after a position; `None` is the present one.
    pub(super) async fn new(
        app: App,
        headers: HeaderMap,
        actor: Actor,
        after: Option<i64>,
        symbols: Vec<Symbol>,
    ) -> Result<Self, ServiceError> {
        let firings = FiringFeed::new(app.clone(), Arc::new(actor.clone()), after).await?;
        Ok(Self {
            app,
            headers,
            actor,
            firings,
            symbols,
            sent_quotes: BTreeMap::new(),
            ready: VecDeque::new(),
            quotes: ticks(QUOTE_INTERVAL),
            interest: ticks(INTEREST_INTERVAL),
            session: ticks(SESSION_CHECK_INTERVAL),
        })
    }

    /// Returns the events. They end with the session, and when the server stops.
    pub(super) fn events(self, stop: Option<CancellationToken>) -> impl Stream<Item = Event> {
        let stop = stop.unwrap_or_default();
        let events = stream::unfold((self, stop), |(mut events, stop)| async move {
            let event = events.next(&stop).await?;
            Some((event, (events, stop)))
        });
        // A browser learns that the stream is open before the first event.
        stream::once(std::future::ready(Event::default().comment("open"))).chain(events)
    }

    async fn next(&mut self, stop: &CancellationToken) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let wake = self.wait(stop).await;
            if matches!(wake, Wake::Stop) {
                return None;
            }
            // Each time, so that nothing is sent after the session has ended.
            match signed_in_actor(&self.app, &self.headers).await {
                Ok(Some(actor)) if actor.account == self.actor.account => {}
                Ok(_) => return None,
                // If the database fails, the next check decides.
                Err(error) => {
                    tracing::debug!(%error, "cannot check the session of an event stream");
                    self.firings.schedule_retry();
                    continue;
                }
            }
            match wake {
                Wake::History => match self.firings.read().await {
                    Ok(page) => {
                        self.ready.extend(page.events.iter().map(firing));
                        self.firings.advance(&page);
                    }
                    Err(error) => {
                        tracing::debug!(%error, "cannot read the firings of an event stream");
                        self.firings.schedule_retry();
                    }
                },
                Wake::Quotes => self.read_quotes(),
                Wake::Interest => drop(self.app.service().stocks.quotes(&self.symbols).await),
                Wake::Session => self.firings.retry_if_scheduled(),
                Wake::Stop => return None,
            }
        }
    }

    async fn wait(&mut self, stop: &CancellationToken) -> Wake {
        let has_symbols = !self.symbols.is_empty();
        tokio::select! {
            () = stop.cancelled() => Wake::Stop,
            changed = self.firings.changed() => if changed { Wake::History } else { Wake::Stop },
            _ = self.session.tick() => Wake::Session,
            _ = self.interest.tick(), if has_symbols => Wake::Interest,
            _ = self.quotes.tick(), if has_symbols => Wake::Quotes,
        }
    }

    fn read_quotes(&mut self) {
        let figures = self.app.service().stocks.figures();
        for &symbol in &self.symbols {
            let quote = figures.quote(symbol);
            let Some(observed) = quote.price.zip(quote.at) else {
                continue;
            };
            if self.sent_quotes.insert(symbol, observed) != Some(observed) {
                let data = json!(QuoteResponse::of(quote));
                self.ready
                    .push_back(Event::default().event("quote").data(data.to_string()));
            }
        }
    }
}

/// Returns the event of a firing.
fn firing(stored: &StoredEvent) -> Event {
    let stock = |name: &str| stored.data.get("stock").and_then(|stock| stock.get(name));
    let data = json!({
        "alert_id": stored.alert.0,
        "symbol": stock("symbol"),
        "price": stock("price"),
        "reason": stored.data.get("reason"),
    });
    Event::default()
        .id(stored.seq.to_string())
        .event("alert.triggered")
        .data(data.to_string())
}
