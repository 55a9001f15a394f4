//! The dispatchers of messages: one for mail, one for text messages.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use notify::dispatcher::{Dispatcher, DispatcherLimits, WakeHandle};
use notify::email::{EmailError, EmailTransport, Mailer};
use notify::schedule::RetrySchedule;
use notify::sms::{SmsError, SmsTransport, Twilio};
use store::model::MessageChannel;
use tokio_util::sync::CancellationToken;

use super::Settings;
use super::carrier::{Carrier, Keeper};
use super::compose::Composer;
use super::post::Post;
use super::settings::Budget;
use crate::start::Ports;
use crate::webhooks::DatabaseOutbox;

/// Attempts that are under way at a provider at once, each on a connection of its own.
const AT_ONCE: usize = 16;
/// Attempts for one account at once: it shares the provider with all others.
const EACH_ACCOUNT: usize = 4;
/// How long keeping a message may take.
const KEEPING: Duration = Duration::from_secs(1);

/// Why messages cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum CarrierError {
    /// Mail.
    #[error("mail cannot be sent: {0}")]
    Email(#[from] EmailError),
    /// Text messages.
    #[error("text messages cannot be sent: {0}")]
    Sms(#[from] SmsError),
}

/// How the messages of one channel are sent.
struct Channel {
    channel: MessageChannel,
    carrier: Carrier,
    provider: &'static str,
    timeout: Duration,
    budget: Budget,
    delays: RetrySchedule,
}

/// The dispatchers of messages, ready to work.
pub(crate) struct Sending([Dispatcher<DatabaseOutbox<Post>, Carrier>; 2]);

impl std::fmt::Debug for Sending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sending")
    }
}

impl Sending {
    /// # Errors
    /// [`CarrierError`], if a setting is none to work with.
    pub(crate) fn new(ports: &Ports, settings: &crate::Settings) -> Result<Self, CarrierError> {
        let messages = &settings.messages;
        let channels = [email(messages, ports)?, sms(messages, ports)?];
        Ok(Self(channels.map(|channel| dispatcher(ports, settings, channel))))
    }

    /// Sends until `stop`, then lets what is under way end.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let [email, sms] = self.0;
        tokio::join!(
            email.run(stop.clone().cancelled_owned()),
            sms.run(stop.cancelled_owned())
        );
    }
}

fn keeper(ports: &Ports) -> Carrier {
    Carrier::Outbox(Keeper {
        vault: Arc::clone(&ports.vault),
        chance: Arc::clone(&ports.chance),
        time: Arc::clone(&ports.network.time),
    })
}

fn email(settings: &Settings, ports: &Ports) -> Result<Channel, EmailError> {
    let email = &settings.email;
    let (carrier, provider, timeout) = match &email.smtp {
        None => (keeper(ports), "outbox", KEEPING),
        Some(smtp) => {
            let mailer = Mailer::new(smtp.clone(), Arc::clone(&ports.network.time))?;
            let carrier = Carrier::Smtp(EmailTransport::new(Arc::new(mailer)));
            (carrier, "smtp", smtp.timeout)
        }
    };
    Ok(Channel {
        channel: MessageChannel::Email,
        carrier,
        provider,
        timeout,
        budget: email.budget,
        delays: email.retry_delays.clone(),
    })
}

fn sms(settings: &Settings, ports: &Ports) -> Result<Channel, SmsError> {
    let sms = &settings.sms;
    let (carrier, provider, timeout) = match &sms.twilio {
        None => (keeper(ports), "outbox", KEEPING),
        Some(twilio) => {
            let sender = Twilio::new(twilio.clone(), Arc::clone(&ports.network.time))?;
            let carrier = Carrier::Twilio(SmsTransport::new(Arc::new(sender)));
            (carrier, "twilio", twilio.timeout)
        }
    };
    Ok(Channel {
        channel: MessageChannel::Sms,
        carrier,
        provider,
        timeout,
        budget: sms.budget,
        delays: sms.retry_delays.clone(),
    })
}

fn dispatcher(
    ports: &Ports,
    settings: &crate::Settings,
    channel: Channel,
) -> Dispatcher<DatabaseOutbox<Post>, Carrier> {
    let chance = Arc::clone(&ports.chance);
    let defaults = DispatcherLimits::default();
    let timeout = SignedDuration::try_from(channel.timeout).unwrap_or(SignedDuration::MAX);
    let max_attempt_duration = timeout.saturating_add(SignedDuration::from_secs(5));
    Dispatcher {
        outbox: ports.network.outbox(Post {
            channel: channel.channel,
            store: ports.store.clone(),
            time: Arc::clone(&ports.network.time),
            composer: Composer {
                vault: Arc::clone(&ports.vault),
                public_url: settings.public_url.clone(),
            },
            budget: channel.budget,
            is_confirmation_required: settings.identity.require_email_confirmation,
            provider: channel.provider.into(),
            chance: Arc::clone(&ports.chance),
        }),
        transport: Arc::new(channel.carrier),
        time: Arc::clone(&ports.network.time),
        limits: DispatcherLimits {
            max_attempts_per_host: AT_ONCE,
            max_attempts_per_account: EACH_ACCOUNT,
            max_attempt_duration,
            // What another process had claimed when it died has to wait for so long.
            lease_duration: max_attempt_duration.saturating_mul(3),
            drain_timeout: defaults.drain_timeout.max(max_attempt_duration),
            // All go to the same provider, which is slow for all of them or for none.
            slow_after: max_attempt_duration,
            ..defaults
        },
        retry_schedule: channel.delays,
        random: Box::new(move || u64::from_le_bytes(chance.bytes())),
        wake_handle: WakeHandle::from(ports.store.message_wake_handle(channel.channel)),
    }
}
