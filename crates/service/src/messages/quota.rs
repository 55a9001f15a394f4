//! Warnings that an account's text messages of the month run out: at 80 % and at 100 %, each once a month.
//!
//! A warning has an id of its account, month and kind, so it is queued once, by whichever process and however often. The
//! accounts of all text messages that are claimed are looked at, also those that were counted before: if a process dies
//! between counting a message and warning, the process that claims the message again warns.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use notify::templates::AccountEmail;
use store::model::{AccountId, ClaimedMessage, MessageId, NewMessage};
use store::{Abort, BoxFuture, StoreError, Transaction, UnitOfWork};

use super::post::Post;
use super::recipient::Recipient;
use super::write::letter_of_id;
use crate::identity::account::Period;
use crate::market::refused_never;

/// From how many percent of the quota on an account is warned first.
const WARNED_FROM_PERCENT: u64 = 80;

impl Post {
    /// Warns the accounts of text messages, as far as they have used up their plan's quota.
    pub(super) async fn warn_of_quota(&self, accounts: BTreeMap<AccountId, (String, u32)>) -> Result<(), StoreError> {
        let now = self.time.now();
        // Only an instant at the end of time is in no month.
        let Ok(period) = Period::of(now) else { return Ok(()) };
        let mut warnings = Vec::new();
        for (account, (email, quota)) in accounts {
            let used = self
                .store
                .count_text_messages(account, period.start, period.end)
                .await?;
            for letter in letters(used, quota, &period) {
                match self.warning((account, &email), &letter, period.start, now) {
                    Ok(warning) => warnings.push(warning),
                    Err(error) => tracing::error!(%error, "a warning of the quota of text messages cannot be written"),
                }
            }
        }
        if warnings.is_empty() {
            return Ok(());
        }
        self.store.write(Warn(warnings)).await.map_err(refused_never)
    }

    fn warning(
        &self,
        (account, email): (AccountId, &str),
        letter: &AccountEmail,
        period: Timestamp,
        now: Timestamp,
    ) -> Result<NewMessage, serde_json::Error> {
        let id = MessageId::for_warning(account, period, letter.kind());
        letter_of_id(&self.composer.vault, &self.chance, (id, now), email, account, letter)
    }
}

/// The accounts that text messages are counted for: their address and the quota of their plan.
pub(super) fn accounts(messages: &[(ClaimedMessage, Recipient)]) -> BTreeMap<AccountId, (String, u32)> {
    let account = |(message, recipient): &(ClaimedMessage, Recipient)| {
        let owner = message.owner.as_ref()?;
        Some((message.account?, (owner.email.clone(), recipient.quota?)))
    };
    messages.iter().filter_map(account).collect()
}

/// The warnings that are due when so many are used.
fn letters(used: u64, quota: u32, period: &Period) -> Vec<AccountEmail> {
    let renewed_on = period.end.to_zoned(TimeZone::UTC).date().to_string();
    let mut letters = Vec::new();
    if quota > 0 && used * 100 >= u64::from(quota) * WARNED_FROM_PERCENT {
        letters.push(AccountEmail::SmsQuotaLow {
            used: u32::try_from(used).unwrap_or(u32::MAX),
            quota,
            renewed_on: renewed_on.clone(),
        });
    }
    if used >= u64::from(quota) {
        letters.push(AccountEmail::SmsQuotaUsed { quota, renewed_on });
    }
    letters
}

struct Warn(Vec<NewMessage>);

impl Transaction for Warn {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            for warning in &self.0 {
                unit.queue_message_once(warning).await?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(used: u64, quota: u32) -> Vec<&'static str> {
        let period = Period::of("2024-03-08T15:00:00Z".parse().unwrap()).unwrap();
        letters(used, quota, &period).iter().map(AccountEmail::kind).collect()
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
