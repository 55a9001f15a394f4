//! Request bodies of the watchlist.

use alerts::Intention;
use market::{Price, Symbol};
use serde_json::Value;
use store::model::WatchlistItemId;
use uuid::Uuid;

use foundation::ServiceError;
use foundation::body::BodyReader;

/// The maximum length of notes, in characters.
const MAX_NOTES_CHARACTERS: usize = 2_000;
/// The maximum length of a stock's name, in characters.
const MAX_NAME_CHARACTERS: usize = 200;

/// A new watchlist item.
#[derive(Clone, PartialEq, Debug)]
pub struct NewWatchlistItem {
    /// The stock.
    pub symbol: Symbol,
    /// The stock's name, if the request has one.
    pub stock_name: Option<String>,
    /// Whether to buy or to sell.
    pub intention: Intention,
    pub(crate) target_price: Option<Price>,
    pub(crate) notes: Option<String>,
}

/// Changes of an item; `Some(None)` removes a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ItemChange {
    pub(super) target_price: Option<Option<Price>>,
    pub(super) notes: Option<Option<String>>,
    pub(super) is_active: Option<bool>,
    pub(super) has_auto_alerts: Option<bool>,
}

/// A request to swap an item's intention.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct SwapRequest {
    pub(super) item: WatchlistItemId,
    pub(super) intention: Intention,
    pub(super) symbol: Symbol,
}

/// Reads the body of a create request.
///
/// # Errors
/// [`ServiceError::Malformed`], [`ServiceError::Invalid`]
pub fn read_new(body: &Value) -> Result<NewWatchlistItem, ServiceError> {
    let mut members = BodyReader::new(body)?;
    let symbol = symbol(&mut members);
    let intention = intention(&mut members, "intention");
    let stock_name = members.line("stock_name", 1, MAX_NAME_CHARACTERS).map(str::to_owned);
    let target_price = members.price("target_price");
    let notes = notes(&mut members);
    members.finish()?;
    let (Some(symbol), Some(intention)) = (symbol, intention) else {
        return Err(incomplete());
    };
    Ok(NewWatchlistItem {
        symbol,
        stock_name,
        intention,
        target_price,
        notes,
    })
}

/// Reads the body of an update request. Fields that are not named keep their values.
///
/// # Errors
/// [`ServiceError::Malformed`], [`ServiceError::Invalid`]
pub(super) fn read_change(body: &Value) -> Result<ItemChange, ServiceError> {
    let mut members = BodyReader::new(body)?;
    let target_price = members.price("target_price");
    let notes = notes(&mut members);
    let change = ItemChange {
        target_price: members.contains("target_price").then_some(target_price),
        notes: members.contains("notes").then_some(notes),
        is_active: members.boolean("is_active"),
        has_auto_alerts: members.boolean("auto_alerts_enabled"),
    };
    members.finish()?;
    Ok(change)
}

/// Reads the body of a swap request.
///
/// # Errors
/// [`ServiceError::Malformed`], [`ServiceError::Invalid`]
pub(super) fn read_swap(body: &Value) -> Result<SwapRequest, ServiceError> {
    let mut members = BodyReader::new(body)?;
    let item = members.required("item_id").map(Uuid::try_parse);
    if let Some(Err(_)) = item {
        members.add_error("item_id", "must be the id of a watchlist item, a UUID");
    }
    let intention = intention(&mut members, "new_intention");
    let symbol = symbol(&mut members);
    members.finish()?;
    let (Some(Ok(item)), Some(intention), Some(symbol)) = (item, intention, symbol) else {
        return Err(incomplete());
    };
    Ok(SwapRequest {
        item: WatchlistItemId(item),
        intention,
        symbol,
    })
}

fn symbol(members: &mut BodyReader<'_>) -> Option<Symbol> {
    let symbol = members.required("stock_symbol")?.trim().parse();
    if symbol.is_err() {
        members.add_error(
            "stock_symbol",
            "must be 1 to 10 of the characters A-Z, 0-9, dot and hyphen",
        );
    }
    symbol.ok()
}

fn intention(members: &mut BodyReader<'_>, name: &str) -> Option<Intention> {
    let intention = members.one_of(name, Intention::ALL, Intention::from_name, Intention::name);
    if intention.is_none() {
        members.add_missing(name);
    }
    intention
}

/// Reads notes. Empty notes count as none.
fn notes(members: &mut BodyReader<'_>) -> Option<String> {
    let notes = members.trimmed("notes", 0, MAX_NOTES_CHARACTERS)?;
    (!notes.is_empty()).then(|| notes.to_owned())
}

/// Unreachable: a missing member has been reported before.
fn incomplete() -> ServiceError {
    ServiceError::Malformed("a required field is missing".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults<T: std::fmt::Debug>(read: Result<T, ServiceError>) -> Vec<String> {
        match read {
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
        let new = read_new(&json!({"stock_symbol": " brk.b ", "intention": "sell", "notes": "  "})).unwrap();
        assert_eq!(new.symbol.as_str(), "BRK.B");
        assert_eq!((new.intention, new.target_price), (Intention::Sell, None));
        assert_eq!((new.notes, new.stock_name), (None, None));
        assert_eq!(faults(read_new(&json!({}))), ["intention", "stock_symbol"]);
    }

    #[test]
    fn every_invalid_field_of_a_new_item_is_reported() {
        let body = json!({
            "stock_symbol": "much too long", "stock_name": "a\nb", "intention": "hold", "target_price": -1,
            "notes": "a".repeat(MAX_NOTES_CHARACTERS + 1),
        });
        let all = ["intention", "notes", "stock_name", "stock_symbol", "target_price"];
        assert_eq!(faults(read_new(&body)), all);
    }

    #[test]
    fn null_removes_a_value_and_missing_fields_are_unchanged() {
        let change = read_change(&json!({"target_price": null, "notes": null})).unwrap();
        assert_eq!((change.target_price, change.notes), (Some(None), Some(None)));
        let change = read_change(&json!({"is_active": false})).unwrap();
        assert_eq!((change.target_price, change.notes), (None, None));
        assert_eq!((change.is_active, change.has_auto_alerts), (Some(false), None));
        let wrong = json!({"is_active": "no", "auto_alerts_enabled": 1, "target_price": 0});
        assert_eq!(
            faults(read_change(&wrong)),
            ["auto_alerts_enabled", "is_active", "target_price"]
        );
    }

    #[test]
    fn swap_needs_all_its_fields() {
        assert_eq!(
            faults(read_swap(&json!({}))),
            ["item_id", "new_intention", "stock_symbol"]
        );
        let wrong = json!({"item_id": "5", "new_intention": "buy", "stock_symbol": "AAPL"});
        assert_eq!(faults(read_swap(&wrong)), ["item_id"]);
    }
}
