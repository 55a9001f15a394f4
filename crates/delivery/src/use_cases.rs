//! The use cases of this crate and their dispatchers.

use std::sync::Arc;

use foundation::{DispatchShare, Ports};
use notify::channels::ChannelSetupError;
use notify::client::WebhookTransport;
use notify::dispatcher::Dispatcher;
use notify::email::Email;
use notify::sms::Sms;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::DeliveryConfig;
use crate::escalations;
use crate::messages::dispatchers::{self, MessageDispatcher};
use crate::messages::service::{self, ServiceMessage};
use crate::messages::{
    ChannelTests, EmailSubscriptions, MessageTransportError, MessageWriter, OperatorOutbox, SentMessages,
};
use crate::messages::{email, sms};
use crate::notification_channels::{self, NotificationChannels};
use crate::queue::QueueOutbox;
use crate::webhooks::webhook_queue::{self, WebhookQueue};
use crate::webhooks::{DeliveryContext, Webhooks};

/// The use cases of this crate.
pub struct DeliveryUseCases {
    /// Webhooks and their deliveries.
    pub webhooks: Webhooks,
    /// Notification channels.
    pub notification_channels: NotificationChannels,
    /// Messages that are kept for the operator.
    pub outbox: OperatorOutbox,
    /// Messages about alerts that were sent.
    pub sent_messages: SentMessages,
    /// Tests of the channels of messages.
    pub channel_tests: ChannelTests,
    /// Unsubscribe links in mail about alerts.
    pub email_subscriptions: EmailSubscriptions,
    /// Creates messages for the use cases of other areas.
    pub writer: MessageWriter,
    /// Shared dependencies of everything that calls webhooks.
    pub context: Arc<DeliveryContext>,
    ports: Ports,
    settings: Arc<DeliveryConfig>,
}

impl DeliveryUseCases {
    /// Creates the use cases.
    ///
    /// # Errors
    /// [`ChannelSetupError`] if a root certificate or the base URL of a service is invalid.
    pub fn new(ports: &Ports, settings: &Arc<DeliveryConfig>) -> Result<Self, ChannelSetupError> {
        let context = DeliveryContext::new(settings, &ports.network, Arc::clone(&ports.vault))?;
        let context = Arc::new(context);
        let webhooks = Webhooks {
            ports: ports.clone(),
            delivery: Arc::clone(&context),
        };
        let channel_tests = ChannelTests { ports: ports.clone() };
        let writer = MessageWriter {
            ports: ports.clone(),
            settings: Arc::clone(settings),
        };
        let notification_channels = NotificationChannels {
            ports: ports.clone(),
            client: Arc::new(notification_channels::client(ports, settings, &context)?),
            webhooks: webhooks.clone(),
            channel_tests: channel_tests.clone(),
            writer: writer.clone(),
            link_requested: Arc::default(),
            timeout: settings.webhooks.timeout.unsigned_abs(),
        };
        Ok(Self {
            webhooks,
            notification_channels,
            outbox: OperatorOutbox {
                ports: ports.clone(),
                settings: Arc::clone(settings),
            },
            sent_messages: SentMessages { ports: ports.clone() },
            channel_tests,
            email_subscriptions: EmailSubscriptions { ports: ports.clone() },
            writer,
            context,
            ports: ports.clone(),
            settings: Arc::clone(settings),
        })
    }

    /// Creates the dispatchers of this process, which serve the endpoints of its share. They send nothing until they run. If a confirmation
    /// is required, mail about alerts only goes to confirmed addresses.
    ///
    /// # Errors
    /// [`MessageTransportError`] for an invalid setting.
    pub fn dispatchers(
        &self,
        share: &DispatchShare,
        is_confirmation_required: bool,
    ) -> Result<Dispatchers, MessageTransportError> {
        let (ports, public_url) = (&self.ports, self.settings.public_url.as_str());
        let (messages, network) = (&self.settings.messages, &ports.network);
        let email = email::setup(&messages.email, network)?;
        let sms = sms::setup(&messages.sms, Arc::clone(&network.time))?;
        let services = service::setup(
            self.notification_channels.clone(),
            self.settings.channels.retry_delays.clone(),
        );
        let rules = dispatchers::SendingRules {
            is_confirmation_required,
            burst_limit: self.settings.channels.burst_limit,
        };
        Ok(Dispatchers {
            webhooks: webhook_queue::dispatcher(ports, share, &self.settings.webhooks, &self.context),
            email: dispatchers::dispatcher(ports, share, public_url, email, rules),
            sms: dispatchers::dispatcher(ports, share, public_url, sms, rules),
            services: dispatchers::dispatcher(ports, share, public_url, services, rules),
        })
    }
}

/// The dispatchers of webhooks, email, text messages, and messages to chat and push services.
#[derive(Debug)]
pub struct Dispatchers {
    webhooks: Dispatcher<QueueOutbox<WebhookQueue>, WebhookTransport>,
    email: MessageDispatcher<Email>,
    sms: MessageDispatcher<Sms>,
    services: MessageDispatcher<ServiceMessage>,
}

impl Dispatchers {
    /// Runs the dispatchers in the background, on the runtime for deliveries, until `stop`. Beside them, escalations are advanced.
    pub fn spawn(self, ports: &Ports, tasks: &TaskTracker, stop: &CancellationToken) {
        let stopped = || stop.clone().cancelled_owned();
        ports.network.spawn(tasks, self.webhooks.run(stopped()));
        ports.network.spawn(tasks, self.email.run(stopped()));
        ports.network.spawn(tasks, self.sms.run(stopped()));
        ports.network.spawn(tasks, self.services.run(stopped()));
        tasks.spawn(escalations::run(ports.clone(), stop.clone()));
    }
}
