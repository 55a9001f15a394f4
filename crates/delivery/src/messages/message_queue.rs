//! The queue of a channel of messages.
//!
//! Claimed messages are checked (`recipient.rs`), counted against the limits, and rendered by the channel. Messages that
//! must not be sent are settled here at once.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;

use foundation::Ports;
use jiff::{SignedDuration, Timestamp};
use metrics::{counter, histogram};
use notify::dispatcher::{ClaimedJob, SettledJob};
use store::StoreError;
use store::model::{
    ClaimQuery, ClaimedMessage, MessageChannel, MessageDestination, MessageLimits, MessageResult, Queue, QuotaDecision,
    QuotaRequest, Settlement, SettlementDecision,
};
use uuid::Uuid;

use super::channel::{MessageJob, OutgoingMessage};
use super::compose::{Composer, RenderError};
use super::config::DailyMessageLimits;
use super::quota;
use super::quota_period::QuotaPeriod;
use super::recipient::{self, Recipient, SendContext, SendDecision};
use super::templates::{self, TemplateFailure};
use super::transport::SendResult;
use crate::notification_channels::{ConfigError, NotificationChannelConfig};
use crate::queue::{self, ChannelQueue};

/// The queue of one channel.
pub(crate) struct MessageQueue<M> {
    pub(super) message: PhantomData<fn() -> M>,
    pub(super) ports: Ports,
    pub(super) composer: Composer,
    pub(super) daily_limits: DailyMessageLimits,
    pub(super) is_confirmation_required: bool,
    /// Number of messages to one channel within a minute that are sent separately, unless the channel has its own.
    pub(super) burst_limit: u32,
    /// Name of the provider that gets all messages.
    pub(super) provider: Arc<str>,
}

impl<M: OutgoingMessage> ChannelQueue for MessageQueue<M> {
    type Job = MessageJob<M>;
    type Report = SendResult;

    fn queue(&self) -> Queue {
        M::CHANNEL.into()
    }

    async fn claim(&self, query: ClaimQuery) -> Result<Vec<ClaimedJob<MessageJob<M>>>, StoreError> {
        let store = &self.ports.store;
        let claimed = store.claim_messages(M::CHANNEL, query, self.burst_limit).await?;
        let mut not_sent = Vec::new();
        let addressed = self.decide(claimed, &mut not_sent).await?;
        let counted = quota::accounts(&addressed);
        let admitted = self.admit(addressed, &mut not_sent).await?;
        let mut failures = Vec::new();
        let ready = admitted
            .into_iter()
            .filter_map(|(message, recipient)| self.render(message, recipient, &mut not_sent, &mut failures));
        let ready = ready.collect();
        if !not_sent.is_empty() {
            self.ports
                .store
                .settle_messages(M::CHANNEL, not_sent, self.now())
                .await?;
            // The dispatcher regards a queue as empty if it gets fewer messages than it claimed.
            self.ports.store.wake_handle(M::CHANNEL).notify_one();
        }
        self.warn_of_quota(counted).await?;
        let sealing = (self.composer.vault.as_ref(), self.ports.random.as_ref());
        templates::report(store, &self.composer.public_url, sealing, self.now(), failures).await;
        Ok(ready)
    }

    async fn settle(&self, settled: &[SettledJob<SendResult>]) -> Result<(), StoreError> {
        let settlements = settled.iter().map(settlement).collect();
        self.ports
            .store
            .settle_messages(M::CHANNEL, settlements, self.now())
            .await?;
        count(M::CHANNEL, settled);
        Ok(())
    }
}

type Addressed = (ClaimedMessage, Recipient);

impl<M: OutgoingMessage> MessageQueue<M> {
    pub(super) fn now(&self) -> Timestamp {
        self.ports.network.time.now()
    }

