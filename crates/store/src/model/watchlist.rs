//! Watchlists: items, paper trades and the analyst's queue.

use alerts::Intention;
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Decimal, Price, Symbol};
use uuid::Uuid;

use super::AccountId;

/// Watchlist item id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WatchlistItemId(pub Uuid);

/// Paper trade id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PaperTradeId(pub Uuid);

/// A price in the shares of the day of an instant. The instant determines which splits apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimedPrice {
    /// The price.
    pub price: Price,
    /// Instant.
    pub at: Timestamp,
}

/// The analyst's advice on a stock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnalystAdvice {
    /// Time of the advice and the stock's price then.
    pub priced: TimedPrice,
    /// Author: the rules, or the name of a language model.
    pub by: String,
    /// A few sentences.
    pub summary: String,
}

/// An item of a watchlist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WatchlistItem {
    /// Unique id.
    pub id: WatchlistItemId,
    /// Owning account.
    pub account: AccountId,
    /// The stock.
    pub symbol: Symbol,
    /// The intended action.
    pub intention: Intention,
    /// Target price, if any.
    pub target_price: Option<TimedPrice>,
    /// The stock's price when the item was added, its intention was changed, or it was activated again. `None` while
    /// no price is known.
    pub initial_price: Option<TimedPrice>,
    /// The owner's notes.
    pub notes: Option<String>,
    /// Whether the analyst creates alerts for it.
    pub has_auto_alerts: bool,
    /// Whether it is active.
    pub is_active: bool,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Latest advice of the analyst.
    pub advised: Option<AnalystAdvice>,
}

/// A watchlist item as listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedWatchlistItem {
    /// The item.
    pub item: WatchlistItem,
    /// Number of the account's active alerts on the stock.
    pub active_alerts: u64,
    /// Number of the account's paused alerts on the stock.
    pub paused_alerts: u64,
}

/// A paper trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaperTrade {
    /// Unique id.
    pub id: PaperTradeId,
    /// Owning account.
    pub account: AccountId,
    /// The watchlist item. It may be deleted by now.
    pub item: WatchlistItemId,
    /// The stock.
    pub symbol: Symbol,
    /// The intended action, which determines the direction of the trade.
    pub intention: Intention,
    /// Notional value in US dollars.
    pub notional: Decimal,
    /// Entry.
    pub entry: TimedPrice,
    /// Exit. `None` while the trade is open.
    pub exit: Option<TimedPrice>,
}

/// The return of one session on all paper trades of an account.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PaperReturn {
    /// Date of the session.
    pub date: Date,
    /// Return as a ratio: 0.01 is one percent.
    pub value: f64,
}

/// How far an account's paper trades have been computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaperProgress {
    /// Incremented whenever earlier progress becomes invalid.
    pub version: i64,
    /// The last computed session and the state after it as JSON text. `None` at the beginning.
    pub reached: Option<(Date, String)>,
}

/// A claimed analysis of a watchlist item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimedAnalysis {
    /// Watchlist item.
    pub item: WatchlistItemId,
    /// Owning account.
    pub account: AccountId,
    /// Number of requests when it was claimed.
    pub asked: i64,
    /// Number of previous attempts.
    pub tries: u32,
    /// Lease of the claim.
    pub lease: i64,
}
