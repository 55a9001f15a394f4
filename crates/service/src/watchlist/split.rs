//! A stock is divided: what watchlists say of it moves into the new shares.
//!
//! Paper trades take splits in by themselves, from the days of their entries and exits. Only prices that were made before the split's
//! day and traded at after its beginning are moved here.

use jiff::Timestamp;
use market::calendar::new_york;
use market::records::SplitRow;
use store::model::{Advised, PriceAt, WatchlistItem};
use store::{StoreError, Unit};

/// Moves what watchlists say of a stock in shares of before the split into the new ones.
pub(crate) async fn adjust(unit: &mut Unit, split: &SplitRow, now: Timestamp) -> Result<(), StoreError> {
    let begins = new_york(split.date, 0, 0);
    unit.adjust_paper_prices(split, begins).await?;
    let adjusted = |priced: Option<PriceAt>| {
        priced.map(|priced| match priced.at < begins {
            true => PriceAt {
                price: priced.price.after_split(split.ratio),
                at: begins,
            },
            false => priced,
        })
    };
    for before in unit.items_of_symbol_to_change(split.symbol).await? {
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
            // How old it is does not change.
            let priced = PriceAt {
                at: advised.priced.at,
                ..priced
            };
            unit.note_advice(item.id, &Advised { priced, ..advised }).await?;
        }
    }
    Ok(())
}
