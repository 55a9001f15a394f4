//! The alerts of a replay.

use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{Alert, AlertId, NewAlert};
use jiff::Timestamp;
use market::{Price, Symbol};
use uuid::Uuid;

use super::period::ReplayPeriod;

/// An alert to replay. It is identified by its index in the list.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayAlert {
    /// The alert. Its symbol counts only as one of `symbols`.
    pub alert: NewAlert,
    /// The stocks, each with its own state, initial price and firing.
    pub symbols: Vec<Symbol>,
    /// The creation time; `None` is before the first replayed day.
    pub created_at: Option<Timestamp>,
    /// The price at its creation; `None` is the first price of the replay at or after it.
    pub initial_price: Option<Price>,
    /// The time when the condition was set, in whose shares an expression is judged; `None` is the creation time.
    pub condition_set_at: Option<Timestamp>,
}

impl ReplayAlert {
    /// Returns an alert that gets its initial price in the replay.
    #[must_use]
    pub fn new(alert: NewAlert, created_at: Option<Timestamp>) -> Self {
        let symbols = vec![alert.symbol];
        Self::over(alert, symbols, created_at)
    }

    /// Returns an alert over many stocks, of which each gets its initial price in the replay.
    #[must_use]
    pub const fn over(alert: NewAlert, symbols: Vec<Symbol>, created_at: Option<Timestamp>) -> Self {
        Self {
            alert,
            symbols,
            created_at,
            initial_price: None,
            condition_set_at: None,
        }
    }
}

/// A stock of an alert in a replay. Its id contains its index among all of them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ReplayMember {
    /// The index of the alert in the list.
    pub(super) alert_index: usize,
    pub(super) alert: Alert,
}

/// Builds the alerts on each stock. An alert without a creation time is created just before the first replayed day.
pub(super) fn members(alerts: Vec<ReplayAlert>, period: &ReplayPeriod) -> Vec<ReplayMember> {
    let mut members = Vec::with_capacity(alerts.len());
    for (alert_index, replayed) in alerts.into_iter().enumerate() {
        let created_at = replayed.created_at.unwrap_or_else(|| period.just_before_start());
        for symbol in replayed.symbols {
            let request = NewAlert {
                symbol,
                parameters: None,
                ..replayed.alert.clone()
            };
            let created = transition::create(
                request,
                AlertId(Uuid::from_u128(members.len() as u128)),
                OwnerVerification::Verified,
                PriceAvailability::Awaited,
                created_at,
            );
            let alert = Alert {
                initial_price: replayed.initial_price,
                threshold_set_at: replayed.condition_set_at.unwrap_or(created_at),
                ..created.expect("the price is awaited").alert
            };
            members.push(ReplayMember { alert_index, alert });
        }
    }
    members
}

/// Returns the index of a member that [`members`] built.
pub(super) fn index_of(id: AlertId) -> usize {
    usize::try_from(id.0.as_u128()).expect("the id contains an index")
}
