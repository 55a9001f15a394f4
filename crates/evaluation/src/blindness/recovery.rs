//! Notices that blind alerts of an account have recovered.

use ::alerts::engine::Feed;
use ::market::Symbol;
use jiff::Timestamp;
use notify::templates::AccountEmail;
use store::{StoreError, UnitOfWork};

use super::{BlindnessNoticeWriter, wants_notices};
use delivery::messages::alert_summary::{MAX_NAMED_ALERTS, named_alert};
use store::model::AccountId;

/// Ends the blind period that an account was notified of at an instant, and queues a notice.
pub(super) struct QueueRecoveryNotice {
    pub(super) account: AccountId,
    pub(super) notified_at: Timestamp,
    pub(super) writer: BlindnessNoticeWriter,
}

impl QueueRecoveryNotice {
    pub(super) async fn run(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let Some(account) = unit.lock_account(self.account).await? else {
            return Ok(());
        };
        let mut notices = unit.blindness_notices_of(self.account).await?;
        notices.retain(|notice| notice.notified_at == self.notified_at);
        // Another process may have done it.
        let Some(since) = notices.iter().map(|notice| notice.since).min() else {
            return Ok(());
        };
        unit.delete_blindness_notices(self.account, self.notified_at).await?;
        let symbols: Vec<Symbol> = notices.iter().map(|notice| notice.symbol).collect();
        let mut alerts = unit.active_alerts_on(self.account, &symbols).await?;
        alerts.retain(|stored| Feed::of(&stored.alert.condition) == Some(Feed::Quotes));
        if alerts.is_empty() || !wants_notices(&account) {
            return Ok(());
        }
        let email = AccountEmail::AlertsRecovered {
            alerts: alerts
                .iter()
                .take(MAX_NAMED_ALERTS)
                .map(|stored| named_alert(&stored.alert))
                .collect(),
            more: alerts.len().saturating_sub(MAX_NAMED_ALERTS),
            since: format!("{since:.0}"),
        };
        if let Some(message) = self.writer.email(&account, &email) {
            unit.queue_message(&message).await?;
        }
        Ok(())
    }
}
