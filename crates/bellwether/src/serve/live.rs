//! Providers at work: what is watched is told to them, and how they are doing is told to whoever measures.

use std::sync::Arc;

use jiff::SignedDuration;
use jiff::civil::Date;
use market::{Calendar, Symbol};
use metrics::{counter, gauge};
use service::{Clock, Service};
use sources::Delivery;
use sources::freshness::Reason;
use sources::live::{self, Health, Memory, Seen};
use sources::provider::stream;
use tokio::sync::{mpsc, watch};

use crate::wiring::sources::Sources;

/// How often is looked who is watched.
const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(5);

/// Who is asked, for whom.
pub(super) struct Live {
    pub(super) sources: Sources,
    pub(super) calendar: Calendar,
    pub(super) benchmark: Symbol,
    pub(super) service: Service,
    pub(super) clock: Arc<dyn Clock>,
}

/// What the service knows.
struct Known(Service);

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known")
    }
}

impl Memory for Known {
    fn last_seen(&self, symbol: Symbol) -> Option<Seen> {
        let (price, at) = self.0.last_observation(symbol)?;
        Some(Seen { price, at })
    }

    fn last_bar(&self, symbol: Symbol) -> Option<Date> {
        self.0.last_bar(symbol)
    }
}

impl Live {
    /// Sends what becomes known until nobody receives any more.
    pub(super) async fn run(self, sender: mpsc::Sender<Delivery>) {
        let Self {
            sources,
            calendar,
            benchmark,
            service,
            clock,
        } = self;
        let options = live::Options {
            combination: Arc::new(sources.combination),
            setup: sources.setup,
            calendar,
            polling: sources.polling,
            limits: sources.limits,
            stream: sources.stream,
            nightly_at: sources.nightly_at,
            benchmark,
        };
        let (health, wanted) = (Health::default(), service.wanted());
        let (watched, receiver) = watch::channel(Arc::default());
        // Nothing can be made up for while nobody is known to watch anything.
        while !look(&service, &watched).await {
            let next = clock.now().saturating_add(LOOK_EVERY).unwrap_or_default();
            tokio::select! {
                () = clock.sleep_until(next) => {}
                () = sender.closed() => return,
            }
        }
        let memory = Arc::new(Known(service.clone()));
        let follow = async {
            loop {
                let next = clock.now().saturating_add(LOOK_EVERY).unwrap_or_default();
                clock.sleep_until(next).await;
                // If it could not be read, it is next time.
                let _ = look(&service, &watched).await;
                tell(&health);
            }
        };
        tokio::select! {
            () = live::run(options, receiver, wanted, memory, health.clone(), sender) => {}
            () = follow => {}
        }
    }
}

/// Looks who is watched now; false if that could not be read.
async fn look(service: &Service, watched: &watch::Sender<Arc<Vec<Symbol>>>) -> bool {
    let stocks = match service.watched_stocks().await {
        Ok(stocks) => stocks,
        Err(error) => {
            tracing::error!(%error, "which stocks are watched could not be read; those of before are asked for");
            return false;
        }
    };
    watched.send_if_modified(|known| {
        let is_new = **known != stocks;
        if is_new {
            *known = Arc::new(stocks);
        }
        is_new
    });
    true
}

/// Tells how the sources are doing.
fn tell(health: &Health) {
    let state = health.state();
    let quotes = &state.quotes;
    counter!("bellwether_feed_quotes_total", "outcome" => "passed").absolute(quotes.passed);
    for reason in Reason::ALL {
        counter!("bellwether_feed_quotes_total", "outcome" => reason.name()).absolute(quotes.of(reason));
    }
    counter!("bellwether_feed_unanswered_total").absolute(state.unanswered);
    counter!("bellwether_feed_gaps_filled_total").absolute(state.gaps_filled);
    counter!("bellwether_feed_gaps_given_up_total").absolute(state.gaps_given_up);
    // Far below 2⁵³.
    gauge!("bellwether_feed_gaps_open").set(state.gaps_open as f64);
    if let Some(stream) = state.stream {
        let is_live = stream.state == stream::State::Live;
        gauge!("bellwether_feed_stream_live").set(f64::from(u8::from(is_live)));
        counter!("bellwether_feed_stream_lost_total").absolute(stream.lost);
        counter!("bellwether_feed_conflated_total").absolute(stream.conflated);
    }
    if let Some(at) = state.polled_at {
        gauge!("bellwether_feed_polled_at_seconds").set(at.as_second() as f64);
    }
}
