//! Messages: emails and text messages on their way.

use std::sync::Arc;

use alerts::routing::MessageTemplates;
use alerts::{AlertId, Channel};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{Account, AccountId, ChannelResult, EventId, NotificationChannel, NotificationChannelId, SentMessage};

/// Message id. It is the same for every attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId(pub Uuid);

/// The kind of messages about firings.
pub const FIRING_KIND: &str = "fired";

/// The kinds of messages that contain news about alerts other than firings.
pub const ALERT_NEWS_KINDS: [&str; 8] = [
    "alert_expired",
    "alerts_blind",
    "alerts_see",
    "split_adjusted",
    "sms_quota_low",
    "sms_quota_used",
    "template_failed",
    "alert_template_failed",
];

/// Whether a message of a kind is news about alerts. News goes to the channel that the owner has chosen, waits for
/// the end of quiet hours, can be unsubscribed and has its own limits. All other messages answer something that a
/// person has just done.
#[must_use]
pub fn is_alert_news(kind: &str) -> bool {
    kind == FIRING_KIND || ALERT_NEWS_KINDS.contains(&kind)
}

impl MessageId {
    /// Returns the id of a warning of a `kind` that an account gets once per period starting at `period`.
    #[must_use]
    pub fn for_warning(account: AccountId, period: Timestamp, kind: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(account.0.as_bytes());
        hash.update(period.as_microsecond().to_be_bytes());
        hash.update(kind.as_bytes());
        Self::from_digest(hash.finalize().into())
    }

    /// Returns the id of a test of a notification channel, which is tested once per period starting at `period`.
    #[must_use]
    pub fn for_channel_test(channel: NotificationChannelId, period: Timestamp) -> Self {
        Self::for_warning(AccountId(channel.0), period, "channel_test")
    }

    /// Returns the id of the notice that a template of a notification channel or an alert has failed: one for each text of the template.
    #[must_use]
    pub fn for_failed_template(owner: Uuid, kind: &str, source: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(owner.as_bytes());
        hash.update(kind.as_bytes());
        hash.update([0]);
        hash.update(source.as_bytes());
        hash.update(b"template_failed");
        Self::from_digest(hash.finalize().into())
    }

    /// Returns the id of the message about an event, derived like
    /// [`DeliveryId::for_event`](super::DeliveryId::for_event).
    #[must_use]
    pub fn for_event(event: EventId) -> Self {
        let mut hash = Sha256::new();
        hash.update(event.0.as_bytes());
        hash.update(b"message");
        Self::from_digest(hash.finalize().into())
    }

    /// Returns the id of the message about an event to a notification channel.
    #[must_use]
    pub fn for_channel(event: EventId, channel: NotificationChannelId) -> Self {
        let mut hash = Sha256::new();
        hash.update(event.0.as_bytes());
        hash.update(channel.0.as_bytes());
        Self::from_digest(hash.finalize().into())
    }

    /// Returns the id of a test of a channel: an account has at most one test of each channel in a period.
    #[must_use]
    pub fn for_test(account: AccountId, period: Timestamp, channel: Channel) -> Self {
        match channel {
            Channel::Email => Self::for_warning(account, period, "email_test"),
            Channel::Sms => Self::for_warning(account, period, "sms_test"),
        }
    }

    /// Returns the id of the copy by which the message is sent again: one for each period.
    #[must_use]
    pub fn for_resend(self, period: Timestamp) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0.as_bytes());
        hash.update(period.as_microsecond().to_be_bytes());
        hash.update(b"resend");
        Self::from_digest(hash.finalize().into())
    }

    fn from_digest(digest: [u8; 32]) -> Self {
        let (bytes, _) = digest.split_at(16);
        Self(uuid::Builder::from_random_bytes(bytes.try_into().unwrap_or_default()).into_uuid())
    }
}

alerts::named_enum! {
    /// The channel of a message.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum MessageChannel {
        /// Email.
        Email = "email",
        /// Text message.
        Sms = "sms",
        /// A chat or push service: the notification channel of the message has its type.
        Service = "service",
    }
}

impl From<Channel> for MessageChannel {
    fn from(channel: Channel) -> Self {
        match channel {
            Channel::Email => Self::Email,
            Channel::Sms => Self::Sms,
        }
    }
}

/// A message that is not about a firing. Firing messages are created with their firings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewMessage {
    /// Unique id.
    pub id: MessageId,
    /// Channel.
    pub channel: MessageChannel,
    /// Kind of message, for example `confirm_address`.
    pub kind: &'static str,
    /// Email address or number of the recipient.
    pub recipient: String,
    /// The account that it concerns.
    pub account: Option<AccountId>,
    /// Content, sealed by the service for `messages.content` of this id.
    pub content: Vec<u8>,
    /// Creation time.
    pub created_at: Timestamp,
}

/// The steps of a message so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageReceipt {
    /// The message, as in lists.
    pub sent: SentMessage,
    /// The firing that it is about.
    pub event: Option<EventId>,
    /// The message that lists the firing, if it was folded into one. The steps are those of that message.
    pub folded_into: Option<MessageId>,
    /// The number of attempts.
    pub attempts: u32,
    /// When it was claimed for its first attempt.
    pub claimed_at: Option<Timestamp>,
    /// When the next attempt is due, while it waits.
    pub next_attempt_at: Option<Timestamp>,
}