    async fn decide(
        &self,
        claimed: Vec<ClaimedMessage>,
        not_sent: &mut Vec<Settlement<MessageResult>>,
    ) -> Result<Vec<Addressed>, StoreError> {
        let claimed = self.with_configs(claimed, not_sent);
        let unsubscribed = self.unsubscribed(&claimed).await?;
        let context = SendContext {
            channel: M::CHANNEL,
            now: self.now(),
            is_confirmation_required: self.is_confirmation_required,
            unsubscribed: &unsubscribed,
        };
        let mut addressed = Vec::with_capacity(claimed.len());
        for (message, config) in claimed {
            match context.decide(&message, config.as_ref()) {
                SendDecision::Send(recipient) => addressed.push((message, recipient)),
                SendDecision::Postpone(until) => {
                    let decision = SettlementDecision::Postponed { until };
                    not_sent.push(self.unsent(&message, "quiet_hours", decision));
                }
                SendDecision::MoveToEmail(why) => not_sent.push(self.moved_to_email(&message, why)),
                SendDecision::Drop(why) => not_sent.push(self.unsent(&message, why, SettlementDecision::Failed)),
            }
        }
        Ok(addressed)
    }

    /// Opens the configurations of the notification channels that messages go to.
    fn with_configs(
        &self,
        claimed: Vec<ClaimedMessage>,
        not_sent: &mut Vec<Settlement<MessageResult>>,
    ) -> Vec<(ClaimedMessage, Option<NotificationChannelConfig>)> {
        let mut opened = Vec::with_capacity(claimed.len());
        for message in claimed {
            let MessageDestination::Channel(channel) = &message.destination else {
                opened.push((message, None));
                continue;
            };
            match NotificationChannelConfig::open(&self.composer.vault, channel) {
                Ok(config) => opened.push((message, Some(config))),
                Err(ConfigError::Vault(_)) => {
                    let postponed = queue::postpone_unreadable(self.now());
                    not_sent.push(self.unsent(&message, "sealed", postponed));
                }
                Err(ConfigError::Incomplete | ConfigError::Unreadable(_)) => {
                    not_sent.push(self.unsent(&message, "channel_incomplete", SettlementDecision::Failed));
                }
            }
        }
        opened
    }

    async fn unsubscribed(
        &self,
        claimed: &[(ClaimedMessage, Option<NotificationChannelConfig>)],
    ) -> Result<HashSet<String>, StoreError> {
        if M::CHANNEL != MessageChannel::Email {
            return Ok(HashSet::new());
        }
        let addresses = claimed.iter();
        let mut addresses: Vec<String> = addresses
            .filter_map(|(message, config)| recipient::address(message, config.as_ref()))
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        Ok(self.ports.store.unsubscribed(&addresses).await?.into_iter().collect())
    }

