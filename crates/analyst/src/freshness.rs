//! Whether alerts that the analyst made are still worth waiting for.
//!
//! They were made for a horizon and around a price. When the one has passed or the other has gone elsewhere, what they
//! wait for has lost its sense, and the stock deserves another look.

use jiff::civil::Date;
use market::Price;
use market::calendar::new_york_date;

use crate::chance::HORIZON_SESSIONS;
use crate::{Analysis, Subject};

/// Why alerts are stale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stale {
    /// The horizon has passed.
    Aged {
        /// How many sessions ago they were made.
        sessions: u32,
    },
    /// The price has left the place around which they were made.
    PriceMoved {
        /// By what logarithm; positive when it rose.
        log: f64,
    },
}

impl Stale {
    /// Whether alerts that were made at an instant and at a price, per today's share, are stale for the subject; `None`
    /// if they are not.
    #[must_use]
    pub fn since(
        made_at: jiff::Timestamp,
        made_price: Price,
        subject: &Subject<'_>,
        analysis: &Analysis,
    ) -> Option<Self> {
        let sessions = sessions_between(new_york_date(made_at), subject);
        if sessions >= HORIZON_SESSIONS {
            return Some(Self::Aged { sessions });
        }
        let log = -subject.distance(made_price);
        (log.abs() > analysis.volatility.sigma_horizon()).then_some(Self::PriceMoved { log })
    }
}

/// How many sessions have begun since the day on which something was made, up to the horizon.
fn sessions_between(made_on: Date, subject: &Subject<'_>) -> u32 {
    let most = usize::try_from(HORIZON_SESSIONS).unwrap_or(usize::MAX);
    let sessions = subject.context.calendar.sessions(made_on, subject.today());
    let since = sessions.filter(|session| session.date > made_on).take(most).count();
    u32::try_from(since).unwrap_or(HORIZON_SESSIONS)
}
