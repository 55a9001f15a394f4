//! The dispatchers of messages: one per channel.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use foundation::Ports;
use jiff::SignedDuration;
use notify::dispatcher::{Dispatcher, DispatcherLimits, Transport};
use notify::email::{Email, EmailError, Mailer};
use notify::message_attempt::MessageAttempt;
use notify::schedule::RetrySchedule;
use notify::sms::{Sms, SmsError, Twilio};

use super::channel::ChannelMessage;
use super::compose::Composer;
use super::config::DailyMessageLimits;
use super::message_outbox::MessageQueue;
use super::transport::MessageTransport;
use crate::DeliveryConfig;
use crate::queue::{self, QueueOutbox};

/// Maximum number of concurrent attempts per provider, each on its own connection.
const MAX_CONCURRENT_ATTEMPTS: usize = 16;
/// Maximum number of concurrent attempts per account. All accounts share the provider.
const MAX_CONCURRENT_ATTEMPTS_PER_ACCOUNT: usize = 4;
/// Timeout for storing a message in the outbox.
const OUTBOX_TIMEOUT: Duration = Duration::from_secs(1);

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

/// A channel: its provider and settings.
struct ChannelSetup<P> {
    /// `None`: messages are stored in the outbox.
    provider: Option<P>,
    provider_name: &'static str,
    timeout: Option<Duration>,
    daily_limits: DailyMessageLimits,
    retry_delays: RetrySchedule,
}

/// The dispatcher of a channel that sends through the provider `P`.
pub(crate) type MessageDispatcher<M, P> = Dispatcher<QueueOutbox<MessageQueue<M>>, MessageTransport<P>>;

/// Creates the dispatcher of email.
pub(crate) fn email(
    ports: &Ports,
    settings: &DeliveryConfig,
    is_confirmation_required: bool,
) -> Result<MessageDispatcher<Email, Mailer>, MessageTransportError> {
    let email = &settings.messages.email;
    let mailer = email
        .smtp
        .clone()
        .map(|smtp| Mailer::new(smtp, Arc::clone(&ports.network.time)));
    let channel = ChannelSetup {
        provider: mailer.transpose()?,
        provider_name: "smtp",
        timeout: email.smtp.as_ref().map(|smtp| smtp.timeout),
        daily_limits: email.daily_limits,
        retry_delays: email.retry_delays.clone(),
    };
    Ok(dispatcher(ports, settings, channel, is_confirmation_required))
}

/// Creates the dispatcher of text messages.
pub(crate) fn sms(
    ports: &Ports,
    settings: &DeliveryConfig,
    is_confirmation_required: bool,
) -> Result<MessageDispatcher<Sms, Twilio>, MessageTransportError> {
    let sms = &settings.messages.sms;
    let twilio = sms
        .twilio
        .clone()
        .map(|twilio| Twilio::new(twilio, Arc::clone(&ports.network.time)));
    let channel = ChannelSetup {
        provider: twilio.transpose()?,
        provider_name: "twilio",
        timeout: sms.twilio.as_ref().map(|twilio| twilio.timeout),
        daily_limits: sms.daily_limits,
        retry_delays: sms.retry_delays.clone(),
    };
    Ok(dispatcher(ports, settings, channel, is_confirmation_required))
}

fn dispatcher<M, P>(
    ports: &Ports,
    settings: &DeliveryConfig,
    setup: ChannelSetup<P>,
    is_confirmation_required: bool,
) -> MessageDispatcher<M, P>
where
    M: ChannelMessage,
    P: Transport<Job = M, Report = MessageAttempt>,
{
    let provider_name = if setup.provider.is_some() {
        setup.provider_name
    } else {
        "outbox"
    };
    let channel = MessageQueue {
        message: PhantomData,
        store: ports.store.clone(),
        time: Arc::clone(&ports.network.time),
        composer: Composer {
            vault: Arc::clone(&ports.vault),
            public_url: settings.public_url.clone(),
        },
        daily_limits: setup.daily_limits,
        is_confirmation_required,
        provider: provider_name.into(),
        random: Arc::clone(&ports.random),
    };
    let transport = MessageTransport {
        provider: setup.provider,
        vault: Arc::clone(&ports.vault),
        random: Arc::clone(&ports.random),
        time: Arc::clone(&ports.network.time),
    };
    let timeout = setup.timeout.unwrap_or(OUTBOX_TIMEOUT);
    let timeout = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
    let limits = DispatcherLimits {
        max_attempts_per_host: MAX_CONCURRENT_ATTEMPTS,
        max_attempts_per_account: MAX_CONCURRENT_ATTEMPTS_PER_ACCOUNT,
        // All messages go to the same provider, which is slow for all or for none.
        slow_after: queue::max_attempt_duration(timeout),
        ..DispatcherLimits::default()
    };
    queue::dispatcher(ports, channel, transport, timeout, setup.retry_delays, limits)
}
