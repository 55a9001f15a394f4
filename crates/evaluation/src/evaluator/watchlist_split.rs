//! Adjusts watchlists to a stock split.
//!
//! Paper trades account for splits themselves, by the days of their entries and exits. This module only adjusts
//! prices that were made before the split's day and traded at after its beginning.

use jiff::Timestamp;
use market::calendar::new_york;
use market::records::SplitRow;
use store::model::{AnalystAdvice, TimedPrice, WatchlistItem};
use store::{StoreError, UnitOfWork};

/// Converts the prices of a stock's watchlist items from before the split to the new shares.
pub(crate) async fn adjust(unit: &mut UnitOfWork, split: &SplitRow, now: Timestamp) -> Result<(), StoreError> {
    let begins = new_york(split.date, 0, 0);
    unit.adjust_paper_prices(split, begins).await?;
    let adjusted = |priced: Option<TimedPrice>| {
        priced.map(|priced| match priced.at < begins {
            true => TimedPrice {
                price: priced.price.after_split(split.ratio),
                at: begins,
            },
            false => priced,
        })
    };
    for before in unit.lock_items_of_symbol(split.symbol).await? {
        let item = WatchlistItem {
            initial_price: adjusted(before.initial_price),
            target_price: adjusted(before.target_price),
            ..before.clone()
        };
        if item != before {
            let item = WatchlistItem {
                updated_at: now,
                ..item
            };
            unit.update_watchlist_item(&item).await?;
        }
        if let Some(advised) = before.advised {
            let priced = adjusted(Some(advised.priced)).unwrap_or(advised.priced);
            // The age of the price does not change.
            let priced = TimedPrice {
                at: advised.priced.at,
                ..priced
            };
            unit.record_advice(item.id, &AnalystAdvice { priced, ..advised })
                .await?;
        }
    }
    Ok(())
}
