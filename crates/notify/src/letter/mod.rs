//! Letters: what a person is told by mail or as a text message.
//!
//! A [`Letter`] says *what* is told, as data. How it reads is another matter (see the modules beside this), so that a letter can
//! lie sealed in the database until it is sent, and be written in the words of the version that sends it.

mod alerts;
pub mod render;
mod words;

pub use alerts::{BlindAlert, MovedAlert, NamedAlert, SplitNews};
use serde::{Deserialize, Serialize};
pub(crate) use words::{is_visible, plain};

/// What somebody is told. What comes from users or from data is plain text in here; escaping it is the writer's affair.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Letter {
    /// Somebody has registered with this address: is it theirs?
    ConfirmAddress {
        /// Where they say so.
        link: String,
    },
    /// Somebody has registered with an address that has an account.
    AlreadyRegistered {
        /// Where its owner signs in.
        link: String,
    },
    /// A link that signs in.
    MagicLink {
        /// The link.
        link: String,
    },
    /// A link to choose a new password with.
    ResetPassword {
        /// The link.
        link: String,
    },
    /// To the new address of an account: is it theirs?
    ConfirmNewAddress {
        /// Where they say so.
        link: String,
    },
    /// To the old address of an account.
    AddressChanged {
        /// What it was changed to.
        new_address: String,
    },
    /// The password of an account was changed.
    PasswordChanged {
        /// Where its owner has a link mailed to choose another one with.
        link: String,
    },
    /// Somebody without an account has made an alert with this address.
    GuestAlert {
        /// The stock.
        symbol: String,
        /// What is watched for, in words: `AAPL rises to 200 or above`.
        wish: String,
        /// Where they make it active.
        link: String,
    },
    /// A webhook was switched off.
    WebhookOff {
        /// Where it led.
        url: String,
        /// Why: `gone` or `failing`.
        reason: String,
    },
    /// Alerts cannot be judged for want of fresh quotes.
    AlertsBlind {
        /// Those that are named.
        alerts: Vec<BlindAlert>,
        /// How many there are besides.
        more: usize,
    },
    /// Alerts of which was told that they are blind are judged again.
    AlertsSee {
        /// Those that are named.
        alerts: Vec<NamedAlert>,
        /// How many there are besides.
        more: usize,
        /// Since when the first of them was blind, in the form of RFC 3339.
        since: String,
    },
    /// A split has moved alerts.
    SplitAdjusted {
        /// The split.
        split: SplitNews,
        /// Those that are named.
        alerts: Vec<MovedAlert>,
        /// How many there are besides.
        more: usize,
    },
    /// Most text messages of the month are used.
    SmsQuotaLow {
        /// How many are used.
        used: u32,
        /// How many the plan has a month.
        quota: u32,
        /// The day on which the next month begins, in the form of ISO 8601.
        renewed_on: String,
    },
    /// All text messages of the month are used; alerts come by mail.
    SmsQuotaUsed {
        /// How many the plan has a month.
        quota: u32,
        /// The day on which the next month begins, in the form of ISO 8601.
        renewed_on: String,
    },
    /// A smaller plan has paused alerts.
    PlanPausedAlerts {
        /// The plan's name.
        plan: String,
        /// Those that are named.
        alerts: Vec<NamedAlert>,
        /// How many there are besides.
        more: usize,
    },
    /// The code that shows that a telephone number is theirs.
    PhoneCode {
        /// Six digits.
        code: String,
    },
}

impl Letter {
    /// What it is, in a word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ConfirmAddress { .. } => "confirm_address",
            Self::AlreadyRegistered { .. } => "already_registered",
            Self::MagicLink { .. } => "magic_link",
            Self::ResetPassword { .. } => "reset_password",
            Self::ConfirmNewAddress { .. } => "confirm_new_address",
            Self::AddressChanged { .. } => "address_changed",
            Self::PasswordChanged { .. } => "password_changed",
            Self::GuestAlert { .. } => "guest_alert",
            Self::WebhookOff { .. } => "webhook_off",
            Self::AlertsBlind { .. } => "alerts_blind",
            Self::AlertsSee { .. } => "alerts_see",
            Self::SplitAdjusted { .. } => "split_adjusted",
            Self::SmsQuotaLow { .. } => "sms_quota_low",
            Self::SmsQuotaUsed { .. } => "sms_quota_used",
            Self::PlanPausedAlerts { .. } => "plan_paused_alerts",
            Self::PhoneCode { .. } => "phone_code",
        }
    }
}
