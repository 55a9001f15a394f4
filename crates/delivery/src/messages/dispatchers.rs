//! The dispatchers of messages: one per channel.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use foundation::{DispatchShare, Ports};
use jiff::SignedDuration;
use notify::dispatcher::{Dispatcher, DispatcherLimits};

use super::channel::{ChannelSetup, OutgoingMessage};
use super::compose::Composer;
use super::message_queue::MessageQueue;
use super::transport::MessageTransport;
use crate::queue::{self, QueueOutbox};

/// Maximum number of concurrent attempts per provider, each on its own connection.
const MAX_CONCURRENT_ATTEMPTS: usize = 16;
/// Maximum number of concurrent attempts per account. All accounts share the provider.
const MAX_CONCURRENT_ATTEMPTS_PER_ACCOUNT: usize = 4;
/// Timeout for storing a message in the outbox.
const OUTBOX_TIMEOUT: Duration = Duration::from_secs(1);

/// The dispatcher of a channel.
pub(crate) type MessageDispatcher<M> = Dispatcher<QueueOutbox<MessageQueue<M>>, MessageTransport<M>>;

/// Returns the limits of a channel whose messages all go to one provider, which is slow for all or for none.
pub(super) fn shared_provider_limits(timeout: Option<Duration>) -> DispatcherLimits {
    DispatcherLimits {
        max_attempts_per_host: MAX_CONCURRENT_ATTEMPTS,
        max_attempts_per_account: MAX_CONCURRENT_ATTEMPTS_PER_ACCOUNT,
        slow_after: queue::max_attempt_duration(signed(timeout.unwrap_or(OUTBOX_TIMEOUT))),
        ..DispatcherLimits::default()
    }
}

/// Settings that the messages of all channels share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendingRules {
    /// Whether mail about alerts only goes to confirmed addresses.
    pub(crate) is_confirmation_required: bool,
    /// Maximum number of separate messages to one channel within a minute, unless the channel has its own.
    pub(crate) burst_limit: u32,
}

/// Creates the dispatcher of a channel.
pub(crate) fn dispatcher<M: OutgoingMessage>(
    ports: &Ports,
    share: &DispatchShare,
    public_url: &str,
    setup: ChannelSetup<M::Provider>,
    rules: SendingRules,
) -> MessageDispatcher<M> {
    let (provider, name, timeout) = match setup.provider {
        Some((provider, name, timeout)) => (Some(provider), name, timeout),
        None => (None, "outbox", OUTBOX_TIMEOUT),
    };
    let channel = MessageQueue {
        message: PhantomData,
        ports: ports.clone(),
        composer: Composer {
            vault: Arc::clone(&ports.vault),
            public_url: public_url.to_owned(),
        },
        daily_limits: setup.daily_limits,
        is_confirmation_required: rules.is_confirmation_required,
        burst_limit: rules.burst_limit,
        provider: name.into(),
    };
    let transport = MessageTransport {
        provider,
        ports: ports.clone(),
    };
    let (retry_delays, limits) = (setup.retry_delays, setup.limits);
    queue::dispatcher(ports, share, channel, transport, signed(timeout), retry_delays, limits)
}

fn signed(timeout: Duration) -> SignedDuration {
    SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX)
}
