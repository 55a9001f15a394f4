//! What can be set about messages.

use jiff::SignedDuration;
use notify::email::SmtpConfig;
use notify::schedule::RetrySchedule;
use notify::sms::TwilioConfig;

use crate::identity::account::{CallingCode, default_countries};

/// How people are written to.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// By mail.
    pub email: Email,
    /// As text messages.
    pub sms: Sms,
}

/// How mail is sent.
#[derive(Clone, Debug)]
pub struct Email {
    /// Who carries it; `None`: it is kept in the outbox for the operator to read.
    pub smtp: Option<SmtpConfig>,
    /// How much of it.
    pub budget: Budget,
    /// After how long what failed is tried again.
    pub retry_delays: RetrySchedule,
}

/// How text messages are sent.
#[derive(Clone, Debug)]
pub struct Sms {
    /// The countries whose numbers may be sent codes, and so become an account's; all, if there are none here.
    pub allowed_countries: Vec<CallingCode>,
    /// Who carries them; `None`: they are kept in the outbox for the operator to read.
    pub twilio: Option<TwilioConfig>,
    /// How many.
    pub budget: Budget,
    /// After how long what failed is tried again.
    pub retry_delays: RetrySchedule,
}

/// How many messages are sent one way on a day of UTC. What goes beyond it is given up, so that nobody can have this service
/// write to others, or to strangers' numbers, without end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// In all, whoever they are for. It is the operator's purse.
    pub in_all: u32,
    /// So many of these may be letters: about registrations, passwords, guests. They come of what anybody can ask for without
    /// an account, and have to leave some for alerts.
    pub letters: u32,
    /// Letters to one address or number, and letters because of one account. Links that let owners in are not among them, as
    /// anybody can ask for them: each comes a while after the last. What tells owners that their account was changed is counted
    /// by itself.
    pub letters_to_each: u32,
    /// Messages about alerts to one address or number.
    pub alerts_to_each: u32,
}

impl Default for Email {
    fn default() -> Self {
        Self {
            smtp: None,
            budget: Budget {
                in_all: 50_000,
                letters: 5_000,
                letters_to_each: 20,
                alerts_to_each: 1_000,
            },
            retry_delays: delays(&[10, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400, 14_400]),
        }
    }
}

impl Default for Sms {
    fn default() -> Self {
        Self {
            allowed_countries: default_countries(),
            twilio: None,
            budget: Budget {
                in_all: 1_000,
                letters: 200,
                letters_to_each: 5,
                alerts_to_each: 50,
            },
            retry_delays: delays(&[10, 60, 300, 900, 1_800, 3_600]),
        }
    }
}

fn delays(seconds: &[i64]) -> RetrySchedule {
    RetrySchedule::new(seconds.iter().copied().map(SignedDuration::from_secs).collect())
}
