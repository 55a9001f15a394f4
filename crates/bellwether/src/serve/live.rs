//! Providers at work: what is watched is told to them, and how they are doing is told to whoever measures.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, Price, Symbol};
use metrics::{counter, gauge};
use service::{Clock, Service};
use sources::Delivery;
use sources::freshness::Reason;
use sources::live::{self, Demand, Health, Memory, PriceRequest, Seen};
use sources::provider::stream;
use tokio::sync::{mpsc, watch};

use crate::wiring::sources::Sources;

/// How often is looked who is watched.
const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(5);
/// The interval of reading the stocks whose alerts are not judged at present, a query over all alerts.
const READ_INACTIVE_EVERY: SignedDuration = SignedDuration::from_mins(10);

/// Who is asked, for whom.
pub(super) struct Live {
    pub(super) sources: Sources,
    pub(super) calendar: Calendar,
    pub(super) benchmark: Symbol,
    pub(super) service: Service,
    pub(super) clock: Arc<dyn Clock>,
    /// The service's requests for single prices.
    pub(super) requests: mpsc::Receiver<PriceRequest>,
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
        let (price, at) = self.0.market_intake.last_observation(symbol)?;
        Some(Seen { price, at })
    }

    fn last_bar(&self, symbol: Symbol) -> Option<Date> {
        self.0.market_intake.last_bar(symbol)
    }

    fn is_listed(&self, symbol: Symbol) -> bool {
        self.0.prices.is_listed(symbol)
    }

    fn reference_price(&self, symbol: Symbol) -> Option<Price> {
        let known = [
            self.0.market_intake.last_observation(symbol),
            self.0.market.last_close(symbol),
        ];
        let latest = known.into_iter().flatten().max_by_key(|&(_, at)| at);
        latest.map(|(price, _)| price)
    }

    fn average_volume(&self, symbol: Symbol) -> Option<i64> {
        self.0.market.average_volume(symbol)
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
            requests,
        } = self;
        let (splits_only, splits_only_receiver) = watch::channel(Arc::default());
        let options = live::Options {
            combination: Arc::new(sources.combination),
            setup: sources.setup,
            calendar,
            polling: sources.polling,
            limits: sources.limits,
            stream: sources.stream,
            nightly_at: sources.nightly_at,
            benchmark,
            splits_only: splits_only_receiver,
        };
        let (health, wanted) = (Health::default(), service.market_intake.wanted());
        let (watched, receiver) = watch::channel(Arc::default());
        // Nothing can be made up for while nobody is known to watch anything.
        let mut stocks = loop {
            if let Some(stocks) = look(&service, &watched).await {
                break stocks;
            }
            tokio::select! {
                () = clock.sleep_until(next_look(&*clock)) => {}
                () = sender.closed() => return,
            }
        };
        let demand = Demand {
            watched: receiver,
            wanted,
            requests,
        };
        let mut interest = service.prices.interest_changes();
        let memory = Arc::new(Known(service.clone()));
        let follow = async {
            let mut read_inactive_at: Option<Timestamp> = None;
            // Kept over the turns of the loop: changes of interest, however often they come, do not postpone the look.
            let mut next = next_look(&*clock);
            loop {
                let now = clock.now();
                // `abs`, so that a clock that is set back does not postpone the reading.
                if read_inactive_at.is_none_or(|at| now.duration_since(at).abs() >= READ_INACTIVE_EVERY) {
                    read_inactive(&service, &splits_only).await;
                    read_inactive_at = Some(now);
                }
                tokio::select! {
                    biased;
                    () = clock.sleep_until(next) => {
                        // After an error it is read at the next interval.
                        if let Some(found) = look(&service, &watched).await {
                            stocks = found;
                        }
                        tell(&health);
                        next = next_look(&*clock);
                    }
                    // The service lives as long as this.
                    Ok(()) = interest.changed() => add_interest(&service, &stocks, &watched),
                }
            }
        };
        tokio::select! {
            () = live::run(options, demand, memory, health.clone(), sender) => {}
            () = follow => {}
        }
    }
}

fn next_look(clock: &dyn Clock) -> Timestamp {
    clock.now().saturating_add(LOOK_EVERY).unwrap_or_default()
}

/// Publishes the stocks that are watched now, and returns them; `None` if they could not be read.
async fn look(service: &Service, watched: &watch::Sender<Arc<Vec<Symbol>>>) -> Option<Vec<Symbol>> {
    let stocks = match service.market_intake.watched_stocks().await {
        Ok(stocks) => stocks,
        Err(error) => {
            tracing::error!(%error, "which stocks are watched could not be read; those of before are asked for");
            return None;
        }
    };
    publish(&stocks, watched);
    Some(stocks)
}

/// Publishes the stocks of the last [`look`] with those that have become of interest since.
fn add_interest(service: &Service, stocks: &[Symbol], watched: &watch::Sender<Arc<Vec<Symbol>>>) {
    let mut stocks = stocks.to_vec();
    service.market_intake.add_stocks_of_interest(&mut stocks);
    publish(&stocks, watched);
}

fn publish(stocks: &[Symbol], watched: &watch::Sender<Arc<Vec<Symbol>>>) {
    watched.send_if_modified(|known| {
        let is_new = known.as_slice() != stocks;
        if is_new {
            *known = Arc::new(stocks.to_vec());
        }
        is_new
    });
}

/// Reads the stocks whose alerts are not judged at present.
async fn read_inactive(service: &Service, splits_only: &watch::Sender<Arc<BTreeSet<Symbol>>>) {
    match service.market_intake.stocks_of_inactive_alerts().await {
        Ok(stocks) => drop(splits_only.send_if_modified(|known| {
            let is_new = **known != stocks;
            if is_new {
                *known = Arc::new(stocks);
            }
            is_new
        })),
        Err(error) => tracing::error!(%error, "stocks of paused alerts could not be read; their splits come late"),
    }
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
