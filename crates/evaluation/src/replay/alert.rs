//! The alerts of a replay.

use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{Alert, AlertId, NewAlert};
use jiff::Timestamp;
use market::Price;
use uuid::Uuid;

use super::period::ReplayPeriod;

/// An alert to replay. It is identified by its index in the list.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayAlert {
    /// The alert.
    pub alert: NewAlert,
    /// The creation time; `None` is before the first replayed day.
    pub created_at: Option<Timestamp>,
    /// The price at its creation; `None` is the first price of the replay at or after it.
    pub initial_price: Option<Price>,
}

impl ReplayAlert {
    /// Returns an alert that gets its initial price in the replay.
    #[must_use]
    pub const fn new(alert: NewAlert, created_at: Option<Timestamp>) -> Self {
        Self {
            alert,
            created_at,
            initial_price: None,
        }
    }
}

/// Builds the alert at `index`. An alert without a creation time is created just before the first replayed day.
pub(super) fn alert_from(index: usize, alert: ReplayAlert, period: &ReplayPeriod) -> Alert {
    let ReplayAlert {
        alert,
        created_at,
        initial_price,
    } = alert;
    let created_at = created_at.unwrap_or_else(|| period.just_before_start());
    let request = NewAlert {
        parameters: None,
        ..alert
    };
    let id = AlertId(Uuid::from_u128(index as u128));
    let created = transition::create(
        request,
        id,
        OwnerVerification::Verified,
        PriceAvailability::Awaited,
        created_at,
    );
    Alert {
        initial_price,
        ..created.expect("the price is awaited").alert
    }
}

/// Returns the index of an alert that [`alert_from`] built.
pub(super) fn index_of(id: AlertId) -> usize {
    usize::try_from(id.0.as_u128()).expect("the id contains an index")
}
