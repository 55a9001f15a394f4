//! Features and usage of an account's plan.

use alerts::{Plan, Status};
use delivery::messages::QuotaPeriod;

use crate::identity::account::AccountSettings;
use foundation::account::load_account;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

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
