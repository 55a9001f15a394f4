//! The texts of emails and text messages.
//!
//! An [`AccountEmail`] is the data of a message. It can be stored encrypted until the message is sent. The module [`render`] renders
//! the text when the message is sent, so that the current version of the text is used.

mod alerts;
mod plain_text;
pub mod render;
pub mod user_template;

pub use alerts::{AdjustedAlert, AlertSummary, SplitSummary, StaleAlert};
pub(crate) use plain_text::{is_visible, plain};
use serde::{Deserialize, Serialize};

/// An email about an account or its alerts, as data. Texts from users and from data are unescaped; rendering escapes them.
///
/// It is stored as JSON. Variants and fields whose names differ there have a `serde(rename)`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AccountEmail {
    /// Confirmation of the email address after registration.
    ConfirmAddress {
        /// The confirmation link.
        link: String,
    },
    /// A registration with an email address that already has an account.
    AlreadyRegistered {
        /// The link to sign in.
        link: String,
    },
    /// A sign-in link.
    MagicLink {
        /// The link.
        link: String,
    },
    /// A link to choose a new password.
    ResetPassword {
        /// The link.
        link: String,
    },
    /// Confirmation of a new email address, sent to the new address.
    ConfirmNewAddress {
        /// The confirmation link.
        link: String,
    },
    /// Confirmation of the email address of a notification channel, sent to that address.
    ConfirmChannel {
        /// The confirmation link.
        link: String,
    },
    /// Notice of a changed email address, sent to the old address.
    AddressChanged {
        /// The new email address.
        new_address: String,
    },
    /// Notice of a changed password.
    PasswordChanged {
        /// The link to the sign-in page, where the owner can request another password.
        link: String,
    },
    /// Confirmation of an alert that was created without an account.
    GuestAlert {
        /// The stock.
        symbol: String,
        /// The condition in words: `AAPL rises to 200 or above`.
        #[serde(rename = "wish")]
        condition: String,
        /// The link that activates the alert.
        link: String,
    },
    /// A webhook was disabled.
    #[serde(rename = "webhook_off")]
    WebhookDisabled {
        /// The URL of the webhook.
        url: String,
        /// The reason: `gone` or `failing`.
        reason: String,
    },
    /// Alerts cannot be evaluated because there are no current quotes.
    #[serde(rename = "alerts_blind")]
    AlertsStale {
        /// The alerts that are listed.
        alerts: Vec<StaleAlert>,
        /// Number of further alerts.
        more: usize,
    },
    /// Alerts are evaluated again after an `AlertsStale` email.
    #[serde(rename = "alerts_see")]
    AlertsRecovered {
        /// The alerts that are listed.
        alerts: Vec<AlertSummary>,
        /// Number of further alerts.
        more: usize,
        /// Since when the first of them had no current quotes (RFC 3339).
        since: String,
    },
    /// Alerts were adjusted for a stock split.
    SplitAdjusted {
        /// The stock split.
        split: SplitSummary,
        /// The alerts that are listed.
        alerts: Vec<AdjustedAlert>,
        /// Number of further alerts.
        more: usize,
    },
    /// An alert has expired, and its owner wants to know.
    AlertExpired {
        /// The alert.
        alert: AlertSummary,
        /// The instant of its expiry (RFC 3339).
        at: String,
    },
    /// Most text messages of the month are used.
    SmsQuotaLow {
        /// Number of text messages used.
        used: u32,
        /// Number of text messages per month in the plan.
        quota: u32,
        /// The first day of the next month (ISO 8601).
        renewed_on: String,
    },
    /// All text messages of the month are used; alerts are sent by email.
    SmsQuotaUsed {
        /// Number of text messages per month in the plan.
        quota: u32,
        /// The first day of the next month (ISO 8601).
        renewed_on: String,
    },
    /// Alerts were paused because the new plan does not include them.
    PlanPausedAlerts {
        /// The name of the plan.
        plan: String,
        /// The alerts that are listed.
        alerts: Vec<AlertSummary>,
        /// Number of further alerts.
        more: usize,
    },
    /// A template of a notification channel has failed, so its messages have the default text.
    TemplateFailed {
        /// The name of the channel.
        channel: String,
        /// The template: `title`, `text` or `payload`.
        template: String,
        /// Why it has failed.
        error: String,
    },
    /// A template of an alert has failed, so its message has the default text.
    AlertTemplateFailed {
        /// The page of the alert.
        link: String,
        /// The template: `title`, `text` or `payload`.
        template: String,
        /// Why it has failed.
        error: String,
    },
    /// The code that confirms a phone number.
    PhoneCode {
        /// Six digits.
        code: String,
    },
    /// A test of the channel, requested by the owner.
    ChannelTest,
}

impl AccountEmail {
    /// Returns the kind of the message, as stored in the database.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ConfirmAddress { .. } => "confirm_address",
            Self::AlreadyRegistered { .. } => "already_registered",
            Self::MagicLink { .. } => "magic_link",
            Self::ResetPassword { .. } => "reset_password",
            Self::ConfirmNewAddress { .. } => "confirm_new_address",
            Self::ConfirmChannel { .. } => "confirm_channel",
            Self::AddressChanged { .. } => "address_changed",
            Self::PasswordChanged { .. } => "password_changed",
            Self::GuestAlert { .. } => "guest_alert",
            Self::WebhookDisabled { .. } => "webhook_off",
            Self::AlertsStale { .. } => "alerts_blind",
            Self::AlertsRecovered { .. } => "alerts_see",
            Self::SplitAdjusted { .. } => "split_adjusted",
            Self::AlertExpired { .. } => "alert_expired",
            Self::SmsQuotaLow { .. } => "sms_quota_low",
            Self::SmsQuotaUsed { .. } => "sms_quota_used",
            Self::PlanPausedAlerts { .. } => "plan_paused_alerts",
            Self::TemplateFailed { .. } => "template_failed",
            Self::AlertTemplateFailed { .. } => "alert_template_failed",
            Self::PhoneCode { .. } => "phone_code",
            Self::ChannelTest => "channel_test",
        }
    }
}
