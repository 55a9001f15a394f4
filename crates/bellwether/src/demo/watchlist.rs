//! The watchlist of the live demo: items from past months, so that it has trades and a performance.

use foundation::Actor;
use jiff::Span;
use jiff::civil::Date;
use market::Symbol;
use market::calendar::{new_york, new_york_date};
use service::cron::Job;
use store::model::AccountId;
use store::model::{PaperTrade, PaperTradeId, TimedPrice, WatchlistItem, WatchlistItemId};
use store::{Store, StoreError, UnitOfWork};
use watchlist::{Intention, TRADE_NOTIONAL};

use crate::serve::Server;

/// An item of the demo's watchlist.
struct PlannedItem {
    symbol: &'static str,
    /// The first intention.
    intention: Intention,
    days_ago: i64,
    /// The number of days since the intention was reversed, if it was.
    reversed_days_ago: Option<i64>,
    notes: &'static str,
}

const fn planned(symbol: &'static str, intention: Intention, days_ago: i64, notes: &'static str) -> PlannedItem {
    PlannedItem {
        symbol,
        intention,
        days_ago,
        reversed_days_ago: None,
        notes,
    }
}

/// The items. Their companies pay dividends; such companies never split in the simulated market.
const PLANNED_ITEMS: [PlannedItem; 6] = [
    PlannedItem {
        reversed_days_ago: Some(40),
        ..planned(
            "MRDN",
            Intention::Buy,
            160,
            "Bought for its dividend, then reversed after a long rise",
        )
    },
    planned("PRLS", Intention::Buy, 120, "Steady growth; add on weakness"),
    planned("BRKW", Intention::Buy, 90, "Cheap against its earnings"),
    planned("DUNE", Intention::Sell, 75, "Oil looks expensive"),
    planned("ALDR", Intention::Buy, 45, "Strong demand for its chips"),
    planned("HRTH", Intention::Sell, 20, "Weak season for furniture"),
];

/// Fills the account's watchlist if it is empty, and runs the analyst for it.
///
/// # Errors
/// If the database fails.
pub(super) async fn fill(server: &Server, actor: &Actor) -> anyhow::Result<()> {
    if server.store.count_watchlist_items(actor.account).await? > 0 {
        return Ok(());
    }
    let today = new_york_date(server.clock.now());
    for planned in &PLANNED_ITEMS {
        if let Some(item) = BackdatedItem::read(server, actor.account, planned, today).await? {
            let insert = server.store.commit(item, |item, unit| Box::pin(item.insert(unit)));
            insert.await?;
        }
    }
    server.service.jobs.run_job(Job::Analyst).await?;
    Ok(())
}

/// Returns a past price: the close of the first session on or after a day. `None` if there is none.
async fn price_from(store: &Store, symbol: Symbol, day: Date) -> anyhow::Result<Option<TimedPrice>> {
    let bars = store.bars(symbol, day).await?;
    // 12:30 is within the session, even on days with an early close.
    let price = bars.first().map(|bar| TimedPrice {
        price: bar.close,
        at: new_york(bar.date, 12, 30),
    });
    Ok(price)
}

/// An item with its trades. The last trade is open.
struct BackdatedItem {
    item: WatchlistItem,
    trades: Vec<PaperTrade>,
}

impl BackdatedItem {
    async fn read(
        server: &Server,
        account: AccountId,
        planned: &PlannedItem,
        today: Date,
    ) -> anyhow::Result<Option<Self>> {
        let symbol: Symbol = planned.symbol.parse()?;
        let day = |days_ago: i64| today.saturating_sub(Span::new().days(days_ago));
        let Some(entry) = price_from(&server.store, symbol, day(planned.days_ago)).await? else {
            return Ok(None);
        };
        let reversal = match planned.reversed_days_ago {
            Some(days_ago) => price_from(&server.store, symbol, day(days_ago)).await?,
            None => None,
        };
        let id = WatchlistItemId(server.random.uuid());
        let trade = |intention, entry, exit| PaperTrade {
            id: PaperTradeId(server.random.uuid()),
            account,
            item: id,
            symbol,
            intention,
            notional: TRADE_NOTIONAL,
            entry,
            exit,
        };
        let mut trades = vec![trade(planned.intention, entry, reversal)];
        let (mut intention, mut last_entry) = (planned.intention, entry);
        if let Some(reversal) = reversal {
            intention = match intention {
                Intention::Buy => Intention::Sell,
                Intention::Sell => Intention::Buy,
            };
            last_entry = reversal;
            trades.push(trade(intention, reversal, None));
        }
        let item = WatchlistItem {
            id,
            account,
            symbol,
            intention,
            target_price: None,
            initial_price: Some(last_entry),
            notes: Some(planned.notes.to_owned()),
            has_auto_alerts: true,
            is_active: true,
            created_at: entry.at,
            updated_at: last_entry.at,
            advised: None,
        };
        Ok(Some(Self { item, trades }))
    }

    async fn insert(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        unit.insert_watchlist_item(&self.item).await?;
        for trade in &self.trades {
            unit.insert_paper_trade(trade).await?;
            if let Some(exit) = trade.exit {
                unit.close_paper_trade(trade.id, exit).await?;
            }
        }
        Ok(())
    }
}
