//! Watchlist and paper trades in an export, as recorded: prices are not adjusted for later splits.

use serde_json::{Value, json};
use store::model::{PaperTrade, TimedPrice, WatchlistItem};

use super::rows::{optional_timestamp, timestamp};

fn priced(priced: TimedPrice) -> Value {
    json!({"price": priced.price.as_f64(), "at": timestamp(priced.at)})
}

pub(super) fn item(item: &WatchlistItem) -> Value {
    let advised = item.advised.as_ref();
    json!({
        "id": item.id.0,
        "stock_symbol": item.symbol.as_str(),
        "intention": item.intention.name(),
        "target_price": item.target_price.map(priced),
        "initial_price": item.initial_price.map(priced),
        "notes": item.notes,
        "auto_alerts_enabled": item.has_auto_alerts,
        "is_active": item.is_active,
        "created_at": timestamp(item.created_at),
        "updated_at": timestamp(item.updated_at),
        "analyzed_at": optional_timestamp(advised.map(|advised| advised.priced.at)),
        "analyzed_by": advised.map(|advised| advised.by.as_str()),
        "analysis": advised.map(|advised| advised.summary.as_str()),
    })
}

pub(super) fn trade(trade: &PaperTrade) -> Value {
    json!({
        "id": trade.id.0,
        "watchlist_item_id": trade.item.0,
        "symbol": trade.symbol.as_str(),
        "intention": trade.intention.name(),
        "notional_usd": trade.notional.as_f64(),
        "entry": priced(trade.entry),
        "exit": trade.exit.map(priced),
    })
}
