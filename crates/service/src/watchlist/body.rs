//! What the bodies of requests about the watchlist say.

use alerts::Intention;
use market::{Price, Symbol};
use serde_json::Value;
use store::model::WatchlistItemId;
use uuid::Uuid;

use crate::ServiceError;
use crate::body::Members;

/// The longest notes, in characters.
const MAX_NOTES: usize = 2_000;
/// The longest name of a stock, in characters.
const MAX_NAME: usize = 200;

/// An item that is to be added.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct NewItem {
    pub(crate) symbol: Symbol,
    pub(crate) stock_name: Option<String>,
    pub(crate) intention: Intention,
    pub(crate) target_price: Option<Price>,
    pub(crate) notes: Option<String>,
}

/// What is to be changed of an item; `Some(None)` takes something away.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ItemChange {
    pub(super) target_price: Option<Option<Price>>,
    pub(super) notes: Option<Option<String>>,
    pub(super) is_active: Option<bool>,
    pub(super) has_auto_alerts: Option<bool>,
}

/// An item that is to be turned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Swap {
    pub(super) item: WatchlistItemId,
    pub(super) intention: Intention,
    pub(super) symbol: Symbol,
}

/// The body of a create request.
///
/// # Errors
/// [`ServiceError::Malformed`], [`ServiceError::Invalid`]
pub(crate) fn read_new(body: &Value) -> Result<NewItem, ServiceError> {
    let mut members = Members::of(body)?;
    let symbol = symbol(&mut members);
    let intention = intention(&mut members, "intention");
    let stock_name = members.line("stock_name", 1, MAX_NAME).map(str::to_owned);
    let target_price = members.price("target_price");
    let notes = notes(&mut members);
    members.finish()?;
    let (Some(symbol), Some(intention)) = (symbol, intention) else {
        return Err(incomplete());
    };
    Ok(NewItem {
        symbol,
        stock_name,
        intention,
        target_price,
        notes,
    })
}

/// The body of an update request. What it does not name stays as it is.
///
/// # Errors
/// [`ServiceError::Malformed`], [`ServiceError::Invalid`]
pub(super) fn read_change(body: &Value) -> Result<ItemChange, ServiceError> {
    let mut members = Members::of(body)?;
    let target_price = members.price("target_price");
    let notes = notes(&mut members);
    let change = ItemChange {
        target_price: members.has("target_price").then_some(target_price),
        notes: members.has("notes").then_some(notes),
        is_active: members.flag("is_active"),
        has_auto_alerts: members.flag("auto_alerts_enabled"),
    };
    members.finish()?;
    Ok(change)
}

/// The body of a swap request.
///
/// # Errors
/// [`ServiceError::Malformed`], [`ServiceError::Invalid`]
pub(super) fn read_swap(body: &Value) -> Result<Swap, ServiceError> {
    let mut members = Members::of(body)?;
    let item = members.required("item_id").map(Uuid::try_parse);
    if let Some(Err(_)) = item {
        members.fault("item_id", "must be the id of a watchlist item, a UUID");
    }
    let intention = intention(&mut members, "new_intention");
    let symbol = symbol(&mut members);
    members.finish()?;
    let (Some(Ok(item)), Some(intention), Some(symbol)) = (item, intention, symbol) else {
        return Err(incomplete());
    };
    Ok(Swap {
        item: WatchlistItemId(item),
        intention,
        symbol,
    })
}

fn symbol(members: &mut Members<'_>) -> Option<Symbol> {
    let symbol = members.required("stock_symbol")?.trim().parse();
    if symbol.is_err() {
        members.fault(
            "stock_symbol",
            "must be 1 to 10 of the characters A-Z, 0-9, dot and hyphen",
        );
    }
    symbol.ok()
}

fn intention(members: &mut Members<'_>, name: &str) -> Option<Intention> {
    let intention = members.word(name, Intention::ALL, Intention::from_name, Intention::name);
    if intention.is_none() {
        members.missing(name);
    }
    intention
}

/// Notes; those without a character in them are none.
fn notes(members: &mut Members<'_>) -> Option<String> {
    let notes = members.trimmed("notes", 0, MAX_NOTES)?;
    (!notes.is_empty()).then(|| notes.to_owned())
}

/// Whatever is missing was a fault before.
fn incomplete() -> ServiceError {
    ServiceError::Malformed("something is missing".to_owned())
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
    fn an_item_needs_a_symbol_and_an_intention_and_no_more() {
        let new = read_new(&json!({"stock_symbol": " brk.b ", "intention": "sell", "notes": "  "})).unwrap();
        assert_eq!(new.symbol.as_str(), "BRK.B");
        assert_eq!((new.intention, new.target_price), (Intention::Sell, None));
        assert_eq!((new.notes, new.stock_name), (None, None));
        assert_eq!(faults(read_new(&json!({}))), ["intention", "stock_symbol"]);
    }

    #[test]
    fn every_fault_of_a_new_item_is_told_under_its_name() {
        let body = json!({
            "stock_symbol": "much too long", "stock_name": "a\nb", "intention": "hold", "target_price": -1,
            "notes": "a".repeat(MAX_NOTES + 1),
        });
        let all = ["intention", "notes", "stock_name", "stock_symbol", "target_price"];
        assert_eq!(faults(read_new(&body)), all);
    }

    #[test]
    fn null_takes_away_and_what_is_not_named_stays() {
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
    fn a_swap_needs_all_its_members() {
        assert_eq!(
            faults(read_swap(&json!({}))),
            ["item_id", "new_intention", "stock_symbol"]
        );
        let wrong = json!({"item_id": "5", "new_intention": "buy", "stock_symbol": "AAPL"});
        assert_eq!(faults(read_swap(&wrong)), ["item_id"]);
    }
}
