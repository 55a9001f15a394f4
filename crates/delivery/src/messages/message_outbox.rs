//! Message queue of one channel, as the dispatcher's [`Outbox`].
//!
//! Claimed messages are checked (`recipient.rs`), counted against the limits, and rendered
//! ([`compose`](super::compose)). Messages that must not be sent are settled here at once.

use std::collections::HashSet;
use std::sync::Arc;

use clock::Clock;
use jiff::{SignedDuration, Timestamp};
use metrics::{counter, histogram};
use notify::dispatcher::{ClaimParams, ClaimedJob, DueEndpoint, Outbox, SettledJob};
use notify::schedule::NextStep;
use store::model::{
    self, ClaimedMessage, MessageChannel, MessageDecision, MessageLimits, MessageSettlement, QuotaDecision,
    QuotaRequest,
};
use store::{Store, StoreError};
use uuid::Uuid;

use super::compose::{Composer, RenderError};
use super::config::DailyMessageLimits;
use super::quota;
use super::recipient::{self, Recipient, SendContext, SendDecision};
use super::transport::{OutgoingMessage, SendResult};
use crate::messages::QuotaPeriod;
use foundation::Random;

/// Retry delay of messages that were sealed with another key.
const UNREADABLE_RETRY_DELAY: SignedDuration = SignedDuration::from_mins(10);

/// The message queue of one channel.
pub(super) struct MessageOutbox {
    pub(super) channel: MessageChannel,
    pub(super) store: Store,
    pub(super) time: Arc<dyn Clock>,
    pub(super) composer: Composer,
    pub(super) daily_limits: DailyMessageLimits,
    pub(super) is_confirmation_required: bool,
    /// Name of the provider that gets all messages.
    pub(super) provider: Arc<str>,
    pub(super) random: Arc<Random>,
}

impl Outbox for MessageOutbox {
    type Job = OutgoingMessage;
    type Report = SendResult;
    type Error = StoreError;

    async fn due_endpoints(&self, after: i64, limit: u32) -> Result<Vec<DueEndpoint>, StoreError> {
        let lanes = self
            .store
            .pending_message_endpoints(self.channel, after, limit)
            .await?
            .into_iter();
        let lanes = lanes.map(|lane| DueEndpoint {
            endpoint: lane.endpoint,
            first_due: lane.first_due,
        });
        Ok(lanes.collect())
    }

    async fn claim(&self, params: &ClaimParams) -> Result<Vec<ClaimedJob<OutgoingMessage>>, StoreError> {
        let order = model::ClaimQuery {
            endpoints: params.endpoints.clone(),
            max_per_endpoint: params.max_per_endpoint,
            max_total: params.max_total,
            now: params.now,
            until: params.until,
            lease: params.lease,
        };
        let claimed = self.store.claim_messages(self.channel, order).await?;
        let mut not_sent = Vec::new();
        let addressed = self.decide(claimed, &mut not_sent).await?;
        let counted = quota::accounts(&addressed);
        let admitted = self.admit(addressed, &mut not_sent).await?;
        let ready = admitted
            .into_iter()
            .filter_map(|(message, recipient)| self.render(message, recipient, &mut not_sent));
        let ready = ready.collect();
        if !not_sent.is_empty() {
            self.store
                .settle_messages(self.channel, not_sent, self.time.now())
                .await?;
            // Some of them are now sent by email.
            self.store.message_wake_handle(MessageChannel::Email).notify_one();
            // The dispatcher regards a queue as empty if it gets fewer messages than it claimed.
            self.store.message_wake_handle(self.channel).notify_one();
        }
        self.warn_of_quota(counted).await?;
        Ok(ready)
    }

    async fn settle(&self, settled: &[SettledJob<SendResult>]) -> Result<(), StoreError> {
        let settlements = settled.iter().map(settlement).collect();
        self.store
            .settle_messages(self.channel, settlements, self.time.now())
            .await?;
        self.count(settled);
        Ok(())
    }
}

type Addressed = (ClaimedMessage, Recipient);

impl MessageOutbox {
    async fn decide(
        &self,
        claimed: Vec<ClaimedMessage>,
        not_sent: &mut Vec<MessageSettlement>,
    ) -> Result<Vec<Addressed>, StoreError> {
        let unsubscribed = self.unsubscribed(&claimed).await?;
        let context = SendContext {
            channel: self.channel,
            now: self.time.now(),
            is_confirmation_required: self.is_confirmation_required,
            unsubscribed: &unsubscribed,
        };
        let mut addressed = Vec::with_capacity(claimed.len());
        for message in claimed {
            match context.decide(&message) {
                SendDecision::Send(recipient) => addressed.push((message, recipient)),
                SendDecision::Postpone(until) => {
                    let decision = MessageDecision::Postponed { until };
                    not_sent.push(self.unsent(&message, "quiet_hours", decision));
                }
                SendDecision::Drop(why) => not_sent.push(self.unsent(&message, why, MessageDecision::Failed)),
            }
        }
        Ok(addressed)
    }

