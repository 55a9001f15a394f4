//! The provider source: passes the watched stocks to the providers' source, and records its health as metrics.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, ObservedPrice, Price, Symbol};
use metrics::{counter, gauge};
use sources::MarketUpdate;
use sources::freshness::FilterReason;
use sources::live::{self, LiveSourceHealth, LiveSourceInputs, MarketState, PriceRequest};
use sources::provider::stream;
use tokio::sync::{mpsc, watch};

use super::{Feed, ProviderSetup};

/// The interval of reading the watched stocks.
const WATCHED_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The interval of reading the stocks of inactive alerts. This is a query over all alerts.
const INACTIVE_POLL_INTERVAL: SignedDuration = SignedDuration::from_mins(10);

/// The provider source with its inputs.
pub(super) struct LiveSourceTask {
    pub(super) sources: ProviderSetup,
    pub(super) calendar: Calendar,
    pub(super) benchmark: Symbol,
    pub(super) feed: Feed,
    pub(super) clock: Arc<dyn Clock>,
    /// Requests for single prices.
    pub(super) requests: mpsc::Receiver<PriceRequest>,
}

/// The market state that the service holds.
struct EvaluatedMarketState(Feed);

impl std::fmt::Debug for EvaluatedMarketState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EvaluatedMarketState")
    }
}

impl MarketState for EvaluatedMarketState {
    fn last_quote(&self, symbol: Symbol) -> Option<ObservedPrice> {
        self.0.market_intake.last_observation(symbol)
    }

    fn last_bar(&self, symbol: Symbol) -> Option<Date> {
        self.0.market_intake.last_bar(symbol)
    }

    fn is_listed(&self, symbol: Symbol) -> bool {
        self.0.prices.is_listed(symbol)
    }

    fn reference_price(&self, symbol: Symbol) -> Option<Price> {
        let current = [
            self.0.market_intake.last_observation(symbol),
            self.0.market.last_close(symbol),
        ];
        let latest = current.into_iter().flatten().max_by_key(|observed| observed.at);
        latest.map(|latest| latest.price)
    }

    fn is_judged_in_extended_hours(&self, symbol: Symbol) -> bool {
        self.0.market_intake.is_judged_in_extended_hours(symbol)
    }

    fn average_volume(&self, symbol: Symbol) -> Option<i64> {
        self.0.market.average_volume(symbol)
    }
}

impl LiveSourceTask {
    /// Sends market updates until the receiver is closed.
    pub(super) async fn run(self, sender: mpsc::Sender<MarketUpdate>) {
        let Self {
            sources,
            calendar,
            benchmark,
            feed,
            clock,
            requests,
        } = self;
        let (splits_only, splits_only_receiver) = watch::channel(Arc::default());
        let options = live::LiveSourceConfig {
            router: Arc::new(sources.router),
            setup: sources.setup,
            calendar,
            polling: sources.polling,
            limits: sources.limits,
            stream: sources.stream,
            nightly_at: sources.nightly_at,
            benchmark,
            splits_only: splits_only_receiver,
        };
        let (health, refreshes) = (feed.live_source.clone(), feed.market_intake.refresh_requests());
        health.observe(Arc::clone(&options.router));
        let (watched, receiver) = watch::channel(Arc::default());
        // Gaps can only be filled once it is known which stocks are watched.
        let mut stocks = loop {
            if let Some(stocks) = refresh_watched(&feed, &watched).await {
                break stocks;
            }
            tokio::select! {
                () = clock.sleep(WATCHED_POLL_INTERVAL) => {}
                () = sender.closed() => return,
            }
        };
        let inputs = LiveSourceInputs {
            watched: receiver,
            refreshes,
            requests,
        };
        let mut interest_changes = feed.prices.interest_changes();
        let market_state = Arc::new(EvaluatedMarketState(feed.clone()));
        let follow_watched = async {
            let mut inactive_read_at: Option<Timestamp> = None;
            // Kept across iterations, so that frequent changes of interest do not postpone the periodic refresh.
            let mut refresh = clock.sleep(WATCHED_POLL_INTERVAL);
            loop {
                let now = clock.now();
                // `abs`, so that a clock that is set back does not postpone the query.
                if inactive_read_at.is_none_or(|at| now.duration_since(at).abs() >= INACTIVE_POLL_INTERVAL) {
                    refresh_inactive(&feed, &splits_only).await;
                    inactive_read_at = Some(now);
                }
                tokio::select! {
                    biased;
                    () = &mut refresh => {
                        // After an error, the next attempt is at the next interval.
                        if let Some(found) = refresh_watched(&feed, &watched).await {
                            stocks = found;
                        }
                        record_metrics(&health);
                        refresh = clock.sleep(WATCHED_POLL_INTERVAL);
                    }
                    // The feed outlives this loop.
                    Ok(()) = interest_changes.changed() => add_interest(&feed, &stocks, &watched),
                }
            }
        };
        tokio::select! {
            () = live::run(options, inputs, market_state, health.clone(), sender) => {}
            () = follow_watched => {}
        }
    }
}

