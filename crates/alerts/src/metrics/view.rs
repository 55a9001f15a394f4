//! The data of one stock at one instant.

use jiff::civil::Date;
use market::records::FundamentalsRow;
use market::{Decimal, History, Price, SplitRatio};

use crate::condition::EpsBasis;
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
    pub vwap: Option<Price>,
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

impl FundamentalFigures {
    /// Returns the figures of a row, per share of the row's day.
    #[must_use]
    pub const fn of(row: &FundamentalsRow) -> Self {
        Self {
            trailing_eps: row.eps_ttm,
            forward_eps: row.eps_forward,
            market_cap: row.market_cap,
            dividend_yield: row.dividend_yield,
        }
    }

    /// Returns the earnings per share.
    #[must_use]
    pub const fn eps(&self, basis: EpsBasis) -> Option<Decimal> {
        match basis {
            EpsBasis::Trailing => self.trailing_eps,
            EpsBasis::Forward => self.forward_eps,
        }
    }

    /// Returns the earnings per share in millionths of a dollar if they are positive, so that a price can be divided by them.
    pub(crate) fn positive_eps(&self, basis: EpsBasis) -> Option<i64> {
        self.eps(basis).map(Decimal::micros).filter(|&eps| eps > 0)
    }

    /// Returns the figures per new share. The market capitalization and the yield do not depend on the number of shares.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        let per_new_share = |eps: Decimal| Decimal::from_micros(ratio.divide(eps.micros()));
        Self {
            trailing_eps: self.trailing_eps.map(per_new_share),
            forward_eps: self.forward_eps.map(per_new_share),
            ..self
        }
    }

    /// Returns the figures with those of `older` for what is missing.
    #[must_use]
    pub fn or(self, older: Self) -> Self {
        Self {
            trailing_eps: self.trailing_eps.or(older.trailing_eps),
            forward_eps: self.forward_eps.or(older.forward_eps),
            market_cap: self.market_cap.or(older.market_cap),
            dividend_yield: self.dividend_yield.or(older.dividend_yield),
        }
    }
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
    /// Whether the price was observed in extended hours, so that it stands in for the close of the session to come.
    pub is_extended: bool,
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

impl StockInputs<'_> {
    /// Returns the price that stands in for the close of the running session, or of the session to come; `None` if the last completed
    /// close is the newest price.
    pub(super) fn provisional_close(&self) -> Option<Price> {
        self.price.filter(|_| self.session.is_some() || self.is_extended)
    }

    /// Returns whether the judged price of a running session is unknown: a bid or an ask that no source delivered. The completed
    /// sessions alone do not stand in for it.
    pub(super) fn lacks_judged_price(&self) -> bool {
        self.price.is_none() && (self.session.is_some() || self.is_extended)
    }
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

impl AlertBasis {
    /// Returns what belongs to an alert of another stock than its own: it has no price of that at its creation, or since.
    #[must_use]
    pub const fn of_another_stock(self) -> Self {
        Self {
            initial_price: None,
            high_since_armed: None,
            low_since_armed: None,
            ..self
        }
    }
}
