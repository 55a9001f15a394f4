//! `GET /watchlist/paper-trades`

use watchlist::{PaperTradeId, TradeView};

use crate::document::names::{TradeDirectionName, TradeStatusName};
use crate::routes::prelude::*;

type PaperTradesPage = ListParams<PaperTradeId, 1_000, 1_000>;

/// A paper trade.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PaperTrade)]
pub struct PaperTradeView {
    /// Paper trade id.
    pub id: Uuid,
    /// Account id.
    pub user_id: Uuid,
    /// Watchlist id: same as the account id, because each account has one watchlist.
    pub watchlist_id: Uuid,
    /// Watchlist item id. The item may have been deleted.
    pub watchlist_item_id: Uuid,
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Direction: long for buy, short for sell.
    #[schema(value_type = TradeDirectionName)]
    pub direction: &'static str,
    /// Notional amount in US dollars.
    #[schema(example = 1000)]
    pub notional_usd: f64,
    /// Number of shares, adjusted for splits.
    #[schema(example = 5.033726)]
    pub quantity: f64,
    /// Entry price, adjusted for splits.
    #[schema(example = 198.66)]
    pub entry_price: f64,
    /// Entry time.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub entry_at: String,
    /// Whether the trade is open or closed.
    #[schema(value_type = TradeStatusName)]
    pub status: &'static str,
    /// Exit price, not adjusted for later splits.
    #[schema(required, example = 201.2)]
    pub exit_price: Option<f64>,
    /// Exit time.
    #[schema(required, format = DateTime)]
    pub exit_at: Option<String>,
    /// Profit or loss of a closed trade in US dollars, including dividends.
    #[schema(required, example = 12.785664)]
    pub realized_pnl_usd: Option<f64>,
    /// Unrealized profit or loss of an open trade in US dollars, including dividends.
    #[schema(required)]
    pub unrealized_pnl_usd: Option<f64>,
}

impl PaperTradeView {
    fn of(view: TradeView) -> Self {
        let trade = view.stored;
        Self {
            id: trade.id.0,
            user_id: trade.account.0,
            watchlist_id: trade.account.0,
            watchlist_item_id: trade.item.0,
            symbol: trade.symbol.to_string(),
            direction: view.direction,
            notional_usd: decimal(trade.notional),
            quantity: decimal(view.quantity),
            entry_price: price(view.entry_price),
            entry_at: timestamp(trade.entry.at),
            status: if trade.exit.is_some() { "closed" } else { "open" },
            exit_price: trade.exit.map(|exit| price(exit.price)),
            exit_at: trade.exit.map(|exit| timestamp(exit.at)),
            realized_pnl_usd: view.realized_pnl.map(decimal),
            unrealized_pnl_usd: view.unrealized_pnl.map(decimal),
        }
    }
}

/// List paper trades
///
/// Returns the watchlist's paper trades, most recently opened first.
#[utoipa::path(
    get,
    path = "/watchlist/paper-trades",
    tag = "Watchlist",
    params(PaperTradesPage),
    responses((status = 200, description = "A page of the paper trades", body = Envelope<Vec<PaperTradeView>>)),
    security(("ApiKeyHeader" = ["watchlist:read"]))
)]
pub(super) async fn list_paper_trades(
    State(app): State<App>,
    caller: Authorized<WatchlistRead>,
    ListParams(request): PaperTradesPage,
) -> Result<ApiResponse<Vec<PaperTradeView>>, ApiError> {
    let page = app.service().watchlists.paper_trades(&caller.actor, request).await?;
    Ok(ApiResponse::page(ListPage::of(page, request, PaperTradeView::of)))
}