/// Publishes and returns the watched stocks; `None` if they cannot be read.
async fn refresh_watched(feed: &Feed, watched: &watch::Sender<Arc<Vec<Symbol>>>) -> Option<Vec<Symbol>> {
    let stocks = match feed.market_intake.watched_stocks().await {
        Ok(stocks) => stocks,
        Err(error) => {
            tracing::error!(%error, "cannot read the watched stocks; the previous ones remain in use");
            return None;
        }
    };
    publish(watched, stocks.clone());
    Some(stocks)
}

/// Publishes the stocks of the last [`refresh_watched`] and those that became of interest since then.
fn add_interest(feed: &Feed, stocks: &[Symbol], watched: &watch::Sender<Arc<Vec<Symbol>>>) {
    let mut stocks = stocks.to_vec();
    feed.market_intake.add_stocks_of_interest(&mut stocks);
    publish(watched, stocks);
}

/// Sends a value if it differs from the current one.
fn publish<T: PartialEq>(sender: &watch::Sender<Arc<T>>, value: T) {
    sender.send_if_modified(|current| {
        let is_new = **current != value;
        if is_new {
            *current = Arc::new(value);
        }
        is_new
    });
}

/// Reads and publishes the stocks of inactive alerts.
async fn refresh_inactive(feed: &Feed, splits_only: &watch::Sender<Arc<BTreeSet<Symbol>>>) {
    match feed.market_intake.stocks_of_inactive_alerts().await {
        Ok(stocks) => publish(splits_only, stocks),
        Err(error) => tracing::error!(%error, "cannot read the stocks of inactive alerts; their splits may be late"),
    }
}

/// Records the health of the source as metrics.
fn record_metrics(health: &LiveSourceHealth) {
    let state = health.snapshot();
    let quotes = &state.quotes;
    counter!("bellwether_feed_quotes_total", "outcome" => "passed").absolute(quotes.passed);
    for reason in FilterReason::ALL {
        counter!("bellwether_feed_quotes_total", "outcome" => reason.name()).absolute(quotes.of(reason));
    }
    counter!("bellwether_feed_unanswered_total").absolute(state.failed_requests);
    counter!("bellwether_feed_gaps_filled_total").absolute(state.gaps_filled);
    counter!("bellwether_feed_gaps_given_up_total").absolute(state.gaps_given_up);
    // The count is far below 2⁵³, so the conversion is exact.
    gauge!("bellwether_feed_gaps_open").set(state.gaps_open as f64);
    if let Some(stream) = state.stream {
        let is_live = stream.state == stream::StreamState::Live;
        gauge!("bellwether_feed_stream_live").set(f64::from(u8::from(is_live)));
        counter!("bellwether_feed_stream_lost_total").absolute(stream.disconnections);
        counter!("bellwether_feed_conflated_total").absolute(stream.conflated);
    }
    if let Some(at) = state.polled_at {
        gauge!("bellwether_feed_polled_at_seconds").set(at.as_second() as f64);
    }
}
