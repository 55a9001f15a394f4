//! Opens the paper trades that await their stock's first price.

use std::sync::atomic::Ordering;
use std::time::Duration;

use store::model::WatchlistItem;
use store::{Abort, StoreError};
use tokio_util::sync::CancellationToken;

use super::WatchlistEffects;
use crate::Watchlists;
use foundation::account::lock_account;

/// How often items that another process has added are looked for.
const SEARCH_INTERVAL: Duration = Duration::from_mins(1);

/// Opens trades as prices arrive, until `stop`.
pub async fn run(watchlists: Watchlists, stop: CancellationToken) {
    loop {
        if let Err(error) = watchlists.open_awaited_trades().await {
            tracing::warn!(%error, "paper trades that await a price could not be opened; the next attempt is in a minute");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = watchlists.awaiting.wake.notified() => {}
            () = watchlists.ports.clock.sleep(SEARCH_INTERVAL) => {}
        }
    }
}

impl Watchlists {
    /// Opens the trades of the items whose stock has a price now. Returns their number.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn open_awaited_trades(&self) -> Result<u64, StoreError> {
        let awaiting = &self.awaiting;
        // An item that is added from here on sets the flag again.
        awaiting.any.store(false, Ordering::Release);
        let (mut opened, mut is_any_left) = (0, false);
        for item in self.ports.store.items_without_initial_price().await? {
            let Some(price) = self.prices.current_price(item.symbol) else {
                is_any_left = true;
                continue;
            };
            let context = self.trade_context_at(item.symbol, Some(price));
            let transaction = self.transaction((item, context), |(item, context), unit| {
                Box::pin(async move {
                    lock_account(unit, item.account).await?;
                    let found = unit.watchlist_item(item.account, item.id).await?;
                    let Some(before) = found.filter(|item| item.is_active && item.initial_price.is_none()) else {
                        return Ok(WatchlistEffects::default());
                    };
                    let item = WatchlistItem {
                        initial_price: context.timed_price(),
                        updated_at: context.now,
                        ..before.clone()
                    };
                    unit.update_watchlist_item(&item).await?;
                    context.open(unit, &before).await?;
                    if item.has_auto_alerts {
                        unit.request_analysis(item.id, item.account, context.now).await?;
                    }
                    Ok(WatchlistEffects {
                        analysis_requested: item.has_auto_alerts,
                        ..WatchlistEffects::default()
                    })
                })
            });
            match transaction.await {
                Ok(_) => opened += 1,
                // The owner was deleted, and the item with them.
                Err(Abort::Refused(_)) => {}
                Err(Abort::Store(error)) => return Err(error),
            }
        }
        if is_any_left {
            awaiting.any.store(true, Ordering::Release);
        }
        Ok(opened)
    }
}
