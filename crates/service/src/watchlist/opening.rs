//! Opens the paper trades that await their stock's first price.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::SignedDuration;
use store::model::WatchlistItem;
use store::{Abort, BoxFuture, StoreError, Transaction, UnitOfWork};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::After;
use super::desk::Desk;
use crate::ServiceError;
use crate::identity::account::present;
use crate::watchlist::Watchlists;

/// So often it is looked for items that another process has added.
const LOOKED_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// Whether items await prices, and a bell for when prices have come.
#[derive(Debug, Default)]
pub(crate) struct Awaiting {
    any: AtomicBool,
    bell: Notify,
}

impl Awaiting {
    /// An item awaits a price.
    pub(super) fn expect_prices(&self) {
        self.any.store(true, Ordering::Release);
        self.bell.notify_one();
    }

    /// Prices have come.
    pub(crate) fn prices_have_come(&self) {
        if self.any.load(Ordering::Acquire) {
            self.bell.notify_one();
        }
    }
}

/// Opens trades as prices come, until it is told to stop.
pub(crate) async fn run(watchlists: Watchlists, stop: CancellationToken) {
    loop {
        if let Err(error) = watchlists.open_awaited_trades().await {
            tracing::warn!(%error, "paper trades that await a price could not be looked at; it is tried again in a minute");
        }
        let clock = &watchlists.ports.clock;
        let next = clock.now().saturating_add(LOOKED_EVERY).unwrap_or(jiff::Timestamp::MAX);
        tokio::select! {
            () = stop.cancelled() => return,
            () = watchlists.awaiting.bell.notified() => {}
            () = clock.sleep_until(next) => {}
        }
    }
}

impl Watchlists {
    /// Opens the trades of the items whose stock has a price by now. Answers how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub(crate) async fn open_awaited_trades(&self) -> Result<u64, StoreError> {
        let awaiting = &self.awaiting;
        // Whoever adds an item from here on says so again.
        awaiting.any.store(false, Ordering::Release);
        let (mut opened, mut is_any_left) = (0, false);
        for item in self.ports.store.items_without_initial_price().await? {
            let Some(price) = self.prices.current_price(item.symbol) else {
                is_any_left = true;
                continue;
            };
            let desk = self.desk_at(item.symbol, Some(price));
            let work = Open {
                watchlists: self.clone(),
                item,
                desk,
            };
            match self.ports.store.write(work).await {
                Ok(_) => opened += 1,
                // Its owner is gone, and it with them.
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

struct Open {
    watchlists: Watchlists,
    item: WatchlistItem,
    desk: Desk,
}

impl Transaction for Open {
    type Output = After;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<After, Abort<ServiceError>>> {
        Box::pin(async move {
            present(unit, self.item.account).await?;
            let found = unit.watchlist_item(self.item.account, self.item.id).await?;
            let Some(before) = found.filter(|item| item.is_active && item.initial_price.is_none()) else {
                return Ok(After::default());
            };
            let item = WatchlistItem {
                initial_price: self.desk.priced(),
                updated_at: self.desk.now,
                ..before.clone()
            };
            unit.update_watchlist_item(&item).await?;
            self.desk.open(unit, &before).await?;
            if item.has_auto_alerts {
                unit.request_analysis(item.id, item.account, self.desk.now).await?;
            }
            Ok(After {
                asked: item.has_auto_alerts,
                ..After::default()
            })
        })
    }

    fn committed(&self, after: &After) {
        self.watchlists.tell_after(after);
    }
}
