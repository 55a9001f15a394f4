//! Features and usage of an account's plan.

use alerts::{Plan, Status};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::identity::account::{AccountSettings, load_account};
use crate::{AccountId, Actor, ServiceError};

/// Period of quotas: a calendar month in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuotaPeriod {
    /// First instant of the month.
    pub start: Timestamp,
    /// First instant after the month.
    pub end: Timestamp,
}

impl QuotaPeriod {
    /// Returns the month of an instant.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] for an instant at the end of the supported time range.
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

/// Features and usage of an account's plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// Account.
    pub account: AccountId,
    /// Plan.
    pub plan: Plan,
    /// Whether the account is deactivated.
    pub is_deactivated: bool,
    /// Current quota period.
    pub period: QuotaPeriod,
    /// Text messages about fired alerts sent in the period.
    pub sms_sent: u64,
    /// Number of alerts by status, for all statuses in their order.
    pub alerts: Vec<(Status, u64)>,
    /// Number of stocks on the watchlist.
    pub watchlist_items: u64,
    /// Maximum number of stocks on the watchlist.
    pub watchlist_quota: u64,
}

impl Subscription {
    /// Returns the number of alerts.
    #[must_use]
    pub fn total_alerts(&self) -> u64 {
        self.alerts.iter().map(|(_, count)| count).sum()
    }

    /// Returns how many more alerts may be active; `None` means no limit.
    #[must_use]
    pub fn remaining_active_alerts(&self) -> Option<u64> {
        let active = self.alerts.iter().find(|(status, _)| *status == Status::Active);
        let active = active.map_or(0, |(_, count)| *count);
        let quota = self.plan.active_alert_quota()?;
        Some(u64::from(quota).saturating_sub(active))
    }
}

/// Text message quota of an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmsQuota {
    /// Maximum number in the period.
    pub limit: u32,
    /// Number sent in the period.
    pub used: u64,
    /// Period.
    pub period: QuotaPeriod,
}

impl SmsQuota {
    /// Returns how many are left.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        u64::from(self.limit).saturating_sub(self.used)
    }
}

impl AccountSettings {
    /// Returns the actor's text message quota for the current month.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn sms_quota(&self, actor: &Actor) -> Result<SmsQuota, ServiceError> {
        let ports = &self.ports;
        let period = QuotaPeriod::of(ports.clock.now())?;
        let account = load_account(&self.ports.store, actor).await?;
        let used = ports.store.count_text_messages(account.id, period.start, period.end);
        Ok(SmsQuota {
            limit: account.plan.sms_per_month(),
            used: used.await?,
            period,
        })
    }

    /// Returns the features and usage of the actor's plan.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn subscription(&self, actor: &Actor) -> Result<Subscription, ServiceError> {
        let ports = &self.ports;
        let period = QuotaPeriod::of(ports.clock.now())?;
        let account = load_account(&self.ports.store, actor).await?;
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
    fn quota_period_is_a_utc_calendar_month() {
        for (now, start, end) in [
            ("2024-02-29T23:59:59Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2024-12-01T00:00:00Z", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z"),
        ] {
            let period = QuotaPeriod::of(now.parse().unwrap()).unwrap();
            assert_eq!(period.start, start.parse().unwrap());
            assert_eq!(period.end, end.parse().unwrap());
        }
    }
}
