//! The text message channel.

use std::sync::Arc;

use clock::Clock;
use notify::sms::{Sms, SmsError, Twilio, TwilioConfig};
use notify::templates::render::{self, CustomTexts};
use store::model::{ClaimedMessage, MessageChannel, MessageContent, NotificationChannelType};

use super::channel::{ChannelSetup, MessageTransportError, OutgoingMessage};
use super::compose::{Composer, PRODUCT_NAME, RenderError};
use super::config::SmsConfig;
use super::dispatchers::shared_provider_limits;
use super::recipient::Recipient;
use super::transport::RenderedMessage;

/// Returns the provider and the settings of text messages.
///
/// # Errors
/// [`MessageTransportError`] for an invalid setting.
pub(crate) fn setup(settings: &SmsConfig, time: Arc<dyn Clock>) -> Result<ChannelSetup<Twilio>, MessageTransportError> {
    let twilio =
        |config: &TwilioConfig| Ok::<_, SmsError>((Twilio::new(config.clone(), time)?, "twilio", config.timeout));
    Ok(ChannelSetup {
        provider: settings.twilio.as_ref().map(twilio).transpose()?,
        daily_limits: settings.daily_limits,
        retry_delays: settings.retry_delays.clone(),
        limits: shared_provider_limits(settings.twilio.as_ref().map(|twilio| twilio.timeout)),
    })
}

impl OutgoingMessage for Sms {
    const CHANNEL: MessageChannel = MessageChannel::Sms;
    type Provider = Twilio;

    fn render(
        composer: &Composer,
        message: &ClaimedMessage,
        recipient: Recipient,
        texts: CustomTexts,
    ) -> Result<Self, RenderError> {
        let text = match &message.content {
            MessageContent::Sealed(sealed) => {
                render::account_sms(&composer.account_email(message, sealed)?, PRODUCT_NAME)
            }
            MessageContent::Firing(data) => {
                let alert = composer
                    .fired(message, data, NotificationChannelType::Sms)
                    .with_custom_texts(texts);
                render::fired_alert_sms(&alert, PRODUCT_NAME)
            }
            MessageContent::Firings(firings) => {
                let alerts = composer.fired_alerts(message, firings, NotificationChannelType::Sms);
                render::fired_alerts_sms(&alerts, PRODUCT_NAME)
            }
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
