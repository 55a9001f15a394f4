//! How finely the past is played: a session in its intraday bars where they are stored, else as a daily bar.

use std::collections::BTreeSet;

use jiff::civil::Date;
use market::Symbol;
use market::calendar::new_york_date;
use sources::folder::MarketData;

/// The resolution of the bars of a past period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Resolution {
    /// Each session is one bar.
    #[default]
    Daily,
    /// Each session has intraday bars.
    Intraday,
    /// Some sessions, or stocks, have intraday bars.
    Mixed,
}

impl Resolution {
    /// Returns the name in responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Daily => "1d",
            Self::Intraday => "intraday",
            Self::Mixed => "mixed",
        }
    }

    /// Returns the resolution of `all` bars of which `intraday` are intraday ones.
    pub(in crate::alerts) const fn of(intraday: usize, all: usize) -> Self {
        match intraday {
            0 => Self::Daily,
            _ if intraday < all => Self::Mixed,
            _ => Self::Intraday,
        }
    }
}

/// Returns the sessions of which intraday bars of all stocks are stored.
pub(super) fn intraday_sessions(data: &MarketData, symbols: &[Symbol]) -> BTreeSet<Date> {
    let of_stock = |symbol: &Symbol| -> BTreeSet<Date> {
        let bars = data.bars.get(symbol).into_iter().flat_map(|bars| &bars.intraday);
        bars.map(|bar| new_york_date(bar.time)).collect()
    };
    let sessions = symbols.iter().map(of_stock).reduce(|all, own| &all & &own);
    sessions.unwrap_or_default()
}

/// Removes the intraday bars of sessions of which another stock has none: its prices would be those of a daily bar.
pub(super) fn keep_common_sessions(data: &mut MarketData, symbols: &[Symbol]) {
    let common = intraday_sessions(data, symbols);
    for symbol in symbols {
        if let Some(bars) = data.bars.get_mut(symbol) {
            bars.intraday.retain(|bar| common.contains(&new_york_date(bar.time)));
        }
    }
}