    /// Counts messages that are not counted yet against the limits.
    async fn admit(
        &self,
        addressed: Vec<Addressed>,
        not_sent: &mut Vec<Settlement<MessageResult>>,
    ) -> Result<Vec<Addressed>, StoreError> {
        let (mut admitted, new): (Vec<Addressed>, Vec<Addressed>) =
            addressed.into_iter().partition(|(message, _)| message.is_admitted);
        let requests = new.iter().map(|(message, recipient)| QuotaRequest {
            seq: message.seq,
            lease: message.lease,
            recipient: recipient.to.clone(),
            account: message.account,
            kind: message.kind.clone(),
            quota: recipient.quota,
        });
        let now = self.now();
        let decisions = self
            .ports
            .store
            .admit_messages(M::CHANNEL, requests.collect(), self.limits(now), now)
            .await?;
        for ((message, recipient), decision) in new.into_iter().zip(decisions) {
            let (why, decision) = match decision {
                QuotaDecision::Granted => {
                    admitted.push((message, recipient));
                    continue;
                }
                QuotaDecision::Lost => continue,
                QuotaDecision::OverQuota => {
                    not_sent.push(self.moved_to_email(&message, "over_quota"));
                    continue;
                }
                QuotaDecision::OverLimit => ("over_limit", SettlementDecision::Failed),
                QuotaDecision::OverBudget => {
                    tracing::error!(
                        channel = M::CHANNEL.name(),
                        "the daily limit of messages is reached; further messages are dropped"
                    );
                    ("over_budget", SettlementDecision::Failed)
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
        not_sent: &mut Vec<Settlement<MessageResult>>,
        failures: &mut Vec<TemplateFailure>,
    ) -> Option<ClaimedJob<MessageJob<M>>> {
        let account = message.account.map_or(Uuid::nil(), |account| account.0);
        let texts = templates::custom_texts(M::CHANNEL, &self.composer, &message, &recipient.time_zone, failures);
        match M::render(&self.composer, &message, recipient, texts) {
            Ok(rendered) => Some(ClaimedJob {
                key: message.seq,
                id: message.id.0,
                endpoint: message.endpoint,
                host: rendered.host().unwrap_or_else(|| Arc::clone(&self.provider)),
                account,
                previous_attempts: message.tries,
                caused_at: message.caused_at,
                job: MessageJob {
                    message: rendered,
                    channel: match message.destination {
                        MessageDestination::Channel(channel) => Some(channel),
                        MessageDestination::Own | MessageDestination::DeletedChannel => None,
                    },
                },
            }),
            Err(error) => {
                tracing::error!(%error, message = %message.id.0, "cannot render a message");
                let (why, decision) = match error {
                    RenderError::Unreadable(_) | RenderError::NoDestination => ("void", SettlementDecision::Failed),
                    RenderError::Sealed(_) => ("sealed", queue::postpone_unreadable(self.now())),
                };
                not_sent.push(self.unsent(&message, why, decision));
                None
            }
        }
    }

    /// Returns the settlement of a text message that is sent by email instead.
    fn moved_to_email(&self, message: &ClaimedMessage, why: &'static str) -> Settlement<MessageResult> {
        let mut moved = self.unsent(message, why, SettlementDecision::Released);
        moved.result.moved_to = Some(MessageChannel::Email);
        moved
    }

    /// Returns the settlement of a message that is not sent, or not now.
    fn unsent(
        &self,
        message: &ClaimedMessage,
        why: &'static str,
        decision: SettlementDecision,
    ) -> Settlement<MessageResult> {
        counter!("bellwether_messages_withheld_total", "channel" => M::CHANNEL.name(), "reason" => why).increment(1);
        Settlement {
            seq: message.seq,
            lease: message.lease,
            decision,
            result: MessageResult::of_outcome(why),
        }
    }
}

fn count(channel: MessageChannel, settled: &[SettledJob<SendResult>]) {
    let channel = channel.name();
    for (settled, result) in settled
        .iter()
        .filter_map(|settled| Some((settled, settled.report.as_ref()?)))
    {
        let attempt = &result.attempt;
        let channel_type = result.channel.as_ref().map(|channel| channel.channel_type.name());
        let accepted_at = queue::attempt_end(attempt.at, attempt.duration_ms);
        queue::record_delay(channel_type.unwrap_or(channel), settled, accepted_at);
        let outcome = attempt.outcome.name();
        counter!("bellwether_message_attempts_total", "channel" => channel, "outcome" => outcome).increment(1);
        let seconds = std::time::Duration::from_millis(attempt.duration_ms).as_secs_f64();
        histogram!("bellwether_message_attempt_seconds", "channel" => channel).record(seconds);
    }
}

fn settlement(settled: &SettledJob<SendResult>) -> Settlement<MessageResult> {
    let attempt = settled.report.as_ref().map(|result| &result.attempt);
    let report = settled.report.as_ref();
    let kept = report.and_then(|result| result.kept.clone());
    let channel_result = report.and_then(SendResult::channel_result);
    let result = MessageResult {
        outcome: attempt.map(|attempt| attempt.outcome.name().to_owned()),
        provider_id: attempt.and_then(|attempt| attempt.provider_id.clone()),
        kept,
        moved_to: None,
        channel_result,
    };
    queue::settlement(settled, result)
}
