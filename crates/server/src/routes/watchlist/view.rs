//! Watchlist items in responses.

use watchlist::ItemView;

use crate::document::names::IntentionName;
use crate::routes::prelude::*;

/// A watchlist item's stock.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatchedStock {
    /// Symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Last price in US dollars; null until one is known.
    #[schema(required, example = 198.66)]
    pub last_price: Option<f64>,
}

/// The analyst's latest analysis of an item.
#[derive(Debug, Serialize, ToSchema)]
pub struct ItemAnalysis {
    /// Time of the analysis.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub analyzed_at: String,
    /// Price of the stock at that time, in US dollars.
    #[schema(example = 198.66)]
    pub price: f64,
    /// Author: `rules`, or the name of a language model.
    #[schema(example = "rules")]
    pub by: String,
    /// Summary in a few sentences.
    pub summary: String,
}

/// A watchlist item.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WatchlistItem)]
pub struct WatchlistItemView {
    /// Watchlist item id.
    pub id: Uuid,
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub stock_symbol: String,
    /// Whether to buy or sell the stock.
    #[schema(value_type = IntentionName)]
    pub intention: &'static str,
    /// Target price in US dollars, if set.
    #[schema(required, example = 180)]
    pub target_price: Option<f64>,
    /// Price when the item was added, changed its intention or was reactivated; null until a price is known.
    #[schema(required, example = 198.66)]
    pub initial_price: Option<f64>,
    /// Whether the analyst creates alerts for the item.
    pub auto_alerts_enabled: bool,
    /// Notes.
    #[schema(required)]
    pub notes: Option<String>,
    /// Whether the item is active.
    pub is_active: bool,
    /// Number of your active alerts on this stock.
    #[schema(minimum = 0, example = 3)]
    pub active_alert_count: u64,
    /// Number of your paused alerts on this stock.
    #[schema(minimum = 0, example = 0)]
    pub paused_alert_count: u64,
    /// Latest analysis; null until there is one.
    #[schema(required)]
    pub analysis: Option<ItemAnalysis>,
    /// The stock.
    pub stocks: WatchedStock,
    /// Time of creation.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// Time of the last change.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub updated_at: String,
}

impl WatchlistItemView {
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
