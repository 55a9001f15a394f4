//! Blindness notices: owners are notified that alerts cannot be evaluated because quotes are stale.

use jiff::Timestamp;
use market::Symbol;

use super::AccountId;

/// A notice to an account that a stock's quotes are stale. Notices of one account with the same `notified_at` were
/// sent in one email.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlindnessNotice {
    /// Notified account.
    pub account: AccountId,
    /// Stock.
    pub symbol: Symbol,
    /// Since when its quotes were stale.
    pub since: Timestamp,
    /// Time of the notice.
    pub notified_at: Timestamp,
}
