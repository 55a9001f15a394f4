//! What owners were told of alerts that cannot be judged for want of fresh quotes.

use jiff::Timestamp;
use market::Symbol;

use super::AccountId;

/// A stock without fresh quotes of which the owner of alerts on it was told. Those of an account that were told at the same
/// instant stood in one letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlindStretch {
    /// Who was told.
    pub account: AccountId,
    /// Of which stock.
    pub symbol: Symbol,
    /// Since when its quotes were stale.
    pub since: Timestamp,
    /// When it was told.
    pub told_at: Timestamp,
}
