//! Sets the initial price of alerts that became active without a current price.
//!
//! Of several processes on one database, one asks its source to confirm prices.

use std::sync::Arc;
use std::time::Duration;

use ::alerts::transition::{self, Transition};
use foundation::JobLease;
use jiff::SignedDuration;
use market::{CurrentPrice, Symbol};
use serde_json::{Map, Value};
use store::StoreError;
use store::model::AlertOwner;
use tokio_util::sync::CancellationToken;

use crate::prices::Prices;

/// How often the database is searched for alerts that another process made active.
const SEARCH_INTERVAL: SignedDuration = SignedDuration::from_mins(1);
/// Lease of the confirmation of prices.
const CONFIRMATION_LEASE: SignedDuration = SignedDuration::from_secs(150);
/// The maximum number of stocks whose prices the source is asked to confirm with each search.
const MAX_CONFIRMATIONS: usize = 8;
/// The number of alerts that one query reads.
const ALERT_BATCH_SIZE: u32 = 256;

/// Sets initial prices as prices arrive, until `stop`.
pub async fn run(prices: Prices, stop: CancellationToken) {
    let clock = &prices.ports.clock;
    let lease = JobLease::new(&prices.ports, "price_confirmations", CONFIRMATION_LEASE);
    // By the uptime, so that a clock that is set back does not postpone the search.
    let mut next_search = clock.uptime();
    loop {
        let is_search_due = next_search <= clock.uptime();
        if is_search_due {
            next_search = clock.uptime() + SEARCH_INTERVAL;
        }
        if let Err(error) = prices.fill_initial_prices(is_search_due, &lease).await {
            tracing::warn!(%error, "initial prices could not be stored; the next attempt is in a minute");
        }
        let until_search = next_search.saturating_sub(clock.uptime());
        tokio::select! {
            () = stop.cancelled() => break,
            () = prices.initial_prices.wake.notified() => {}
            () = clock.sleep(Duration::try_from(until_search).unwrap_or_default()) => {}
        }
    }
    lease.release().await;
}

impl Prices {
    /// Sets the initial price of active alerts without one to the current price of their stock, if there is one.
    /// Returns the number of alerts.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub(crate) async fn fill_initial_prices(&self, search: bool, lease: &JobLease) -> Result<u64, StoreError> {
        if search {
            let found = self.ports.store.symbols_without_initial_price().await?;
            self.initial_prices.symbols().extend(found);
        }
        let waiting: Vec<Symbol> = self.initial_prices.symbols().iter().copied().collect();
        if search {
            self.confirm_recent_prices(&waiting, lease).await?;
        }
        let mut filled = 0;
        for symbol in waiting {
            let Some(price) = self.current_price(symbol) else {
                continue;
            };
            // The next run finds alerts that are recorded from here on.
            self.initial_prices.symbols().remove(&symbol);
            let result = self.fill_alerts_of(symbol, price).await;
            if result.is_err() {
                self.initial_prices.symbols().insert(symbol);
            }
            filled += result?;
        }
        Ok(filled)
    }

    /// Asks the source to confirm prices that are recent, but not current without confirmation: those of stocks that
    /// are seldom traded or polled.
    async fn confirm_recent_prices(&self, waiting: &[Symbol], lease: &JobLease) -> Result<(), StoreError> {
        if !self.price_source.is_connected() {
            return Ok(());
        }
        let now = self.ports.clock.now();
        let stale_after = self.settings.engine.stale_after;
        let is_unconfirmed = |symbol: &&Symbol| {
            let observed = self.evaluator.last_observed(**symbol);
            observed.is_some_and(|observed| now.duration_since(observed.at) <= stale_after)
                && self.current_price(**symbol).is_none()
        };
        let unconfirmed = waiting.iter().filter(is_unconfirmed).take(MAX_CONFIRMATIONS);
        let unconfirmed: Vec<Symbol> = unconfirmed.copied().collect();
        if !unconfirmed.is_empty() && lease.claim().await? {
            futures_util::future::join_all(unconfirmed.into_iter().map(|symbol| self.ask_source(symbol))).await;
        }
        Ok(())
    }

    async fn fill_alerts_of(&self, symbol: Symbol, price: CurrentPrice) -> Result<u64, StoreError> {
        let mut filled = 0;
        loop {
            let alerts = self
                .ports
                .store
                .alerts_without_initial_price(symbol, ALERT_BATCH_SIZE)
                .await?;
            let is_last = alerts.len() < usize::try_from(ALERT_BATCH_SIZE).unwrap_or(usize::MAX);
            let now = self.ports.clock.now();
            let writes = alerts.into_iter().map(|stored| {
                let evaluator = Arc::clone(&self.evaluator);
                let inputs = (stored, price, now);
                self.ports.store.commit_then(
                    inputs,
                    |&(ref stored, price, now), unit| {
                        Box::pin(async move {
                            let id = stored.alert.id;
                            let stored = match &stored.owner {
                                AlertOwner::Account(account) => unit.lock_alert(*account, id).await?,
                                AlertOwner::Guest { .. } => unit.lock_guest_alert(id).await?,
                            };
                            let Some(stored) = stored else { return Ok(None) };
                            let Transition::Changed(changed) = transition::set_initial_price(&stored.alert, price, now)
                            else {
                                return Ok(None);
                            };
                            let price = Value::from(price.price().as_f64());
                            let details = Map::from_iter([("initial_price".to_owned(), price)]);
                            let is_written = unit.update_alert(&changed, &stored.alert, now, Some(&details)).await?;
                            Ok(is_written.then_some(changed.alert))
                        })
                    },
                    move |filled| {
                        if let Some(alert) = filled {
                            evaluator.apply_change(alert);
                        }
                    },
                )
            });
            let mut progress = 0;
            for written in futures_util::future::join_all(writes).await {
                progress += u64::from(written?.is_some());
            }
            filled += progress;
            if is_last || progress == 0 {
                return Ok(filled);
            }
        }
    }
}
