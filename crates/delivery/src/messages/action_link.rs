//! Links in messages that acknowledge a firing or change its alert.
//!
//! A link must work without signing in. So its token needs no row in the database: it contains the action, the firing, the type of the
//! channel that it was sent to and its end, with a message authentication code. A token is good for one action on one firing, or on
//! all firings of one message.
//!
//! The data of a button has the same content, in at most 64 bytes. It comes back from a client, which may have changed it, so it is
//! authenticated, too. It acts only in the chat that it was sent to, so it is no token of a link, which acts anywhere.

use foundation::vault::Vault;
use jiff::{SignedDuration, Timestamp};
use notify::channels::ChannelActionKind;
use store::model::{EventId, MessageId, NotificationChannelType};
use store::{Store, StoreError};
use uuid::Uuid;

use super::signed_token;

/// The purpose of the tokens of links.
const LINK_PURPOSE: &str = "links of messages";
/// The purpose of the data of buttons.
const BUTTON_PURPOSE: &str = "buttons of messages";
/// Lifetime of a link, from the time of its message.
const LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A link that acts on a firing or its alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActionLink {
    /// The action.
    pub action: ChannelActionKind,
    /// Its subject.
    pub subject: LinkSubject,
    /// The type of the channel that the link was sent to.
    pub via: NotificationChannelType,
    /// Time from which it is invalid.
    pub expires_at: Timestamp,
}

/// The subject of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkSubject {
    /// A firing.
    Firing(EventId),
    /// All firings that a message lists.
    Message(MessageId),
}

impl LinkSubject {
    /// Returns the subject of an action with this id.
    const fn of_action(action: ChannelActionKind, id: Uuid) -> Self {
        match action {
            ChannelActionKind::AcknowledgeAll => Self::Message(MessageId(id)),
            ChannelActionKind::Acknowledge | ChannelActionKind::Change(_) => Self::Firing(EventId(id)),
        }
    }

    /// Returns the firings, the first one first. None: they are not stored any more.
    pub async fn firings(self, store: &Store) -> Result<Vec<EventId>, StoreError> {
        match self {
            Self::Firing(firing) => Ok(vec![firing]),
            Self::Message(message) => store.firings_of_message(message).await,
        }
    }

    const fn id(self) -> Uuid {
        match self {
            Self::Firing(firing) => firing.0,
            Self::Message(message) => message.0,
        }
    }
}

impl ActionLink {
    /// Creates a link of a message that was created at `sent_at`. `id` is that of the firing; of the message, if it acts on all of its
    /// firings.
    pub(super) fn new(action: ChannelActionKind, id: Uuid, via: NotificationChannelType, sent_at: Timestamp) -> Self {
        let expires_at = sent_at.saturating_add(LIFETIME).unwrap_or(Timestamp::MAX);
        Self {
            action,
            subject: LinkSubject::of_action(action, id),
            via,
            // The token has whole seconds.
            expires_at: Timestamp::from_second(expires_at.as_second()).unwrap_or(expires_at),
        }
    }

    /// Returns the token of the link.
    pub(super) fn token(&self, vault: &Vault) -> String {
        self.sign(vault, LINK_PURPOSE)
    }

    /// Returns the data of the button.
    pub(super) fn callback_data(&self, vault: &Vault) -> String {
        self.sign(vault, BUTTON_PURPOSE)
    }

    fn sign(&self, vault: &Vault, purpose: &str) -> String {
        let mut payload = vec![
            place(ChannelActionKind::ALL, self.action),
            place(NotificationChannelType::ALL, self.via),
        ];
        payload.extend_from_slice(&self.expires_at.as_second().to_be_bytes());
        payload.extend_from_slice(self.subject.id().as_bytes());
        signed_token::sign(vault, purpose, &payload)
    }

    /// Reads a token of this service that is valid at `now`; `None` for any other text.
    pub fn from_token(vault: &Vault, token: &str, now: Timestamp) -> Option<Self> {
        Self::verify(vault, LINK_PURPOSE, token, now)
    }

    /// Reads the data of a button of this service that is valid at `now`; `None` for any other text.
    pub(crate) fn from_callback_data(vault: &Vault, data: &str, now: Timestamp) -> Option<Self> {
        Self::verify(vault, BUTTON_PURPOSE, data, now)
    }

    fn verify(vault: &Vault, purpose: &str, token: &str, now: Timestamp) -> Option<Self> {
        let payload = signed_token::verify(vault, purpose, token)?;
        let (&[action, via], rest) = payload.split_first_chunk()?;
        let (expires_at, id) = rest.split_first_chunk()?;
        let action = *ChannelActionKind::ALL.get(usize::from(action))?;
        let link = Self {
            action,
            via: *NotificationChannelType::ALL.get(usize::from(via))?,
            expires_at: Timestamp::from_second(i64::from_be_bytes(*expires_at)).ok()?,
            subject: LinkSubject::of_action(action, Uuid::from_slice(id).ok()?),
        };
        (now < link.expires_at).then_some(link)
    }
}

/// Returns the position of a value among all. New values are added at the end.
fn place<T: PartialEq>(all: &[T], value: T) -> u8 {
    let place = all.iter().position(|other| *other == value).unwrap_or_default();
    u8::try_from(place).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(action: ChannelActionKind) -> ActionLink {
        let sent_at = "2026-03-02T15:04:00.25Z".parse().unwrap();
        ActionLink::new(action, Uuid::from_u128(7), NotificationChannelType::Slack, sent_at)
    }

    #[test]
    fn data_of_a_button_has_at_most_64_bytes_and_is_no_token_of_a_link() {
        let vault = Vault::new(b"key");
        let now = "2026-03-02T15:05:00Z".parse().unwrap();
        for &action in ChannelActionKind::ALL {
            let link = link(action);
            let (token, data) = (link.token(&vault), link.callback_data(&vault));
            assert!(data.len() <= 64, "{}", data.len());
            assert_eq!(ActionLink::from_callback_data(&vault, &data, now), Some(link));
            assert_eq!(ActionLink::from_callback_data(&vault, &token, now), None);
            assert_eq!(ActionLink::from_token(&vault, &data, now), None);
            assert_eq!(ActionLink::from_callback_data(&vault, &data, link.expires_at), None);
        }
    }

    #[test]
    fn token_is_read_until_it_expires() {
        let vault = Vault::new(b"key");
        for &action in ChannelActionKind::ALL {
            let link = link(action);
            let token = link.token(&vault);
            let last = link.expires_at - SignedDuration::from_millis(1);
            assert_eq!(ActionLink::from_token(&vault, &token, last), Some(link));
            assert_eq!(ActionLink::from_token(&vault, &token, link.expires_at), None);
            assert_eq!(ActionLink::from_token(&Vault::new(b"other"), &token, last), None);
        }
        assert_eq!(
            link(ChannelActionKind::Acknowledge).expires_at.to_string(),
            "2026-04-01T15:04:00Z"
        );
    }
}
