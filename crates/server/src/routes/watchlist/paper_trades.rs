//! `GET /watchlist/paper-trades`

use axum::extract::State;
use serde::Serialize;
use service::watchlist::TradeView;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::answer::{Envelope, Pagination, Reply};
use crate::app::App;
use crate::auth::{Allowed, WatchlistRead};
use crate::document::names::{TradeDirectionName, TradeStatusName};
use crate::error::ApiError;
use crate::query::Query;
use crate::values::{decimal, price, timestamp};

const DEFAULT_LIMIT: u32 = 1_000;
const MAX_LIMIT: u32 = 1_000;

/// Which page.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct PaperTradesParams {
    /// The page, from 1.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_294_u64, default = 1)]
    page: Option<u32>,
    /// How many a page has; more than 1000 are cut to 1000.
    #[param(value_type = Option<u64>, minimum = 1, default = 1000)]
    limit: Option<u32>,
}

/// A paper trade.
#[derive(Debug, Serialize, ToSchema)]
pub struct PaperTrade {
    /// Its id.
    pub id: Uuid,
    /// Whose.
    pub user_id: Uuid,
    /// For which watchlist: an account has one, with its own id.
    pub watchlist_id: Uuid,
    /// For which item; it may be deleted by now.
    pub watchlist_item_id: Uuid,
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Which way it bets: long to buy, short to sell.
    #[schema(value_type = TradeDirectionName)]
    pub direction: &'static str,
    /// What was put on it, in US dollars.
    #[schema(example = 1000)]
    pub notional_usd: f64,
    /// How many shares, as of today's splits.
    #[schema(example = 5.033726)]
    pub quantity: f64,
    /// At what price it began, in today's shares.
    #[schema(example = 198.66)]
    pub entry_price: f64,
    /// When it began.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub entry_at: String,
    /// Whether it goes on.
    #[schema(value_type = TradeStatusName)]
    pub status: &'static str,
    /// At what price it ended, in the shares of that day.
    #[schema(required, example = 201.2)]
    pub exit_price: Option<f64>,
    /// When it ended.
    #[schema(required, format = DateTime)]
    pub exit_at: Option<String>,
    /// What a closed trade has earned in US dollars, dividends included.
    #[schema(required, example = 12.785664)]
    pub realized_pnl_usd: Option<f64>,
    /// What an open trade would earn in US dollars if it ended now, dividends included.
    #[schema(required)]
    pub unrealized_pnl_usd: Option<f64>,
}

impl PaperTrade {
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
/// What following the watchlist has opened and closed, those that were opened last first.
#[utoipa::path(
    get,
    path = "/watchlist/paper-trades",
    tag = "Watchlist",
    params(PaperTradesParams),
    responses((status = 200, description = "A page of the paper trades", body = Envelope<Vec<PaperTrade>>)),
    security(("ApiKeyHeader" = ["watchlist:read"]))
)]
pub(super) async fn list_paper_trades(
    State(app): State<App>,
    who: Allowed<WatchlistRead>,
    mut query: Query,
) -> Result<Reply<Vec<PaperTrade>>, ApiError> {
    let request = query.page(DEFAULT_LIMIT, MAX_LIMIT);
    query.finish()?;
    let page = app.service().watchlists.paper_trades(&who.actor, request).await?;
    let trades = page.items.into_iter().map(PaperTrade::of).collect();
    Ok(Reply::page(trades, Pagination::of(request, page.total)))
}
