//! What an account's plan has, and how much of it is used.

use alerts::{Plan, Status};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::identity::account::{AccountSettings, account_of};
use crate::{AccountId, Actor, ServiceError};

/// A month by which quotas are counted: a calendar month in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Period {
    /// Its first instant.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
}

impl Period {
    /// The month of an instant.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] for an instant at the end of time.
    pub fn of(now: Timestamp) -> Result<Self, ServiceError> {
        let day = now.to_zoned(TimeZone::UTC).date();
        let next = day.last_of_month().tomorrow().map_err(ServiceError::internal)?;
        let begin = |day: jiff::civil::Date| day.to_zoned(TimeZone::UTC).map(|at| at.timestamp());
        Ok(Self {
            start: begin(day.first_of_month()).map_err(ServiceError::internal)?,
            end: begin(next).map_err(ServiceError::internal)?,
        })
    }
}

/// What an account's plan has, and how much of it is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// Whose.
    pub account: AccountId,
    /// The plan.
    pub plan: Plan,
    /// Whether the account is deactivated.
    pub is_deactivated: bool,
    /// The month that is counted.
    pub period: Period,
    /// The text messages about firings that were sent in it.
    pub sms_sent: u64,
    /// How many alerts there are of each status, all statuses in their order.
    pub alerts: Vec<(Status, u64)>,
    /// How many stocks are on the watchlist.
    pub watchlist_items: u64,
    /// How many may be.
    pub watchlist_quota: u64,
}

impl Subscription {
    /// How many alerts there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.alerts.iter().map(|(_, count)| count).sum()
    }

    /// How many more alerts may be active; `None` is any number.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        let active = self.alerts.iter().find(|(status, _)| *status == Status::Active);
        let active = active.map_or(0, |(_, count)| *count);
        let quota = self.plan.active_alert_quota()?;
        Some(u64::from(quota).saturating_sub(active))
    }
}

/// The text messages of an account in a month.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmsQuota {
    /// How many the plan has.
    pub limit: u32,
    /// How many were sent.
    pub used: u64,
    /// The month.
    pub period: Period,
}

impl SmsQuota {
    /// How many are left.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        u64::from(self.limit).saturating_sub(self.used)
    }
}

impl AccountSettings {
    /// The actor's text messages of this month.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account is not there any more.
    pub async fn sms_quota(&self, actor: &Actor) -> Result<SmsQuota, ServiceError> {
        let ports = &self.ports;
        let period = Period::of(ports.clock.now())?;
        let account = account_of(&self.ports.store, actor).await?;
        let used = ports.store.count_text_messages(account.id, period.start, period.end);
        Ok(SmsQuota {
            limit: account.plan.sms_per_month(),
            used: used.await?,
            period,
        })
    }

    /// What the actor's plan has, and how much of it is used.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account is not there any more.
    pub async fn subscription(&self, actor: &Actor) -> Result<Subscription, ServiceError> {
        let ports = &self.ports;
        let period = Period::of(ports.clock.now())?;
        let account = account_of(&self.ports.store, actor).await?;
        let counts = ports.store.count_alerts(account.id).await?;
        let count = |status: Status| {
            let found = counts.iter().find(|(counted, _)| *counted == status);
            (status, found.map_or(0, |(_, count)| *count))
        };
        let sent = ports.store.count_text_messages(account.id, period.start, period.end);
        Ok(Subscription {
            account: account.id,
            plan: account.plan,
            is_deactivated: account.profile.deactivated_at.is_some(),
            period,
            sms_sent: sent.await?,
            alerts: Status::ALL.iter().copied().map(count).collect(),
            watchlist_items: ports.store.count_watchlist_items(account.id).await?,
            watchlist_quota: account.plan.watchlist_quota().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_a_calendar_month_in_utc() {
        for (now, start, end) in [
            ("2024-02-29T23:59:59Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2024-12-01T00:00:00Z", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z"),
        ] {
            let period = Period::of(now.parse().unwrap()).unwrap();
            assert_eq!(period.start, start.parse().unwrap());
            assert_eq!(period.end, end.parse().unwrap());
        }
    }
}
