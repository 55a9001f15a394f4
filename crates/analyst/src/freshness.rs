//! The rule for when the analyst's alerts are out of date.
//!
//! Alerts are proposed for a horizon and around a price. They are stale once the horizon has passed or the price has
//! moved too far; the stock then needs a new analysis.

use jiff::civil::Date;
use market::Price;
use market::calendar::new_york_date;

use crate::probability::HORIZON_SESSIONS;
use crate::{Analysis, AnalysisSubject};

/// The reason why alerts are stale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StaleReason {
    /// The horizon has passed.
    HorizonPassed {
        /// The number of sessions since they were created.
        sessions: u32,
    },
    /// The price has moved away from the one at which they were created.
    PriceMoved {
        /// The logarithm of the move; positive for a rise.
        log: f64,
    },
}

impl StaleReason {
    /// Returns why alerts are stale that were created at `made_at` and at `made_price` (per today's share), or `None`
    /// if they are not stale.
    #[must_use]
    pub fn of(
        made_at: jiff::Timestamp,
        made_price: Price,
        subject: &AnalysisSubject<'_>,
        analysis: &Analysis,
    ) -> Option<Self> {
        let sessions = sessions_between(new_york_date(made_at), subject);
        if sessions >= HORIZON_SESSIONS {
            return Some(Self::HorizonPassed { sessions });
        }
        let log = -subject.distance(made_price);
        (log.abs() > analysis.volatility.sigma_horizon()).then_some(Self::PriceMoved { log })
    }
}

/// The number of sessions that began after the day `made_on`, at most the horizon.
fn sessions_between(made_on: Date, subject: &AnalysisSubject<'_>) -> u32 {
    let sessions = subject.context.calendar.sessions(made_on, subject.today());
    let since = sessions.filter(|session| session.date > made_on);
    (1..=HORIZON_SESSIONS).zip(since).last().map_or(0, |(count, _)| count)
}
