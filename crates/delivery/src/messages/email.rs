//! The email channel.

use std::sync::Arc;

use clock::Clock;
use foundation::links::link;
use notify::email::{Email, EmailError, Mailer, SmtpConfig};
use notify::templates::render::{self, EmailContext};
use store::model::{ClaimedMessage, MessageChannel, MessageContent, is_alert_news};

use super::channel::{ChannelMessage, ChannelSetup, MessageTransportError};
use super::compose::{Composer, PRODUCT_NAME, RenderError};
use super::config::MessagesConfig;
use super::recipient::Recipient;
use super::transport::RenderedMessage;
use super::unsubscribe;

impl ChannelMessage for Email {
    const CHANNEL: MessageChannel = MessageChannel::Email;
    type Provider = Mailer;

    fn setup(settings: &MessagesConfig, time: Arc<dyn Clock>) -> Result<ChannelSetup<Mailer>, MessageTransportError> {
        let email = &settings.email;
        let mailer = |smtp: &SmtpConfig| Ok::<_, EmailError>((Mailer::new(smtp.clone(), time)?, "smtp", smtp.timeout));
        Ok(ChannelSetup {
            provider: email.smtp.as_ref().map(mailer).transpose()?,
            daily_limits: email.daily_limits,
            retry_delays: email.retry_delays.clone(),
        })
    }

    fn render(composer: &Composer, message: &ClaimedMessage, recipient: Recipient) -> Result<Self, RenderError> {
        let mut context = EmailContext::new(PRODUCT_NAME, &composer.public_url);
        context.recipient_name.clone_from(&recipient.name);
        context.time_zone = recipient.time_zone;
        if is_alert_news(&message.kind) {
            let token = unsubscribe::token(&composer.vault, &recipient.to);
            context.unsubscribe_link = Some(link(&composer.public_url, "unsubscribe", &[("token", &token)]));
        }
        let mail = match &message.content {
            MessageContent::Sealed(sealed) => {
                render::account_email(&composer.account_email(message, sealed)?, &context)
            }
            MessageContent::Firing(data) => render::fired_alert_email(&composer.fired(message, data), &context),
        };
        Ok(Self {
            to: recipient.to,
            to_name: recipient.name,
            message_id: message.id.0,
            date: message.created_at,
            content: mail,
        })
    }

    fn recipient(&self) -> &str {
        &self.to
    }

    fn content(&self) -> RenderedMessage {
        RenderedMessage {
            subject: Some(self.content.subject.clone()),
            text: self.content.text.clone(),
            html: Some(self.content.html.clone()),
        }
    }
}
