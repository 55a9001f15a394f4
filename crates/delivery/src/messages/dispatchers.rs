//! Dispatchers of messages: one for email, one for text messages.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use notify::dispatcher::{Dispatcher, DispatcherLimits, WakeHandle};
use notify::email::{EmailError, EmailTransport, Mailer};
use notify::schedule::RetrySchedule;
use notify::sms::{SmsError, SmsTransport, Twilio};
use store::model::MessageChannel;
use tokio_util::sync::CancellationToken;

use super::MessagesConfig;
use super::compose::Composer;
use super::config::DailyMessageLimits;
use super::message_outbox::MessageOutbox;
use super::transport::{MessageTransport, OutboxTransport};
use foundation::Ports;
use foundation::network::DatabaseOutbox;

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

/// Transport and limits of one channel.
struct ChannelSetup {
    channel: MessageChannel,
    transport: MessageTransport,
    provider: &'static str,
    timeout: Duration,
    daily_limits: DailyMessageLimits,
    delays: RetrySchedule,
}

/// The message dispatchers, ready to run.
pub(crate) struct MessageDispatchers([Dispatcher<DatabaseOutbox<MessageOutbox>, MessageTransport>; 2]);

impl std::fmt::Debug for MessageDispatchers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MessageDispatchers")
    }
}

impl MessageDispatchers {
    /// Creates the dispatchers.
    ///
    /// # Errors
    /// [`MessageTransportError`] for an invalid setting.
    pub(crate) fn new(
        ports: &Ports,
        settings: &crate::DeliveryConfig,
        is_confirmation_required: bool,
    ) -> Result<Self, MessageTransportError> {
        let messages = &settings.messages;
        let channels = [email(messages, ports)?, sms(messages, ports)?];
        Ok(Self(channels.map(|channel| {
            dispatcher(ports, settings, channel, is_confirmation_required)
        })))
    }

    /// Sends messages until `stop`, then waits for the running attempts.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let [email, sms] = self.0;
        tokio::join!(
            email.run(stop.clone().cancelled_owned()),
            sms.run(stop.cancelled_owned())
        );
    }
}

fn outbox_transport(ports: &Ports) -> MessageTransport {
    MessageTransport::Outbox(OutboxTransport {
        vault: Arc::clone(&ports.vault),
        random: Arc::clone(&ports.random),
        time: Arc::clone(&ports.network.time),
    })
}

fn email(settings: &MessagesConfig, ports: &Ports) -> Result<ChannelSetup, EmailError> {
    let email = &settings.email;
    let (transport, provider, timeout) = match &email.smtp {
        None => (outbox_transport(ports), "outbox", OUTBOX_TIMEOUT),
        Some(smtp) => {
            let mailer = Mailer::new(smtp.clone(), Arc::clone(&ports.network.time))?;
            let transport = MessageTransport::Smtp(EmailTransport::new(Arc::new(mailer)));
            (transport, "smtp", smtp.timeout)
        }
    };
    Ok(ChannelSetup {
        channel: MessageChannel::Email,
        transport,
        provider,
        timeout,
        daily_limits: email.daily_limits,
        delays: email.retry_delays.clone(),
    })
}

fn sms(settings: &MessagesConfig, ports: &Ports) -> Result<ChannelSetup, SmsError> {
    let sms = &settings.sms;
    let (transport, provider, timeout) = match &sms.twilio {
        None => (outbox_transport(ports), "outbox", OUTBOX_TIMEOUT),
        Some(twilio) => {
            let sender = Twilio::new(twilio.clone(), Arc::clone(&ports.network.time))?;
            let transport = MessageTransport::Twilio(SmsTransport::new(Arc::new(sender)));
            (transport, "twilio", twilio.timeout)
        }
    };
    Ok(ChannelSetup {
        channel: MessageChannel::Sms,
        transport,
        provider,
        timeout,
        daily_limits: sms.daily_limits,
        delays: sms.retry_delays.clone(),
    })
}

fn dispatcher(
    ports: &Ports,
    settings: &crate::DeliveryConfig,
    channel: ChannelSetup,
    is_confirmation_required: bool,
) -> Dispatcher<DatabaseOutbox<MessageOutbox>, MessageTransport> {
    let random = Arc::clone(&ports.random);
    let defaults = DispatcherLimits::default();
    let timeout = SignedDuration::try_from(channel.timeout).unwrap_or(SignedDuration::MAX);
    let max_attempt_duration = timeout.saturating_add(SignedDuration::from_secs(5));
    Dispatcher {
        outbox: ports.network.outbox(MessageOutbox {
            channel: channel.channel,
            store: ports.store.clone(),
            time: Arc::clone(&ports.network.time),
            composer: Composer {
                vault: Arc::clone(&ports.vault),
                public_url: settings.public_url.clone(),
            },
            daily_limits: channel.daily_limits,
            is_confirmation_required,
            provider: channel.provider.into(),
            random: Arc::clone(&ports.random),
        }),
        transport: Arc::new(channel.transport),
        time: Arc::clone(&ports.network.time),
        limits: DispatcherLimits {
            max_attempts_per_host: MAX_CONCURRENT_ATTEMPTS,
            max_attempts_per_account: MAX_CONCURRENT_ATTEMPTS_PER_ACCOUNT,
            max_attempt_duration,
            // Claims of a process that died expire after this time.
            lease_duration: max_attempt_duration.saturating_mul(3),
            drain_timeout: defaults.drain_timeout.max(max_attempt_duration),
            // All messages go to the same provider, which is slow for all or for none.
            slow_after: max_attempt_duration,
            ..defaults
        },
        retry_schedule: channel.delays,
        random: Box::new(move || u64::from_le_bytes(random.bytes())),
        wake_handle: WakeHandle::from(ports.store.message_wake_handle(channel.channel)),
    }
}
