//! Request bodies of the watchlist.

use alerts::Intention;
use foundation::request;
use foundation::request::{Line, Patch, Text};
use market::{Price, Symbol};
use store::model::WatchlistItemId;

/// Notes.
pub type Notes = Text<0, 2000>;

request! {
    /// The watchlist item to create.
    CreateWatchlistItemRequest as "CreateWatchlistItem" {
        /// Stock symbol, in upper or lower case.
        stock_symbol: Symbol = "AAPL",
        /// Company name. Required to add a stock that is not in the catalog yet.
        stock_name: Option<Line<200>> = "Apple Inc.",
        /// Whether to buy or sell the stock.
        intention: Intention,
        /// Target price in US dollars.
        target_price: Option<Price> = 180,
        /// Notes.
        notes: Option<Notes> = "Buy below the 200-day average",
    }
}

request! {
    /// The fields to change. Omitted fields keep their values.
    UpdateWatchlistItemRequest as "UpdateWatchlistItem" {
        /// Target price in US dollars; null removes it.
        target_price: Patch<Price> = 175.5,
        /// Notes; null removes them.
        notes: Patch<Notes> = "Buy below the 200-day average",
        /// Whether the item is active. `false` closes its paper trade and deletes the analyst's alerts; `true` starts again at the current
        /// price.
        is_active: Option<bool>,
        /// Whether the analyst creates alerts for the item. `false` deletes the alerts it created.
        auto_alerts_enabled: Option<bool>,
    }
}

request! {
    /// A change of an item's intention.
    SwapIntentionRequest as "SwapIntention" {
        /// Watchlist item id.
        item_id: WatchlistItemId,
        /// New intention.
        new_intention: Intention,
        /// Symbol of the item's stock.
        stock_symbol: Symbol = "AAPL",
    }
}

/// Returns the notes to store. Empty notes count as none.
pub(super) fn stored_notes(notes: Option<&Notes>) -> Option<String> {
    notes.map(|notes| notes.0.clone()).filter(|notes| !notes.is_empty())
}

#[cfg(test)]
mod tests {
    use foundation::ServiceError;
    use foundation::request::Request;
    use serde_json::{Value, json};

    use super::*;

    fn faults<T: Request>(body: &Value) -> Vec<String> {
        match T::read(body) {
            Ok(_) => Vec::new(),
            Err(ServiceError::Invalid { fields, .. }) => {
                assert!(fields.values().all(|faults| faults.len() == 1), "{fields:?}");
                fields.into_keys().collect()
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn item_needs_only_a_symbol_and_an_intention() {
        let body = json!({"stock_symbol": " brk.b ", "intention": "sell", "notes": "  "});
        let new = CreateWatchlistItemRequest::read(&body).unwrap();
        assert_eq!(new.stock_symbol.as_str(), "BRK.B");
        assert_eq!((new.intention, new.target_price), (Intention::Sell, None));
        assert_eq!(stored_notes(new.notes.as_ref()), None);
        assert!(new.stock_name.is_none());
        assert_eq!(
            faults::<CreateWatchlistItemRequest>(&json!({})),
            ["intention", "stock_symbol"]
        );
    }

    #[test]
    fn every_invalid_field_of_a_new_item_is_reported() {
        let body = json!({
            "stock_symbol": "much too long", "stock_name": "a\nb", "intention": "hold", "target_price": -1,
            "notes": "a".repeat(2001),
        });
        let all = ["intention", "notes", "stock_name", "stock_symbol", "target_price"];
        assert_eq!(faults::<CreateWatchlistItemRequest>(&body), all);
    }

    #[test]
    fn null_removes_a_value_and_missing_fields_are_unchanged() {
        let change = UpdateWatchlistItemRequest::read(&json!({"target_price": null, "notes": null})).unwrap();
        assert_eq!(change.target_price.0, Some(None));
        assert!(matches!(change.notes.0, Some(None)));
        let change = UpdateWatchlistItemRequest::read(&json!({"is_active": false})).unwrap();
        assert_eq!(change.target_price.0, None);
        assert!(change.notes.0.is_none());
        assert_eq!((change.is_active, change.auto_alerts_enabled), (Some(false), None));
        let wrong = json!({"is_active": "no", "auto_alerts_enabled": 1, "target_price": 0});
        assert_eq!(
            faults::<UpdateWatchlistItemRequest>(&wrong),
            ["auto_alerts_enabled", "is_active", "target_price"]
        );
    }

    #[test]
    fn swap_needs_all_its_fields() {
        assert_eq!(
            faults::<SwapIntentionRequest>(&json!({})),
            ["item_id", "new_intention", "stock_symbol"]
        );
        let wrong = json!({"item_id": "5", "new_intention": "buy", "stock_symbol": "AAPL"});
        assert_eq!(faults::<SwapIntentionRequest>(&wrong), ["item_id"]);
    }
}
