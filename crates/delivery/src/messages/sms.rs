//! The text message channel.

use std::sync::Arc;

use clock::Clock;
use notify::sms::{Sms, SmsError, Twilio, TwilioConfig};
use notify::templates::render::{self, FiredAlert};
use store::model::{ClaimedMessage, MessageChannel, MessageContent};

use super::channel::{ChannelMessage, ChannelSetup, MessageTransportError};
use super::compose::{Composer, PRODUCT_NAME, RenderError};
use super::config::MessagesConfig;
use super::recipient::Recipient;
use super::transport::RenderedMessage;

impl ChannelMessage for Sms {
    const CHANNEL: MessageChannel = MessageChannel::Sms;
    type Provider = Twilio;

    fn setup(settings: &MessagesConfig, time: Arc<dyn Clock>) -> Result<ChannelSetup<Twilio>, MessageTransportError> {
        let sms = &settings.sms;
        let twilio =
            |config: &TwilioConfig| Ok::<_, SmsError>((Twilio::new(config.clone(), time)?, "twilio", config.timeout));
        Ok(ChannelSetup {
            provider: sms.twilio.as_ref().map(twilio).transpose()?,
            daily_limits: sms.daily_limits,
            retry_delays: sms.retry_delays.clone(),
        })
    }

    fn render(composer: &Composer, message: &ClaimedMessage, recipient: Recipient) -> Result<Self, RenderError> {
        let text = match &message.content {
            MessageContent::Sealed(sealed) => {
                render::account_sms(&composer.account_email(message, sealed)?, PRODUCT_NAME)
            }
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
