//! The text message channel.

use notify::sms::Sms;
use notify::templates::render::{self, FiredAlert};
use store::model::{ClaimedMessage, MessageChannel, MessageContent};

use super::channel::ChannelMessage;
use super::compose::{Composer, PRODUCT_NAME, RenderError};
use super::recipient::Recipient;
use super::transport::RenderedMessage;

impl ChannelMessage for Sms {
    const CHANNEL: MessageChannel = MessageChannel::Sms;

    fn render(composer: &Composer, message: &ClaimedMessage, recipient: Recipient) -> Result<Self, RenderError> {
        let text = match &message.content {
            MessageContent::Sealed(sealed) => render::account_sms(&composer.letter(message, sealed)?, PRODUCT_NAME),
            MessageContent::Firing(data) => render::fired_alert_sms(&FiredAlert::from_event_data(data), PRODUCT_NAME),
        };
        Ok(Self { to: recipient.to, text })
    }

    fn recipient(&self) -> &str {
        &self.to
    }

    fn content(&self) -> RenderedMessage {
        RenderedMessage {
            text: self.text.clone(),
            ..RenderedMessage::default()
        }
    }
}
