//! Paper trades as they are displayed.

use std::collections::BTreeSet;

use market::{Decimal, Price};
use paper::Trade;
use store::model::{ListRequest, Page, PaperTrade, PaperTradeId};

use super::trade_context::trade_of;
use crate::Watchlists;
use foundation::{Actor, ServiceError};

/// A paper trade, adjusted for splits and dividends.
#[derive(Clone, PartialEq, Debug)]
pub struct TradeView {
    /// The trade as it was opened.
    pub stored: PaperTrade,
    /// `long` or `short`.
    pub direction: &'static str,
    /// The number of shares, after splits.
    pub quantity: Decimal,
    /// The entry price in today's shares.
    pub entry_price: Price,
    /// The profit of a closed trade in US dollars, including dividends.
    pub realized_pnl: Option<Decimal>,
    /// The profit of an open trade if it were closed now, in US dollars; `None` without a price.
    pub unrealized_pnl: Option<Decimal>,
}

impl Watchlists {
    /// Returns the actor's paper trades, the last opened first.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] if the account has no trade `after`.
    pub async fn paper_trades(
        &self,
        actor: &Actor,
        request: impl Into<ListRequest<PaperTradeId>>,
    ) -> Result<Page<TradeView>, ServiceError> {
        let Page { items, total } = self.ports.store.paper_trades(actor.account, request).await?;
        let symbols: BTreeSet<_> = items.iter().map(|trade| trade.symbol).collect();
        let events = self.paper_events(symbols);
        let now = self.ports.clock.now();
        let view = |stored: PaperTrade| {
            let mut trade: Trade = trade_of(&stored)?;
            trade.apply_actions(&events, now);
            let observed = self.evaluator.last_observed(stored.symbol);
            let price = observed.map(|observed| observed.price).filter(|_| trade.is_open());
            Some(TradeView {
                direction: trade.direction.as_str(),
                quantity: trade.quantity(),
                entry_price: trade.entry_price(),
                realized_pnl: trade.realised_profit(),
                unrealized_pnl: price.map(|price| trade.profit_at(price)),
                stored,
            })
        };
        Ok(Page {
            items: items.into_iter().filter_map(view).collect(),
            total,
        })
    }
}
