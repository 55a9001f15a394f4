//! Decides the recipient of a message, and whether it is sent now, later or never.
//!
//! The decision is made immediately before each attempt, because addresses, quiet hours and subscriptions may change.
//! Account messages respond to an action of the user, so they are sent at once to their original address. Messages
//! about alerts ([`is_alert_news`]) wait for the end of quiet hours, unless their alert is urgent.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use notify::channels::ChannelTarget;
use store::model::{
    Account, ClaimedMessage, MessageChannel, MessageDestination, NotificationChannelType, is_alert_news,
};

use foundation::quiet_hours::{quiet_until, time_zone};

use crate::notification_channels::NotificationChannelConfig as Config;

/// Recipient of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Recipient {
    /// Email address, phone number, or the id of the notification channel.
    pub(super) to: String,
    /// Name, if the owner set it.
    pub(super) name: Option<String>,
    /// Time zone.
    pub(super) time_zone: TimeZone,
    /// Monthly quota of text messages about alerts.
    pub(super) quota: Option<u32>,
    /// The service that a notification channel sends to.
    pub(super) target: Option<ChannelTarget>,
}

/// Decision about a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SendDecision {
    Send(Recipient),
    /// Not before this time.
    Postpone(Timestamp),
    /// By email instead, with a reason code.
    MoveToEmail(&'static str),
    /// Never, with a reason code.
    Drop(&'static str),
}

/// Facts that the decision depends on, besides the message.
pub(super) struct SendContext<'a> {
    pub(super) channel: MessageChannel,
    pub(super) now: Timestamp,
    /// Whether mail about alerts requires a confirmed address.
    pub(super) is_confirmation_required: bool,
    /// Addresses without mail about alerts.
    pub(super) unsubscribed: &'a HashSet<String>,
}

/// Returns the address that a message would go to, for the lookup of unsubscribed addresses.
pub(super) fn address(message: &ClaimedMessage, config: Option<&Config>) -> Option<String> {
    if let Some(Config::Email(address)) = config {
        return Some(address.to_lowercase());
    }
    let owner = message.owner.as_ref().filter(|_| is_alert_news(&message.kind));
    let address = owner.map(|owner| &owner.email).or(message.recipient.as_ref())?;
    Some(address.to_lowercase())
}

impl SendContext<'_> {
    /// Decides about a message. `config` is the configuration of its notification channel.
    pub(super) fn decide(&self, message: &ClaimedMessage, config: Option<&Config>) -> SendDecision {
        if !is_alert_news(&message.kind) {
            return self.account_email(message);
        }
        match (&message.owner, message.account) {
            (Some(owner), _) => self.alert_message(message, owner, config),
            (None, Some(_)) => SendDecision::Drop("account_deleted"),
            (None, None) => self.guest_alert_message(message),
        }
    }

    fn account_email(&self, message: &ClaimedMessage) -> SendDecision {
        let Some(to) = message.recipient.clone() else {
            return SendDecision::Drop("void");
        };
        // Anyone can request these messages for any address.
        if matches!(message.kind.as_str(), "guest_alert" | "confirm_channel") && self.is_unsubscribed(&to) {
            return SendDecision::Drop("unsubscribed");
        }
        // In a message to an unverified address, the name would be text chosen by a stranger.
        let owner = message
            .owner
            .as_ref()
            .filter(|owner| owner.is_verified && owner.email == to);
        SendDecision::Send(Recipient {
            name: owner.and_then(|owner| owner.full_name.clone()),
            time_zone: owner.map_or(TimeZone::UTC, time_zone),
            quota: None,
            target: None,
            to,
        })
    }

    fn guest_alert_message(&self, message: &ClaimedMessage) -> SendDecision {
        match &message.recipient {
            None => SendDecision::Drop("void"),
            Some(to) if self.is_unsubscribed(to) => SendDecision::Drop("unsubscribed"),
            Some(to) => SendDecision::Send(Recipient {
                to: to.clone(),
                name: None,
                time_zone: TimeZone::UTC,
                quota: None,
                target: None,
            }),
        }
    }

    fn alert_message(&self, message: &ClaimedMessage, owner: &Account, config: Option<&Config>) -> SendDecision {
        if owner.profile.deleted_at.is_some() {
            return SendDecision::Drop("account_deleted");
        }
        if owner.profile.deactivated_at.is_some() {
            return SendDecision::Drop("account_deactivated");
        }
        if message.is_acknowledged {
            return SendDecision::Drop("acknowledged");
        }
        match &message.destination {
            MessageDestination::DeletedChannel => return SendDecision::Drop("channel_deleted"),
            MessageDestination::Channel(channel) if !channel.is_enabled => {
                return SendDecision::Drop("channel_disabled");
            }
            // Its address may have been changed since the alert fired.
            MessageDestination::Channel(channel)
                if channel.channel_type == NotificationChannelType::Email && channel.verified_at.is_none() =>
            {
                return SendDecision::Drop("address_not_confirmed");
            }
            MessageDestination::Channel(_) | MessageDestination::Own => {}
        }
        let (to, quota, target) = match (self.channel, config) {
            (MessageChannel::Email, Some(Config::Email(address))) => {
                if self.is_unsubscribed(address) {
                    return SendDecision::Drop("unsubscribed");
                }
                (address.clone(), None, None)
            }
            // Also a text message that is sent by email instead.
            (MessageChannel::Email, _) => {
                if self.is_unsubscribed(&owner.email) {
                    return SendDecision::Drop("unsubscribed");
                }
                if self.is_confirmation_required && !owner.is_verified {
                    return SendDecision::Drop("address_not_confirmed");
                }
                (owner.email.clone(), None, None)
            }
            (MessageChannel::Sms, _) => match &owner.profile.phone {
                None => return SendDecision::MoveToEmail("no_verified_number"),
                Some(phone) => (phone.number.clone(), Some(owner.plan.sms_per_month()), None),
            },
            (MessageChannel::Service, Some(Config::Service(target))) => match &message.destination {
                MessageDestination::Channel(channel) => (channel.id.0.to_string(), None, Some(target.clone())),
                MessageDestination::Own | MessageDestination::DeletedChannel => return SendDecision::Drop("void"),
            },
            (MessageChannel::Service, _) => return SendDecision::Drop("void"),
        };
        if let Some(until) = quiet_until(owner, self.now).filter(|_| !message.is_urgent) {
            return SendDecision::Postpone(until);
        }
        SendDecision::Send(Recipient {
            to,
            name: owner.full_name.clone().filter(|_| owner.is_verified),
            time_zone: time_zone(owner),
            quota,
            target,
        })
    }

    fn is_unsubscribed(&self, address: &str) -> bool {
        self.channel == MessageChannel::Email && self.unsubscribed.contains(&address.to_lowercase())
    }
}