/// Returns the endpoint number of all messages to one recipient, so that a busy recipient does not delay others.
/// `recipient` is an account id or an address.
#[must_use]
pub(crate) fn endpoint(recipient: &[u8]) -> i64 {
    let digest: [u8; 32] = Sha256::digest(recipient).into();
    let (first, _) = digest.split_at(8);
    i64::from_le_bytes(first.try_into().unwrap_or_default())
}

/// The content of a claimed message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageContent {
    /// Sealed content.
    Sealed(Vec<u8>),
    /// A firing: the event's `data` as JSON text.
    Firing(String),
    /// Several firings.
    Firings(FoldedFirings),
}

/// The firings of one message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldedFirings {
    /// The `data` of their events as JSON text, of the first 50 in their order.
    pub listed: Vec<String>,
    /// The number of all of them.
    pub total: u64,
}

/// The destination of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageDestination {
    /// The account's own address or number, or that of the message.
    Own,
    /// A notification channel, as it is now.
    Channel(Arc<NotificationChannel>),
    /// A notification channel that was deleted.
    DeletedChannel,
}

/// A claimed message with everything that is needed to render it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedMessage {
    /// Position among all rows.
    pub seq: i64,
    /// Unique id.
    pub id: MessageId,
    /// Lease of the claim.
    pub lease: i64,
    /// Endpoint number.
    pub endpoint: i64,
    /// Kind of message.
    pub kind: String,
    /// Recipient, unless it is determined by the account.
    pub recipient: Option<String>,
    /// The account that it concerns.
    pub account: Option<AccountId>,
    /// That account as it is now.
    pub owner: Option<Account>,
    /// The alert that fired.
    pub alert: Option<AlertId>,
    /// The firing.
    pub event: Option<EventId>,
    /// When the quote was made that made the alert fire, or else when it fired.
    pub caused_at: Option<Timestamp>,
    /// Where it goes.
    pub destination: MessageDestination,
    /// Whether it goes to the account's own address because no channel of the firing's route could get it.
    pub is_fallback: bool,
    /// Whether it does not wait for the end of quiet hours.
    pub is_urgent: bool,
    /// Whether the firing was acknowledged after the message was queued. One that is sent again later is wanted.
    pub is_acknowledged: bool,
    /// Whether it was counted against the limits before.
    pub is_admitted: bool,
    /// Number of attempts.
    pub tries: u32,
    /// Creation time.
    pub created_at: Timestamp,
    /// The templates of the alert that fired.
    pub templates: Option<MessageTemplates>,
    /// Content.
    pub content: MessageContent,
}

/// A message to be counted against the limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuotaRequest {
    /// Position among all rows.
    pub seq: i64,
    /// Lease of the claim.
    pub lease: i64,
    /// Recipient.
    pub recipient: String,
    /// The account that it concerns.
    pub account: Option<AccountId>,
    /// Kind of message.
    pub kind: String,
    /// Monthly quota of firing messages of the account's plan.
    pub quota: Option<u32>,
}

/// Limits for the messages of a channel, and the start of counting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageLimits {
    /// Start of the day.
    pub day_start: Timestamp,
    /// Start of the month, for the plan's quota.
    pub month_start: Timestamp,
    /// Maximum number of messages per day.
    pub max_total: u32,
    /// Maximum number of account messages per day.
    pub max_account_messages: u32,
    /// Maximum number of firing messages per day.
    pub max_firing_messages: u32,
    /// Maximum number of account messages per recipient and day. Security notices have the same limit and their own
    /// count.
    pub max_account_messages_per_recipient: u32,
    /// Maximum number of account messages per account and day.
    pub max_account_messages_per_account: u32,
    /// Maximum number of firing messages per recipient and day.
    pub max_firing_messages_per_recipient: u32,
}

/// Whether a message is within the limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuotaDecision {
    /// Within the limits, and counted.
    Granted,
    /// The plan's quota of the account is used up.
    OverQuota,
    /// The daily limit of the recipient or the account is reached.
    OverLimit,
    /// The daily limit of the service is reached.
    OverBudget,
    /// The claim was lost to another process.
    Lost,
}

/// The recorded facts about a settled message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageResult {
    /// Outcome, as one word.
    pub outcome: Option<String>,
    /// The provider's id of the message.
    pub provider_id: Option<String>,
    /// The message to store in the outbox.
    pub kept: Option<StoredOutboxMessage>,
    /// The channel on which it is sent instead.
    pub moved_to: Option<MessageChannel>,
    /// The result for the notification channel of the message, as it was read.
    pub channel_result: Option<(Arc<NotificationChannel>, ChannelResult)>,
}

impl MessageResult {
    /// Creates a result with an outcome only.
    #[must_use]
    pub fn of_outcome(outcome: &str) -> Self {
        Self {
            outcome: Some(outcome.to_owned()),
            ..Self::default()
        }
    }
}

/// A message in the outbox.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredOutboxMessage {
    /// Unique id.
    pub id: MessageId,
    /// Channel on which it would have been sent.
    pub channel: MessageChannel,
    /// Recipient.
    pub recipient: String,
    /// Sealed content.
    pub content: Vec<u8>,
    /// Time at which it was stored.
    pub created_at: Timestamp,
}
