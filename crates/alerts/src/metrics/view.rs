//! The data of one stock at one instant.

use jiff::civil::Date;
use market::{Decimal, History, Price};

use crate::engine::event::{Dividend, InsiderTrade};
use crate::expression::metric::ChangeBase;

/// The running session, this observation included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionSoFar {
    /// The first price.
    pub open: Price,
    /// The highest price.
    pub high: Price,
    /// The lowest price.
    pub low: Price,
    /// The volume in shares; `None` before the first one.
    pub volume: Option<i64>,
    /// The volume-weighted average price.
    pub vwap: Option<Decimal>,
}

/// The fundamentals per today's share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FundamentalFigures {
    /// The trailing earnings per share.
    pub trailing_eps: Option<Decimal>,
    /// The forward earnings per share.
    pub forward_eps: Option<Decimal>,
    /// The market capitalization in US dollars.
    pub market_cap: Option<Decimal>,
    /// The dividend yield in percent.
    pub dividend_yield: Option<Decimal>,
}

/// The mentions on social media.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MentionCounts {
    /// The mentions of the last 24 hours.
    pub last_day: i64,
    /// The mentions of the seven days before.
    pub week_before: i64,
}

/// Everything that is known of one stock at one instant.
#[derive(Clone, Copy, Debug)]
pub struct StockInputs<'a> {
    /// The completed sessions.
    pub history: &'a History,
    /// The running session; `None` outside a session.
    pub session: Option<SessionSoFar>,
    /// The newest price.
    pub price: Option<Price>,
    /// The bid.
    pub bid: Option<Price>,
    /// The ask.
    pub ask: Option<Price>,
    /// The highest price of 52 weeks before this observation.
    pub high_52_weeks: Option<Price>,
    /// The lowest price of 52 weeks before this observation.
    pub low_52_weeks: Option<Price>,
    /// The fundamentals.
    pub fundamentals: FundamentalFigures,
    /// The mentions; `None` while they are unknown.
    pub mentions: Option<MentionCounts>,
    /// The insider trades; `None` if no source delivers them.
    pub insider_trades: Option<&'a [InsiderTrade]>,
    /// The earnings dates.
    pub earnings: &'a [Date],
    /// The dividends.
    pub dividends: &'a [Dividend],
    /// The date in New York.
    pub today: Date,
}

/// The prices that belong to an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlertBasis {
    /// The initial price.
    pub initial_price: Option<Price>,
    /// The highest evaluated price since the alert was armed, this one included.
    pub high_since_armed: Option<Price>,
    /// The lowest evaluated price since the alert was armed, this one included.
    pub low_since_armed: Option<Price>,
    /// The base of `change_pct` without an argument, from the alert's options.
    pub change_base: ChangeBase,
}
