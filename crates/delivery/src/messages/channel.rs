//! A channel of messages: its provider, and how it renders a message. One file per channel implements it.

use std::sync::Arc;
use std::time::Duration;

use notify::dispatcher::{DispatcherLimits, Transport};
use notify::email::EmailError;
use notify::message_attempt::MessageAttempt;
use notify::schedule::RetrySchedule;
use notify::sms::SmsError;
use notify::templates::render::CustomTexts;
use store::model::{ClaimedMessage, MessageChannel, NotificationChannel};

use super::compose::{Composer, RenderError};
use super::config::DailyMessageLimits;
use super::recipient::Recipient;
use super::transport::RenderedMessage;

/// Reason why messages cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum MessageTransportError {
    /// Email.
    #[error("mail cannot be sent: {0}")]
    Email(#[from] EmailError),
    /// Text messages.
    #[error("text messages cannot be sent: {0}")]
    Sms(#[from] SmsError),
}

/// A rendered message of one channel, ready to be sent.
pub(crate) trait OutgoingMessage: Sized + Send + Sync + 'static {
    /// The channel.
    const CHANNEL: MessageChannel;

    /// Sends messages of this channel.
    type Provider: Transport<Job = Self, Report = MessageAttempt>;

    /// Renders a message. `texts` are from the templates of its notification channel.
    fn render(
        composer: &Composer,
        message: &ClaimedMessage,
        recipient: Recipient,
        texts: CustomTexts,
    ) -> Result<Self, RenderError>;

    /// Returns the address or number of the recipient.
    fn recipient(&self) -> &str;

    /// Returns the content, as stored in the outbox.
    fn content(&self) -> RenderedMessage;

    /// Returns the host that gets the message, if not all messages of the channel go to the same provider.
    fn host(&self) -> Option<Arc<str>> {
        None
    }
}

/// A message with the notification channel that it goes to.
pub(crate) struct MessageJob<M> {
    pub(super) message: M,
    /// `None`: the account's own address or number.
    pub(super) channel: Option<Arc<NotificationChannel>>,
}

/// The provider and the settings of a channel.
pub(crate) struct ChannelSetup<P> {
    /// The provider with its name and timeout. `None`: messages are stored in the outbox.
    pub(super) provider: Option<(P, &'static str, Duration)>,
    pub(super) daily_limits: DailyMessageLimits,
    pub(super) retry_delays: RetrySchedule,
    pub(super) limits: DispatcherLimits,
}
