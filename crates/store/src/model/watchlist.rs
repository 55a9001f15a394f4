//! Watchlists: what an account means to do with stocks, the paper trades that try it out, and what the analyst is asked.

use alerts::Intention;
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Decimal, Price, Symbol};
use uuid::Uuid;

use super::AccountId;

/// Which item of a watchlist.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WatchlistItemId(pub Uuid);

/// Which paper trade.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PaperTradeId(pub Uuid);

/// A price in the shares of the day of an instant, so that it can be told whether a split concerns it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PriceAt {
    /// The price.
    pub price: Price,
    /// As of when.
    pub at: Timestamp,
}

/// What the analyst said of a stock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advised {
    /// When, and at what price of the stock.
    pub priced: PriceAt,
    /// Who: the rules, or the name of a language model.
    pub by: String,
    /// A few sentences.
    pub summary: String,
}

/// An item of a watchlist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WatchlistItem {
    /// Which one.
    pub id: WatchlistItemId,
    /// Whose.
    pub account: AccountId,
    /// The stock.
    pub symbol: Symbol,
    /// What is meant to be done.
    pub intention: Intention,
    /// At what price, if that was said.
    pub target_price: Option<PriceAt>,
    /// What the stock cost when the item was added, turned or made active again; `None` while no price is known.
    pub initial_price: Option<PriceAt>,
    /// The owner's notes.
    pub notes: Option<String>,
    /// Whether the analyst makes alerts for it.
    pub has_auto_alerts: bool,
    /// Whether it is followed.
    pub is_active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When anything of it was changed last.
    pub updated_at: Timestamp,
    /// What the analyst said last.
    pub advised: Option<Advised>,
}

/// An item as a list shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedItem {
    /// The item.
    pub item: WatchlistItem,
    /// How many of the account's alerts on its stock are active.
    pub active_alerts: u64,
    /// How many are paused.
    pub paused_alerts: u64,
}

/// The beginning or the end of a paper trade, in the shares of its day.
pub type Fill = PriceAt;

/// A paper trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaperTrade {
    /// Which one.
    pub id: PaperTradeId,
    /// Whose.
    pub account: AccountId,
    /// For which item; it may be deleted by now.
    pub item: WatchlistItemId,
    /// The stock.
    pub symbol: Symbol,
    /// What was meant to be done, which is the direction of the trade.
    pub intention: Intention,
    /// What was put on it, in US dollars.
    pub notional: Decimal,
    /// How it began.
    pub entry: Fill,
    /// How it ended; `None` while it is open.
    pub exit: Option<Fill>,
}

/// What a session brought on all paper trades of an account.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PaperReturn {
    /// The session.
    pub date: Date,
    /// As a ratio: 0.01 for one percent.
    pub value: f64,
}

/// How far the paper trades of an account have been followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaperProgress {
    /// Counts what has made earlier progress invalid.
    pub version: i64,
    /// The last session that was taken in, and what the follower remembers of it, as JSON text. `None` at the beginning.
    pub reached: Option<(Date, String)>,
}

/// An item that the analyst is to look at, claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimedAnalysis {
    /// Which item.
    pub item: WatchlistItemId,
    /// Whose.
    pub account: AccountId,
    /// How often it had been asked for when it was claimed.
    pub asked: i64,
    /// How often it was tried before.
    pub tries: u32,
    /// The claim.
    pub lease: i64,
}