    async fn unsubscribed(&self, claimed: &[ClaimedMessage]) -> Result<HashSet<String>, StoreError> {
        if self.channel != MessageChannel::Email {
            return Ok(HashSet::new());
        }
        let mut addresses: Vec<String> = claimed.iter().filter_map(recipient::address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        Ok(self.store.unsubscribed(&addresses).await?.into_iter().collect())
    }

    /// Counts messages that are not counted yet against the limits.
    async fn admit(
        &self,
        addressed: Vec<Addressed>,
        not_sent: &mut Vec<MessageSettlement>,
    ) -> Result<Vec<Addressed>, StoreError> {
        let (mut admitted, new): (Vec<Addressed>, Vec<Addressed>) =
            addressed.into_iter().partition(|(message, _)| message.is_admitted);
        let applicants = new.iter().map(|(message, recipient)| QuotaRequest {
            seq: message.seq,
            lease: message.lease,
            recipient: recipient.to.clone(),
            account: message.account,
            kind: message.kind.clone(),
            quota: recipient.quota,
        });
        let now = self.time.now();
        let admissions = self
            .store
            .admit_messages(self.channel, applicants.collect(), self.limits(now), now)
            .await?;
        for ((message, recipient), admission) in new.into_iter().zip(admissions) {
            let (why, decision) = match admission {
                QuotaDecision::Granted => {
                    admitted.push((message, recipient));
                    continue;
                }
                QuotaDecision::Lost => continue,
                QuotaDecision::OverQuota => ("over_quota", MessageDecision::SendByEmail),
                QuotaDecision::OverLimit => ("over_limit", MessageDecision::Failed),
                QuotaDecision::OverBudget => {
                    tracing::error!(
                        channel = self.channel.name(),
                        "the daily limit of messages is reached; further messages are dropped"
                    );
                    ("over_budget", MessageDecision::Failed)
                }
            };
            not_sent.push(self.unsent(&message, why, decision));
        }
        Ok(admitted)
    }

    fn limits(&self, now: Timestamp) -> MessageLimits {
        let limits = self.daily_limits;
        let day = SignedDuration::from_hours(24);
        let into_the_day = SignedDuration::from_secs(now.as_second().rem_euclid(day.as_secs()));
        let into_the_second = SignedDuration::from_nanos(i64::from(now.subsec_nanosecond()));
        let day_from = now.saturating_sub(into_the_day + into_the_second).unwrap_or(now);
        MessageLimits {
            day_start: day_from,
            month_start: QuotaPeriod::of(now).map_or(day_from, |month| month.start),
            max_total: limits.max_total,
            max_account_messages: limits.max_account_messages,
            max_firing_messages: limits.max_total,
            max_account_messages_per_recipient: limits.max_account_messages_per_recipient,
            max_account_messages_per_account: limits.max_account_messages_per_recipient,
            max_firing_messages_per_recipient: limits.max_alert_messages_per_recipient,
        }
    }

    fn render(
        &self,
        message: ClaimedMessage,
        recipient: Recipient,
        not_sent: &mut Vec<MessageSettlement>,
    ) -> Option<ClaimedJob<OutgoingMessage>> {
        let account = message.account.map_or(Uuid::nil(), |account| account.0);
        match self.composer.compose(self.channel, &message, recipient) {
            Ok(job) => Some(ClaimedJob {
                key: message.seq,
                id: message.id.0,
                endpoint: message.endpoint,
                host: Arc::clone(&self.provider),
                account,
                previous_attempts: message.tries,
                job,
            }),
            Err(error) => {
                tracing::error!(%error, message = %message.id.0, "cannot render a message");
                let (why, decision) = match error {
                    RenderError::Unreadable(_) => ("void", MessageDecision::Failed),
                    RenderError::Sealed(_) => {
                        let now = self.time.now();
                        let until = now.saturating_add(UNREADABLE_RETRY_DELAY).unwrap_or(now);
                        ("sealed", MessageDecision::Postponed { until })
                    }
                };
                not_sent.push(self.unsent(&message, why, decision));
                None
            }
        }
    }

    /// Returns the settlement of a message that is not sent, or not now.
    fn unsent(&self, message: &ClaimedMessage, why: &'static str, decision: MessageDecision) -> MessageSettlement {
        counter!("bellwether_messages_withheld_total", "channel" => self.channel.name(), "reason" => why).increment(1);
        MessageSettlement {
            seq: message.seq,
            lease: message.lease,
            outcome: Some(why.to_owned()),
            provider_id: None,
            decision,
        }
    }

    fn count(&self, settled: &[SettledJob<SendResult>]) {
        let channel = self.channel.name();
        for result in settled.iter().filter_map(|settled| settled.report.as_ref()) {
            let attempt = &result.attempt;
            let outcome = attempt.outcome.name();
            counter!("bellwether_message_attempts_total", "channel" => channel, "outcome" => outcome).increment(1);
            let seconds = std::time::Duration::from_millis(attempt.duration_ms).as_secs_f64();
            histogram!("bellwether_message_attempt_seconds", "channel" => channel).record(seconds);
        }
    }
}

fn settlement(settled: &SettledJob<SendResult>) -> MessageSettlement {
    let attempt = settled.report.as_ref().map(|result| &result.attempt);
    MessageSettlement {
        seq: settled.key,
        lease: settled.lease,
        outcome: attempt.map(|attempt| attempt.outcome.name().to_owned()),
        provider_id: attempt.and_then(|attempt| attempt.provider_id.clone()),
        decision: match settled.next {
            NextStep::Delivered => MessageDecision::Sent {
                kept: settled.report.as_ref().and_then(|result| result.kept.clone()),
            },
            NextStep::RetryAt(at) => MessageDecision::Retry { at },
            NextStep::GivenUp | NextStep::DisableEndpoint => MessageDecision::Failed,
            NextStep::Released => MessageDecision::Released,
        },
    }
}
