//! The email channel.

use std::sync::Arc;

use foundation::Network;
use foundation::links::link;
use notify::email::{Email, EmailError, Mailer, MailerPorts, SmtpConfig};
use notify::templates::render::{self, CustomTexts, EmailContext, FiredAlert, NotBySms};
use store::model::{
    ClaimedMessage, MessageChannel, MessageContent, MessageDestination, NotificationChannelType, is_alert_news,
};

use super::channel::{ChannelSetup, MessageTransportError, OutgoingMessage};
use super::compose::{Composer, PRODUCT_NAME, RenderError};
use super::config::EmailConfig;
use super::dispatchers::shared_provider_limits;
use super::recipient::Recipient;
use super::transport::RenderedMessage;
use super::unsubscribe;

/// Returns the mail server and the settings of email.
///
/// # Errors
/// [`MessageTransportError`] for an invalid setting.
pub(crate) fn setup(settings: &EmailConfig, network: &Network) -> Result<ChannelSetup<Mailer>, MessageTransportError> {
    let mailer = |smtp: &SmtpConfig| {
        let ports = MailerPorts {
            time: Arc::clone(&network.time),
            resolver: Arc::clone(&network.resolver),
            dialer: Arc::clone(&network.dialer),
        };
        Ok::<_, EmailError>((Mailer::new(smtp.clone(), ports)?, "smtp", smtp.timeout))
    };
    Ok(ChannelSetup {
        provider: settings.smtp.as_ref().map(mailer).transpose()?,
        daily_limits: settings.daily_limits,
        retry_delays: settings.retry_delays.clone(),
        limits: shared_provider_limits(settings.smtp.as_ref().map(|smtp| smtp.timeout)),
    })
}

impl OutgoingMessage for Email {
    const CHANNEL: MessageChannel = MessageChannel::Email;
    type Provider = Mailer;

    fn render(
        composer: &Composer,
        message: &ClaimedMessage,
        recipient: Recipient,
        texts: CustomTexts,
    ) -> Result<Self, RenderError> {
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
            MessageContent::Firing(data) => {
                let alert = composer
                    .fired(message, data, NotificationChannelType::Email)
                    .with_custom_texts(texts);
                let alert = match not_by_sms(message, alert.is_by_sms()) {
                    _ if message.is_fallback => alert.without_reached_channel(),
                    Some(reason) => alert.with_not_by_sms(reason),
                    None => alert,
                };
                render::fired_alert_email(&alert, &context)
            }
            MessageContent::Firings(firings) => {
                let mut alerts = composer.fired_alerts(message, firings, NotificationChannelType::Email);
                let is_by_sms = alerts.listed.iter().any(FiredAlert::is_by_sms);
                alerts.not_by_sms = not_by_sms(message, is_by_sms).filter(|_| !message.is_fallback);
                render::fired_alerts_email(&alerts, &context)
            }
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

/// Returns why a message goes by email that should have been a text message. `is_by_sms` is the setting of its alert.
fn not_by_sms(message: &ClaimedMessage, is_by_sms: bool) -> Option<NotBySms> {
    let is_by_sms = match &message.destination {
        MessageDestination::Own => is_by_sms,
        MessageDestination::Channel(channel) => channel.channel_type == NotificationChannelType::Sms,
        MessageDestination::DeletedChannel => false,
    };
    let owner = message.owner.as_ref().filter(|_| is_by_sms)?;
    Some(match owner.profile.phone {
        Some(_) => NotBySms::OverQuota,
        None => NotBySms::NoNumber,
    })
}
