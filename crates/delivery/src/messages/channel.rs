//! A channel of messages: renders a message for its recipient. One file per channel implements it.

use store::model::{ClaimedMessage, MessageChannel};

use super::compose::{Composer, RenderError};
use super::recipient::Recipient;
use super::transport::RenderedMessage;

/// A rendered message of one channel, ready to be sent.
pub(crate) trait ChannelMessage: Sized + Send + Sync + 'static {
    /// The channel.
    const CHANNEL: MessageChannel;

    /// Renders a message.
    fn render(composer: &Composer, message: &ClaimedMessage, recipient: Recipient) -> Result<Self, RenderError>;

    /// Returns the address or number of the recipient.
    fn recipient(&self) -> &str;

    /// Returns the content, as stored in the outbox.
    fn content(&self) -> RenderedMessage;
}
