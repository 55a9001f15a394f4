//! The dispatchers of messages: one per channel.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use foundation::Ports;
use jiff::SignedDuration;
use notify::dispatcher::{Dispatcher, DispatcherLimits};

use super::channel::{ChannelMessage, MessageTransportError};
use super::compose::Composer;
use super::message_queue::MessageQueue;
use super::transport::MessageTransport;
use crate::DeliveryConfig;
use crate::queue::{self, QueueOutbox};

/// Maximum number of concurrent attempts per provider, each on its own connection.
const MAX_CONCURRENT_ATTEMPTS: usize = 16;
/// Maximum number of concurrent attempts per account. All accounts share the provider.
const MAX_CONCURRENT_ATTEMPTS_PER_ACCOUNT: usize = 4;
/// Timeout for storing a message in the outbox.
const OUTBOX_TIMEOUT: Duration = Duration::from_secs(1);

/// The dispatcher of a channel.
pub(crate) type MessageDispatcher<M> = Dispatcher<QueueOutbox<MessageQueue<M>>, MessageTransport<M>>;

/// Creates the dispatcher of a channel.
pub(crate) fn dispatcher<M: ChannelMessage>(
    ports: &Ports,
    settings: &DeliveryConfig,
    is_confirmation_required: bool,
) -> Result<MessageDispatcher<M>, MessageTransportError> {
    let setup = M::setup(&settings.messages, Arc::clone(&ports.network.time))?;
    let (provider, name, timeout) = match setup.provider {
        Some((provider, name, timeout)) => (Some(provider), name, timeout),
        None => (None, "outbox", OUTBOX_TIMEOUT),
    };
    let channel = MessageQueue {
        message: PhantomData,
        ports: ports.clone(),
        composer: Composer {
            vault: Arc::clone(&ports.vault),
            public_url: settings.public_url.clone(),
        },
        daily_limits: setup.daily_limits,
        is_confirmation_required,
        provider: name.into(),
    };
    let transport = MessageTransport {
        provider,
        ports: ports.clone(),
    };
    let timeout = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
    let limits = DispatcherLimits {
        max_attempts_per_host: MAX_CONCURRENT_ATTEMPTS,
        max_attempts_per_account: MAX_CONCURRENT_ATTEMPTS_PER_ACCOUNT,
        // All messages go to the same provider, which is slow for all or for none.
        slow_after: queue::max_attempt_duration(timeout),
        ..DispatcherLimits::default()
    };
    Ok(queue::dispatcher(
        ports,
        channel,
        transport,
        timeout,
        setup.retry_delays,
        limits,
    ))
}
