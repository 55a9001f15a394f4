//! Messages: mails and text messages on their way.

use alerts::AlertId;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{Account, AccountId, EventId};

/// Which message. It is the same for every attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId(pub Uuid);

/// What messages about firings are, in a word.
pub const FIRED: &str = "fired";

/// What letters are, in a word, that bring news of alerts without a firing.
pub const NEWS: [&str; 5] = [
    "alerts_blind",
    "alerts_see",
    "split_adjusted",
    "sms_quota_low",
    "sms_quota_used",
];

/// Whether a message, by what it is in a word, brings news of alerts: it goes where its owner wants such news, waits for the end of
/// their quiet hours, can be done without, and is counted as news. All others are answers to what somebody has just done.
#[must_use]
pub fn is_news(kind: &str) -> bool {
    kind == FIRED || NEWS.contains(&kind)
}

impl MessageId {
    /// The id of a warning that an account gets once for each period that begins at `period`; `kind` is its kind.
    #[must_use]
    pub fn of_warning(account: AccountId, period: Timestamp, kind: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(account.0.as_bytes());
        hash.update(period.as_microsecond().to_be_bytes());
        hash.update(kind.as_bytes());
        Self::of_digest(hash.finalize().into())
    }

    /// The id of the message about an event, as [`DeliveryId::of`](super::DeliveryId::of) makes those of deliveries.
    #[must_use]
    pub fn of(event: EventId) -> Self {
        let mut hash = Sha256::new();
        hash.update(event.0.as_bytes());
        hash.update(b"message");
        Self::of_digest(hash.finalize().into())
    }

    fn of_digest(digest: [u8; 32]) -> Self {
        let (bytes, _) = digest.split_at(16);
        Self(uuid::Builder::from_random_bytes(bytes.try_into().unwrap_or_default()).into_uuid())
    }
}

/// How a message goes to somebody.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageChannel {
    /// By mail.
    Email,
    /// As a text message.
    Sms,
}

impl MessageChannel {
    /// Its name in its column and in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
        }
    }

    /// The channel of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Email, Self::Sms]
            .into_iter()
            .find(|channel| channel.name() == name)
    }
}

/// A message to be sent that is not about a firing; those are made with their firings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewMessage {
    /// Which one.
    pub id: MessageId,
    /// How it goes.
    pub channel: MessageChannel,
    /// What it is, in a word: `confirm_address`.
    pub kind: &'static str,
    /// The address or number it goes to.
    pub recipient: String,
    /// Whose account it is about.
    pub account: Option<AccountId>,
    /// What it says, sealed by the service for `messages.content` of this id.
    pub content: Vec<u8>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// The lane of all messages to somebody: whom many things happen to does not hold up others. It is made of an account's id
/// or an address.
#[must_use]
pub(crate) fn lane(recipient: &[u8]) -> i64 {
    let digest: [u8; 32] = Sha256::digest(recipient).into();
    let (first, _) = digest.split_at(8);
    i64::from_le_bytes(first.try_into().unwrap_or_default())
}

/// What a claimed message says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// A letter, sealed.
    Letter(Vec<u8>),
    /// That an alert has fired: the event's `data`, as JSON text.
    Fired(String),
}

/// A message that was claimed, with all that it takes to write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedMessage {
    /// Its place among all.
    pub seq: i64,
    /// Which one.
    pub id: MessageId,
    /// What shows that it is the claimer's.
    pub lease: i64,
    /// Its lane.
    pub lane: i64,
    /// What it is, in a word.
    pub kind: String,
    /// Where it goes, if that is not the account's to say.
    pub recipient: Option<String>,
    /// Whose account it is about.
    pub account: Option<AccountId>,
    /// That account as it is now.
    pub owner: Option<Account>,
    /// The alert that fired.
    pub alert: Option<AlertId>,
    /// Whether it was counted against the limits before.
    pub is_admitted: bool,
    /// How often it was tried.
    pub tries: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// What it says.
    pub said: Said,
}

/// A message that is to be counted against the limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Applicant {
    /// Its place among all.
    pub seq: i64,
    /// What shows that it is the claimer's.
    pub lease: i64,
    /// Where it goes.
    pub recipient: String,
    /// Whose account it is about.
    pub account: Option<AccountId>,
    /// What it is, in a word.
    pub kind: String,
    /// How many messages about firings the account's plan has a month.
    pub quota: Option<u32>,
}

/// How many messages of a channel may be sent, and when counting begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageLimits {
    /// When the day began.
    pub day_from: Timestamp,
    /// When the month began, for the plan's quota.
    pub month_from: Timestamp,
    /// So many in all a day, whoever they are for.
    pub in_all: u32,
    /// So many of these may be letters.
    pub letters: u32,
    /// So many of these may be about firings.
    pub firings: u32,
    /// So many letters a day to one recipient, and as many notices that an account was changed ...
    pub letters_to_each: u32,
    /// ... and because of one account.
    pub letters_of_each: u32,
    /// So many messages about firings a day to one recipient.
    pub firings_to_each: u32,
}

/// Whether a message is within the limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It is, and was counted.
    Granted,
    /// The account has used up its plan's quota.
    OverQuota,
    /// The recipient has been sent too much today, or the account has caused too much.
    OverLimit,
    /// The service has sent too much today.
    OverBudget,
    /// Somebody else has it.
    Lost,
}

/// What becomes of a claimed message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageVerdict {
    /// It was taken; or kept, which is the outbox's way to take it.
    Sent {
        /// What the outbox keeps.
        kept: Option<KeptMessage>,
    },
    /// It is to be tried again.
    Retry {
        /// When.
        at: Timestamp,
    },
    /// It is given up.
    Failed,
    /// It was not tried after all, and goes back as it was.
    Released,
    /// It is not to be sent before.
    PutOff {
        /// When.
        until: Timestamp,
    },
    /// It is to be sent by mail instead, at once.
    ByMail,
}

/// What became of a claimed message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageSettlement {
    /// The message's place among all.
    pub seq: i64,
    /// What shows that it is the settler's.
    pub lease: i64,
    /// What came of it, in a word.
    pub outcome: Option<String>,
    /// What the provider calls it.
    pub provider_id: Option<String>,
    /// What comes next.
    pub verdict: MessageVerdict,
}

/// A message that the outbox keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptMessage {
    /// Which one.
    pub id: MessageId,
    /// How it would have gone.
    pub channel: MessageChannel,
    /// Where to.
    pub recipient: String,
    /// What it says, sealed.
    pub content: Vec<u8>,
    /// When it was kept.
    pub created_at: Timestamp,
}
