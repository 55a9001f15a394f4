//! Configuration of messages.

use jiff::SignedDuration;
use notify::email::SmtpConfig;
use notify::schedule::RetrySchedule;
use notify::sms::TwilioConfig;

use crate::phone_number::{CallingCode, default_allowed_countries};

/// Configuration of messages.
#[derive(Clone, Debug, Default)]
pub struct MessagesConfig {
    /// Email.
    pub email: EmailConfig,
    /// Text messages.
    pub sms: SmsConfig,
}

/// Configuration of email.
#[derive(Clone, Debug)]
pub struct EmailConfig {
    /// SMTP server. `None` stores mail in the outbox for the operator.
    pub smtp: Option<SmtpConfig>,
    /// Daily limits.
    pub daily_limits: DailyMessageLimits,
    /// Delays between retries.
    pub retry_delays: RetrySchedule,
}

/// Configuration of text messages.
#[derive(Clone, Debug)]
pub struct SmsConfig {
    /// Countries whose numbers may receive codes and so become an account's number. An empty list allows all.
    pub allowed_countries: Vec<CallingCode>,
    /// Twilio account. `None` stores text messages in the outbox for the operator.
    pub twilio: Option<TwilioConfig>,
    /// Daily limits.
    pub daily_limits: DailyMessageLimits,
    /// Delays between retries.
    pub retry_delays: RetrySchedule,
}

/// Maximum number of messages per channel and UTC day. Messages beyond it are dropped, so that nobody can use this
/// service to send an unlimited number of messages to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DailyMessageLimits {
    /// Total, for all recipients. It limits the operator's costs.
    pub max_total: u32,
    /// Account messages: about registrations, passwords and guests. Anyone can cause them without an account, so they
    /// must leave enough for alerts.
    pub max_account_messages: u32,
    /// Account messages per recipient, and per account. Sign-in links do not count, because anyone can request them;
    /// they have a minimum interval instead. Security notices have their own count.
    pub max_account_messages_per_recipient: u32,
    /// Messages about alerts per recipient.
    pub max_alert_messages_per_recipient: u32,
}

impl Default for EmailConfig {
    fn default() -> Self {
        Self {
            smtp: None,
            daily_limits: DailyMessageLimits {
                max_total: 50_000,
                max_account_messages: 5_000,
                max_account_messages_per_recipient: 20,
                max_alert_messages_per_recipient: 1_000,
            },
            retry_delays: delays(&[10, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400, 14_400]),
        }
    }
}

impl Default for SmsConfig {
    fn default() -> Self {
        Self {
            allowed_countries: default_allowed_countries(),
            twilio: None,
            daily_limits: DailyMessageLimits {
                max_total: 1_000,
                max_account_messages: 200,
                max_account_messages_per_recipient: 5,
                max_alert_messages_per_recipient: 50,
            },
            retry_delays: delays(&[10, 60, 300, 900, 1_800, 3_600]),
        }
    }
}

fn delays(seconds: &[i64]) -> RetrySchedule {
    RetrySchedule::new(seconds.iter().copied().map(SignedDuration::from_secs).collect())
}
