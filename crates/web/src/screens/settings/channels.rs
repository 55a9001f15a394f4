//! `/settings/channels`: where messages go, a test of each channel with its result, and the route of the account.

use askama::Template;
use delivery::messages::MessageReceipt;
use delivery::webhooks::DeliveryStatus;
use jiff::Timestamp;
use service::alerts::AlertSentences;

use super::notification_channels::{ChannelLine, ChannelTestLine, TelegramCode};
use super::{SettingsTab, new_channel::TypeChoice};
use crate::filters;
use crate::form_state::FormState;
use crate::layout::Shell;
use crate::screens::RouteForm;
use crate::screens::deliveries::MessageLine;

/// The steps of a test message so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageTestReceipt {
    /// The message.
    pub line: MessageLine,
    /// When it was taken from the queue.
    pub claimed_at: Option<Timestamp>,
    /// When it was sent or given up.
    pub finished_at: Option<Timestamp>,
    /// The number of attempts.
    pub attempts: u32,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
}

impl MessageTestReceipt {
    /// Formats a receipt.
    #[must_use]
    pub fn of(receipt: &MessageReceipt) -> Self {
        Self {
            line: MessageLine::of(&receipt.sent, &AlertSentences::new()),
            claimed_at: receipt.claimed_at,
            finished_at: receipt.sent.finished_at,
            attempts: receipt.attempts,
            next_attempt_at: receipt.next_attempt_at,
        }
    }

    /// Returns whether something will still happen to the message.
    fn is_moving(&self) -> bool {
        self.line.status == DeliveryStatus::Pending
    }

    /// Returns the outcome of the attempts that have failed so far.
    fn failure(&self) -> Option<&str> {
        let has_failed = self.is_moving() && self.attempts > 0;
        self.line.outcome.as_deref().filter(|_| has_failed)
    }
}

/// The email address, the phone number, the notification channels and the route.
#[derive(Template, Debug)]
#[template(path = "settings/channels.html")]
pub struct ChannelsPage {
    /// The frame.
    pub shell: Shell,
    /// The state of a refused form.
    pub form: FormState,
    /// The verified phone number, and when it was verified.
    pub phone: Option<(String, Timestamp)>,
    /// The number to which a code has been sent.
    pub awaited_phone: Option<String>,
    /// The receipt of a test.
    pub receipt: Option<MessageTestReceipt>,
    /// The notification channels, oldest first.
    pub channels: Vec<ChannelLine>,
    /// The test of a notification channel that has just been sent.
    pub test: Option<ChannelTestLine>,
    /// The code of a Telegram channel that has just been created.
    pub telegram_code: Option<TelegramCode>,
    /// The key that browsers subscribe with.
    pub web_push_key: Option<String>,
    /// The route of alerts without one.
    pub route: RouteForm,
}

impl ChannelsPage {
    const TAB: SettingsTab = SettingsTab::Channels;

    fn type_choices() -> Vec<TypeChoice> {
        TypeChoice::all(None)
    }
}
