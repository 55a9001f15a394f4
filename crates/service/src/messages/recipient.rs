//! To whom a message goes, and whether now, later or not at all.
//!
//! This is found out when it is about to be sent, each time: meanwhile somebody may have another address, gone to bed, or
//! want nothing any more. Letters are answers to what somebody has just done, so they go at once to where they were written to;
//! what is about alerts ([`is_alert_news`]) waits for the end of quiet hours.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use store::model::{Account, ClaimedMessage, MessageChannel, is_alert_news};

use super::quiet::quiet_until;

/// Where a message goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Recipient {
    /// The address or number.
    pub(super) to: String,
    /// What they are called, if they said so themselves.
    pub(super) name: Option<String>,
    /// What their clocks show.
    pub(super) time_zone: TimeZone,
    /// How many messages about alerts their plan has a month.
    pub(super) quota: Option<u32>,
}

/// What is to be done with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Judged {
    Send(Recipient),
    /// Not before then.
    PutOff(Timestamp),
    /// Never, and why, in a word.
    Drop(&'static str),
}

/// What it depends on beside the message.
pub(super) struct Circumstances<'a> {
    pub(super) channel: MessageChannel,
    pub(super) now: Timestamp,
    /// Whether mail about alerts goes to addresses only that are known to be the owner's.
    pub(super) is_confirmation_required: bool,
    /// Those of the addresses that want no mail about alerts.
    pub(super) unsubscribed: &'a HashSet<String>,
}

/// The address that a message would go to, as far as it can be said at once.
pub(super) fn address(message: &ClaimedMessage) -> Option<String> {
    let owner = message.owner.as_ref().filter(|_| is_alert_news(&message.kind));
    let address = owner.map(|owner| &owner.email).or(message.recipient.as_ref())?;
    Some(address.to_lowercase())
}

impl Circumstances<'_> {
    pub(super) fn judge(&self, message: &ClaimedMessage) -> Judged {
        if !is_alert_news(&message.kind) {
            return self.letter(message);
        }
        match (&message.owner, message.account) {
            (Some(owner), _) => self.news(owner),
            (None, Some(_)) => Judged::Drop("account_deleted"),
            (None, None) => self.news_for_guest(message),
        }
    }

    fn letter(&self, message: &ClaimedMessage) -> Judged {
        let Some(to) = message.recipient.clone() else {
            return Judged::Drop("void");
        };
        // Anybody can ask for this one in somebody else's name.
        if message.kind == "guest_alert" && self.is_unsubscribed(&to) {
            return Judged::Drop("unsubscribed");
        }
        // A name in a letter to an address that is not known to be the owner's would be a stranger's text.
        let owner = message
            .owner
            .as_ref()
            .filter(|owner| owner.is_verified && owner.email == to);
        Judged::Send(Recipient {
            name: owner.and_then(|owner| owner.full_name.clone()),
            time_zone: owner.map_or(TimeZone::UTC, zone),
            quota: None,
            to,
        })
    }

    fn news_for_guest(&self, message: &ClaimedMessage) -> Judged {
        match &message.recipient {
            None => Judged::Drop("void"),
            Some(to) if self.is_unsubscribed(to) => Judged::Drop("unsubscribed"),
            Some(to) => Judged::Send(Recipient {
                to: to.clone(),
                name: None,
                time_zone: TimeZone::UTC,
                quota: None,
            }),
        }
    }

    fn news(&self, owner: &Account) -> Judged {
        if owner.profile.deleted_at.is_some() {
            return Judged::Drop("account_deleted");
        }
        if owner.profile.deactivated_at.is_some() {
            return Judged::Drop("account_deactivated");
        }
        let (to, quota) = match self.channel {
            MessageChannel::Email => {
                if self.is_unsubscribed(&owner.email) {
                    return Judged::Drop("unsubscribed");
                }
                if self.is_confirmation_required && !owner.is_verified {
                    return Judged::Drop("address_not_confirmed");
                }
                (owner.email.clone(), None)
            }
            MessageChannel::Sms => match &owner.profile.phone {
                None => return Judged::Drop("no_verified_number"),
                Some(phone) => (phone.number.clone(), Some(owner.plan.sms_per_month())),
            },
        };
        let time_zone = zone(owner);
        let quiet = owner.profile.quiet_hours;
        if let Some(until) = quiet.and_then(|hours| quiet_until(hours, &time_zone, self.now)) {
            return Judged::PutOff(until);
        }
        Judged::Send(Recipient {
            to,
            name: owner.full_name.clone().filter(|_| owner.is_verified),
            time_zone,
            quota,
        })
    }

    fn is_unsubscribed(&self, address: &str) -> bool {
        self.channel == MessageChannel::Email && self.unsubscribed.contains(&address.to_lowercase())
    }
}

fn zone(owner: &Account) -> TimeZone {
    // Only names that are known are taken; if one is forgotten by a later version, UTC is better than nothing.
    TimeZone::get(&owner.time_zone).unwrap_or(TimeZone::UTC)
}
