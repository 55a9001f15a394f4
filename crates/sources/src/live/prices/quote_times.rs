//! The times of quotes: sessions, delayed plans and late quotes.

use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use market::records::QuoteRow;

use crate::MissedQuotes;
use crate::provider::TimeRange;

/// Whether a quote was made in a session. After the close, it is evaluated as of its own time.
pub(super) fn is_of_session(calendar: &Calendar, quote: &QuoteRow) -> bool {
    quote.time.is_some_and(|time| calendar.session_at(time).is_some())
}

/// Returns the period of the prices that a plan with this delay delivers within a period.
pub(super) fn shifted_back(TimeRange { from, to }: TimeRange, delay: SignedDuration) -> TimeRange {
    let before = |at: Timestamp| at.saturating_sub(delay).unwrap_or(at);
    TimeRange {
        from: before(from),
        to: before(to),
    }
}

/// Returns late quotes, which come before any later ones of their stocks.
pub(super) fn late_quotes(mut quotes: Vec<QuoteRow>) -> MissedQuotes {
    quotes.sort_by_key(|quote| quote.time);
    MissedQuotes {
        quotes,
        ..MissedQuotes::default()
    }
}
