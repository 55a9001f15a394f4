//! The watchlist of the live demo: items from months ago, so that it has trades and a performance.

use jiff::Span;
use jiff::civil::Date;
use market::Symbol;
use market::calendar::{new_york, new_york_date};
use service::cron::Job;
use service::watchlist::{Intention, NOTIONAL};
use service::{AccountId, Actor};
use store::model::{PaperTrade, PaperTradeId, PriceAt, WatchlistItem, WatchlistItemId};
use store::{Abort, BoxFuture, Store, Unit, Work};

use crate::serve::House;

/// An item of the demo's watchlist.
struct Planned {
    symbol: &'static str,
    /// The intention at first, and how many days ago the item was added.
    intention: Intention,
    days_ago: i64,
    /// How many days ago it was turned to the other intention, if it was.
    turned_days_ago: Option<i64>,
    notes: &'static str,
}

const fn planned(symbol: &'static str, intention: Intention, days_ago: i64, notes: &'static str) -> Planned {
    Planned {
        symbol,
        intention,
        days_ago,
        turned_days_ago: None,
        notes,
    }
}

/// The items. Their companies pay dividends, and such companies never split in the simulated market.
const PLANNED: [Planned; 6] = [
    Planned {
        turned_days_ago: Some(40),
        ..planned(
            "MRDN",
            Intention::Buy,
            160,
            "Bought for its dividend, then turned after a long rise",
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
pub(super) async fn fill(house: &House, actor: &Actor) -> anyhow::Result<()> {
    if house.store.count_watchlist_items(actor.account).await? > 0 {
        return Ok(());
    }
    let today = new_york_date(house.clock.now());
    for planned in &PLANNED {
        if let Some(item) = Backdated::read(house, actor.account, planned, today).await? {
            house.store.write(item).await.map_err(|abort| match abort {
                Abort::Store(error) => error,
                Abort::Refused(never) => match never {},
            })?;
        }
    }
    house.service.0.jobs.run_job(Job::Analyst).await?;
    Ok(())
}

/// A price of the past: the close of the first session from a day on. `None` if there is none.
async fn price_from(store: &Store, symbol: Symbol, day: Date) -> anyhow::Result<Option<PriceAt>> {
    let bars = store.bars(symbol, day).await?;
    // Within the session, also where it ends early.
    let price = bars.first().map(|bar| PriceAt {
        price: bar.close,
        at: new_york(bar.date, 12, 30),
    });
    Ok(price)
}

/// An item with its trades, the last one open.
struct Backdated {
    item: WatchlistItem,
    trades: Vec<PaperTrade>,
}

impl Backdated {
    async fn read(house: &House, account: AccountId, planned: &Planned, today: Date) -> anyhow::Result<Option<Self>> {
        let symbol: Symbol = planned.symbol.parse()?;
        let day = |days_ago: i64| today.saturating_sub(Span::new().days(days_ago));
        let Some(entry) = price_from(&house.store, symbol, day(planned.days_ago)).await? else {
            return Ok(None);
        };
        let turn = match planned.turned_days_ago {
            Some(days_ago) => price_from(&house.store, symbol, day(days_ago)).await?,
            None => None,
        };
        let id = WatchlistItemId(house.chance.uuid());
        let trade = |intention, entry, exit| PaperTrade {
            id: PaperTradeId(house.chance.uuid()),
            account,
            item: id,
            symbol,
            intention,
            notional: NOTIONAL,
            entry,
            exit,
        };
        let mut trades = vec![trade(planned.intention, entry, turn)];
        let (mut intention, mut begun) = (planned.intention, entry);
        if let Some(turn) = turn {
            intention = match intention {
                Intention::Buy => Intention::Sell,
                Intention::Sell => Intention::Buy,
            };
            begun = turn;
            trades.push(trade(intention, turn, None));
        }
        let item = WatchlistItem {
            id,
            account,
            symbol,
            intention,
            target_price: None,
            initial_price: Some(begun),
            notes: Some(planned.notes.to_owned()),
            has_auto_alerts: true,
            is_active: true,
            created_at: entry.at,
            updated_at: begun.at,
            advised: None,
        };
        Ok(Some(Self { item, trades }))
    }
}

impl Work for Backdated {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            unit.insert_watchlist_item(&self.item).await?;
            for trade in &self.trades {
                unit.insert_paper_trade(trade).await?;
                if let Some(exit) = trade.exit {
                    unit.close_paper_trade(trade.id, exit).await?;
                }
            }
            Ok(())
        })
    }
}
