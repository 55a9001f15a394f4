//! An item of the watchlist as answers show it.

use serde::Serialize;
use service::watchlist::ItemView;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::document::names::IntentionName;
use crate::values::{price, timestamp};

/// The least that is said of a stock.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatchedStock {
    /// Its symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Its name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Its last price in US dollars; null while none is known.
    #[schema(required, example = 198.66)]
    pub last_price: Option<f64>,
}

/// What the analyst said of an item last.
#[derive(Debug, Serialize, ToSchema)]
pub struct ItemAnalysis {
    /// When.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub analyzed_at: String,
    /// At what price of the stock in US dollars.
    #[schema(example = 198.66)]
    pub price: f64,
    /// Who: `rules`, or the name of a language model.
    #[schema(example = "rules")]
    pub by: String,
    /// What, in a few sentences.
    pub summary: String,
}

/// An item of the watchlist.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatchlistItem {
    /// Its id.
    pub id: Uuid,
    /// Its stock.
    #[schema(example = "AAPL")]
    pub stock_symbol: String,
    /// What is meant to be done.
    #[schema(value_type = IntentionName)]
    pub intention: &'static str,
    /// At what price in US dollars, if that was said.
    #[schema(required, example = 180)]
    pub target_price: Option<f64>,
    /// What the stock cost when the item was added, turned or made active again; null while no price is known.
    #[schema(required, example = 198.66)]
    pub initial_price: Option<f64>,
    /// Whether the analyst makes alerts for it.
    pub auto_alerts_enabled: bool,
    /// The owner's notes.
    #[schema(required)]
    pub notes: Option<String>,
    /// Whether it is followed.
    pub is_active: bool,
    /// How many of your alerts on its stock are active.
    #[schema(minimum = 0, example = 3)]
    pub active_alert_count: u64,
    /// How many are paused.
    #[schema(minimum = 0, example = 0)]
    pub paused_alert_count: u64,
    /// What the analyst said last; null while it has not.
    #[schema(required)]
    pub analysis: Option<ItemAnalysis>,
    /// Its stock.
    pub stocks: WatchedStock,
    /// When it was made.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// When anything of it was changed last.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub updated_at: String,
}

impl WatchlistItem {
    pub(crate) fn of(view: ItemView) -> Self {
        let ItemView { listed, stock } = view;
        let item = listed.item;
        Self {
            id: item.id.0,
            stock_symbol: item.symbol.to_string(),
            intention: item.intention.name(),
            target_price: item.target_price.map(|target| price(target.price)),
            initial_price: item.initial_price.map(|initial| price(initial.price)),
            auto_alerts_enabled: item.has_auto_alerts,
            notes: item.notes,
            is_active: item.is_active,
            active_alert_count: listed.active_alerts,
            paused_alert_count: listed.paused_alerts,
            analysis: item.advised.map(|advised| ItemAnalysis {
                analyzed_at: timestamp(advised.priced.at),
                price: price(advised.priced.price),
                by: advised.by,
                summary: advised.summary,
            }),
            stocks: WatchedStock {
                symbol: stock.symbol.to_string(),
                name: stock.name,
                last_price: stock.last_price.map(price),
            },
            created_at: timestamp(item.created_at),
            updated_at: timestamp(item.updated_at),
        }
    }
}
