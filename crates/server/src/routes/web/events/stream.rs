//! The events of one stream.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::Event;
use foundation::{Actor, ServiceError};
use futures_util::{Stream, StreamExt, stream};
use jiff::Timestamp;
use market::{Price, Symbol};
use serde_json::json;
use service::alerts::StoredEvent;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::routes::pages::session::signed_in_actor;
use crate::routes::prelude::*;
use crate::routes::stocks::quotes::QuoteResponse;

/// The time between two reads of the quotes: a stream has at most one event per stock in it.
const QUOTE_INTERVAL: Duration = Duration::from_secs(1);
/// The time between two checks of the session while there is nothing to send. The stream ends within 3 seconds of the sign-out.
const SESSION_INTERVAL: Duration = Duration::from_secs(2);
/// The time after which the stocks are noted as read again, so that their source keeps asking for them.
const INTEREST_INTERVAL: Duration = Duration::from_secs(60);
/// The largest number of firings read at once.
const MAX_FIRINGS: u32 = 100;

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
    /// The position of the last firing that was sent, or of the page.
    position: i64,
    positions: watch::Receiver<i64>,
    symbols: Vec<Symbol>,
    /// The prices that were sent.
    sent_quotes: BTreeMap<Symbol, (Price, Timestamp)>,
    ready: VecDeque<Event>,
    /// Whether the last check of the session or the last read of the firings failed.
    has_failed: bool,
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
        let position = match after {
            Some(after) => after,
            None => app.service().alerts.event_position().await?,
        };
        let mut positions = app.history_watch().subscribe(app.service());
        // The history may have grown since the page was rendered.
        positions.mark_changed();
        Ok(Self {
            app,
            headers,
            actor,
            position,
            positions,
            symbols,
            sent_quotes: BTreeMap::new(),
            ready: VecDeque::new(),
            has_failed: false,
            quotes: ticks(QUOTE_INTERVAL),
            interest: ticks(INTEREST_INTERVAL),
            session: ticks(SESSION_INTERVAL),
        })
    }

    /// Returns the events. They end with the session, and when the server stops.
    pub(super) fn events(self, stop: Option<CancellationToken>) -> impl Stream<Item = Result<Event, Infallible>> {
        let stop = stop.unwrap_or_default();
        let events = stream::unfold((self, stop), |(mut events, stop)| async move {
            let event = events.next(&stop).await?;
            Some((Ok(event), (events, stop)))
        });
        // A browser learns that the stream is open before the first event.
        stream::once(std::future::ready(Ok(Event::default().comment("open")))).chain(events)
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
                    self.has_failed = true;
                    continue;
                }
            }
            match wake {
                Wake::History => self.read_firings().await,
                Wake::Quotes => self.read_quotes(),
                Wake::Interest => drop(self.app.service().stocks.quotes(&self.symbols).await),
                Wake::Session => {
                    if std::mem::take(&mut self.has_failed) {
                        self.positions.mark_changed();
                    }
                }
                Wake::Stop => return None,
            }
        }
    }

    async fn wait(&mut self, stop: &CancellationToken) -> Wake {
        let has_symbols = !self.symbols.is_empty();
        tokio::select! {
            () = stop.cancelled() => Wake::Stop,
            changed = self.positions.changed() => if changed.is_ok() { Wake::History } else { Wake::Stop },
            _ = self.session.tick() => Wake::Session,
            _ = self.interest.tick(), if has_symbols => Wake::Interest,
            _ = self.quotes.tick(), if has_symbols => Wake::Quotes,
        }
    }

    async fn read_firings(&mut self) {
        let alerts = &self.app.service().alerts;
        match alerts.events_after(&self.actor, self.position, MAX_FIRINGS).await {
            Ok(found) => {
                if found.len() == usize::try_from(MAX_FIRINGS).unwrap_or(usize::MAX) {
                    self.positions.mark_changed();
                }
                for stored in found {
                    self.position = stored.seq;
                    self.ready.push_back(firing(&stored));
                }
            }
            // The position stays, so a later read finds the firings.
            Err(error) => {
                tracing::debug!(%error, "cannot read the firings of an event stream");
                self.has_failed = true;
            }
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

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
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
