//! Links in messages that acknowledge a firing or change its alert.
//!
//! A link must work without signing in. So its token needs no row in the database: it contains the action, the firing, the type of the
//! channel that it was sent to and its end, with a message authentication code. A token is good for one action on one firing.

use alerts::named_enum;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foundation::vault::Vault;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use sha2::Sha256;
use store::model::{EventId, NotificationChannelType};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

/// Number of bytes of the authentication code.
const MAC_BYTES: usize = 16;
/// Lifetime of a link, from the time of its message.
const LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

named_enum! {
    /// The action of a link.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum LinkAction {
        /// Acknowledges the firing.
        Acknowledge = "acknowledge",
        /// Snoozes the alert for an hour.
        SnoozeOneHour = "snooze_1h",
        /// Snoozes the alert until the next session opens.
        SnoozeUntilOpen = "snooze_until_open",
        /// Pauses the alert.
        Pause = "pause",
        /// Arms the alert again.
        Rearm = "rearm",
    }
}

impl LinkAction {
    /// Returns the path of the page of the link.
    #[must_use]
    pub const fn page(self) -> &'static str {
        match self {
            Self::Acknowledge => "acknowledge",
            Self::SnoozeOneHour | Self::SnoozeUntilOpen | Self::Pause | Self::Rearm => "change-alert",
        }
    }
}

/// A link that acts on a firing or its alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActionLink {
    /// The action.
    pub action: LinkAction,
    /// The firing.
    pub firing: EventId,
    /// The type of the channel that the link was sent to.
    pub via: NotificationChannelType,
    /// Time from which it is invalid.
    pub expires_at: Timestamp,
}

impl ActionLink {
    /// Creates what a link of a message does that was created at `sent_at`.
    pub(super) fn new(action: LinkAction, firing: EventId, via: NotificationChannelType, sent_at: Timestamp) -> Self {
        let expires_at = sent_at.saturating_add(LIFETIME).unwrap_or(Timestamp::MAX);
        Self {
            action,
            firing,
            via,
            // The token has whole seconds.
            expires_at: Timestamp::from_second(expires_at.as_second()).unwrap_or(expires_at),
        }
    }

    /// Returns the token of the link.
    pub(super) fn token(&self, vault: &Vault) -> String {
        let mut payload = vec![
            place(LinkAction::ALL, self.action),
            place(NotificationChannelType::ALL, self.via),
        ];
        payload.extend_from_slice(&self.expires_at.as_second().to_be_bytes());
        payload.extend_from_slice(self.firing.0.as_bytes());
        let mut token = mac(vault, &payload).to_vec();
        token.extend_from_slice(&payload);
        URL_SAFE_NO_PAD.encode(token)
    }

    /// Reads a token of this service that is valid at `now`; `None` for any other text.
    pub fn from_token(vault: &Vault, token: &str, now: Timestamp) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (claimed, payload) = bytes.split_at_checked(MAC_BYTES)?;
        let is_ours: bool = mac(vault, payload).ct_eq(claimed).into();
        if !is_ours {
            return None;
        }
        let (&[action, via], rest) = payload.split_first_chunk()?;
        let (expires_at, firing) = rest.split_first_chunk()?;
        let link = Self {
            action: *LinkAction::ALL.get(usize::from(action))?,
            via: *NotificationChannelType::ALL.get(usize::from(via))?,
            expires_at: Timestamp::from_second(i64::from_be_bytes(*expires_at)).ok()?,
            firing: EventId(Uuid::from_slice(firing).ok()?),
        };
        (now < link.expires_at).then_some(link)
    }
}

/// Returns the position of a value among all. New values are added at the end.
fn place<T: PartialEq>(all: &[T], value: T) -> u8 {
    let place = all.iter().position(|other| *other == value).unwrap_or_default();
    u8::try_from(place).unwrap_or_default()
}

fn mac(vault: &Vault, payload: &[u8]) -> [u8; MAC_BYTES] {
    let mut code = [0; MAC_BYTES];
    // HMAC takes keys of any length.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&vault.derive("links of messages")) {
        mac.update(payload);
        code.copy_from_slice(&mac.finalize().into_bytes()[..MAC_BYTES]);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(action: LinkAction) -> ActionLink {
        let sent_at = "2026-03-02T15:04:00.25Z".parse().unwrap();
        ActionLink::new(
            action,
            EventId(Uuid::from_u128(7)),
            NotificationChannelType::Slack,
            sent_at,
        )
    }

    #[test]
    fn token_is_read_until_it_expires() {
        let vault = Vault::new(b"key");
        for &action in LinkAction::ALL {
            let link = link(action);
            let token = link.token(&vault);
            let last = link.expires_at - SignedDuration::from_millis(1);
            assert_eq!(ActionLink::from_token(&vault, &token, last), Some(link));
            assert_eq!(ActionLink::from_token(&vault, &token, link.expires_at), None);
            assert_eq!(ActionLink::from_token(&Vault::new(b"other"), &token, last), None);
        }
        assert_eq!(link(LinkAction::Pause).expires_at.to_string(), "2026-04-01T15:04:00Z");
    }

    #[test]
    fn changed_token_is_invalid() {
        let vault = Vault::new(b"key");
        let link = link(LinkAction::Acknowledge);
        let now = "2026-03-02T15:05:00Z".parse().unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(link.token(&vault)).unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            let token = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(ActionLink::from_token(&vault, &token, now), None, "byte {place}");
        }
        for text in ["", "x", "?", &URL_SAFE_NO_PAD.encode(&bytes[..MAC_BYTES])] {
            assert_eq!(ActionLink::from_token(&vault, text, now), None, "{text}");
        }
    }
}
