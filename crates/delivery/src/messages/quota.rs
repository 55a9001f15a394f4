//! Warnings when an account's monthly quota of text messages runs out: at 80 % and at 100 %, each once a month.
//!
//! The id of a warning is derived from account, month and kind, so it is queued once, by any process and however often.
//! All accounts with claimed text messages are checked, including messages counted before: if a process dies between
//! counting and warning, the process that claims the message again sends the warning.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use notify::templates::AccountEmail;
use store::StoreError;
use store::model::{AccountId, ClaimedMessage, MessageChannel, MessageId};

use super::channel::OutgoingMessage;
use super::message_queue::MessageQueue;
use super::recipient::Recipient;
use super::write::seal_message;
use crate::messages::QuotaPeriod;

/// Usage of the first warning, in percent of the quota.
const WARNING_THRESHOLD_PERCENT: u64 = 80;

impl<M: OutgoingMessage> MessageQueue<M> {
    /// Queues warnings for accounts that reach a warning threshold.
    pub(super) async fn warn_of_quota(&self, accounts: BTreeMap<AccountId, (String, u32)>) -> Result<(), StoreError> {
        let now = self.now();
        // Fails only at the end of the supported time range.
        let Ok(period) = QuotaPeriod::of(now) else {
            return Ok(());
        };
        let mut warnings = Vec::new();
        for (account, (email, quota)) in accounts {
            let used = self
                .ports
                .store
                .count_text_messages(account, period.start, period.end)
                .await?;
            for content in due_warnings(used, quota, &period) {
                let id = MessageId::for_warning(account, period.start, content.kind());
                let to = (MessageChannel::Email, email.as_str());
                let (vault, random) = (&self.composer.vault, &self.ports.random);
                match seal_message(vault, random, (id, now), to, Some(account), &content) {
                    Ok(warning) => warnings.push(warning),
                    Err(error) => tracing::error!(%error, "cannot create a warning about the quota of text messages"),
                }
            }
        }
        if warnings.is_empty() {
            return Ok(());
        }
        let transaction = self.ports.store.commit(warnings, |warnings, unit| {
            Box::pin(async move {
                for warning in warnings {
                    unit.queue_message_once(warning).await?;
                }
                Ok(())
            })
        });
        transaction.await
    }
}

/// Returns the accounts of text messages with their email address and quota.
pub(super) fn accounts(messages: &[(ClaimedMessage, Recipient)]) -> BTreeMap<AccountId, (String, u32)> {
    let account = |(message, recipient): &(ClaimedMessage, Recipient)| {
        let owner = message.owner.as_ref()?;
        Some((message.account?, (owner.email.clone(), recipient.quota?)))
    };
    messages.iter().filter_map(account).collect()
}

/// Returns the warnings for a usage.
fn due_warnings(used: u64, quota: u32, period: &QuotaPeriod) -> Vec<AccountEmail> {
    let renewed_on = period.end.to_zoned(TimeZone::UTC).date().to_string();
    let mut warnings = Vec::new();
    if quota > 0 && used * 100 >= u64::from(quota) * WARNING_THRESHOLD_PERCENT {
        warnings.push(AccountEmail::SmsQuotaLow {
            used: u32::try_from(used).unwrap_or(u32::MAX),
            quota,
            renewed_on: renewed_on.clone(),
        });
    }
    if used >= u64::from(quota) {
        warnings.push(AccountEmail::SmsQuotaUsed { quota, renewed_on });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(used: u64, quota: u32) -> Vec<&'static str> {
        let period = QuotaPeriod::of("2024-03-08T15:00:00Z".parse().unwrap()).unwrap();
        due_warnings(used, quota, &period)
            .iter()
            .map(AccountEmail::kind)
            .collect()
    }

    #[test]
    fn warnings_are_due_from_80_percent_and_at_100_percent() {
        assert!(kinds(39, 50).is_empty());
        assert_eq!(kinds(40, 50), ["sms_quota_low"]);
        assert_eq!(kinds(49, 50), ["sms_quota_low"]);
        assert_eq!(kinds(50, 50), ["sms_quota_low", "sms_quota_used"]);
        assert_eq!(kinds(0, 0), ["sms_quota_used"]);
    }
}
