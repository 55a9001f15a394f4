//! Update and deletion of notification channels.

use foundation::account::{load_account, lock_active_account, require_active};
use foundation::request::Request;
use foundation::template_check::check_templates;
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use serde_json::{Map, Value};
use store::model::{NotificationChannel, NotificationChannelId};
use store::{Abort, UnitOfWork};

use super::config_members;
use super::email_verification::VerificationLink;
use super::throttle::{self, ThrottleChange};
use super::{ChannelWithLink, LinkCode, NotificationChannelConfig, NotificationChannels, no_such_channel};
use super::{UpdateNotificationChannelRequest, request_body::ConfigMembers};

impl NotificationChannels {
    /// Updates a notification channel with a body `{name?, config?, templates?, burst_limit?, digest?, daily_budget?, enabled?}`. A channel with another destination must be verified
    /// again. If `config` is named, a channel that is not verified yet gets a new link or code.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::NotFound`],
    /// [`ServiceError::Forbidden`] while the account is deactivated, [`ServiceError::RateLimited`] if too many links were sent to
    /// addresses, [`ServiceError::Conflict`] if the configuration was changed at the same time.
    pub async fn update(
        &self,
        actor: &Actor,
        id: NotificationChannelId,
        body: &Value,
    ) -> Result<ChannelWithLink, ServiceError> {
        let request = UpdateNotificationChannelRequest::read_and(body, |body| {
            if body.value("type").is_some() {
                body.add_error("type", "cannot be changed; create another channel");
            }
        })?;
        let sent_templates = request.templates.0.map(|sent| sent.map(|templates| templates.0));
        if let Some(Some(sent)) = &sent_templates {
            check_templates(sent).map_err(ServiceError::fields)?;
        }
        let found = self.find(actor, id).await?;
        require_active(&load_account(&self.ports.store, actor).await?)?;
        let stored = self.open(&found)?;
        let (config, new_config) = match request.config {
            None => (stored, None),
            Some(members) => {
                let new = self.new_config(actor, &found, stored.as_ref(), &members).await?;
                (Some(new.config.clone()), Some(new))
            }
        };
        let link = new_config.as_ref().and_then(|new| new.link.clone());
        let change = ChangeChannel {
            found,
            name: request.name.map(|name| name.0),
            is_enabled: request.enabled,
            templates: sent_templates,
            throttle: ThrottleChange {
                burst_limit: request.burst_limit.0,
                digest: request.digest.0,
                daily_budget: request.daily_budget.0,
            },
            now: self.ports.clock.now(),
            new_config,
        };
        let transaction = self
            .ports
            .transaction(change, |change, unit| Box::pin(change.run(unit)));
        let channel = transaction.await?;
        if link.is_some() {
            self.read_telegram_updates();
        }
        let masked = config.map(|config| config.masked()).unwrap_or_default();
        Ok(ChannelWithLink::new(channel, masked, link))
    }

    async fn new_config(
        &self,
        actor: &Actor,
        channel: &NotificationChannel,
        stored: Option<&NotificationChannelConfig>,
        members: &ConfigMembers,
    ) -> Result<NewConfig, ServiceError> {
        let ports = &self.ports;
        let config = config_members::apply(channel.channel_type, stored, &members.0).map_err(ServiceError::fields)?;
        let config = self.check(actor, config).await?;
        let now = ports.clock.now();
        let is_changed = stored != Some(&config);
        let needs_link = is_changed || channel.verified_at.is_none();
        let verification = match &config {
            NotificationChannelConfig::Email(address) if needs_link => {
                Some(self.verification_link(actor.account, channel.id, address, now)?)
            }
            _ => None,
        };
        Ok(NewConfig {
            channels: self.clone(),
            link: config.awaits_chat().then(|| LinkCode::new(&ports.random, now)),
            sealed: is_changed.then(|| config.seal(&ports.vault, &ports.random, channel.id)),
            config,
            verification,
        })
    }

    /// Deletes a notification channel with its configuration.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete(&self, actor: &Actor, id: NotificationChannelId) -> Result<(), ServiceError> {
        let inputs = (actor.account, id, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, id, now), unit| {
            Box::pin(async move {
                if unit.delete_notification_channel(account, id, now).await? {
                    Ok(())
                } else {
                    Err(Abort::Refused(no_such_channel()))
                }
            })
        });
        transaction.await
    }
}

/// The configuration of a request, checked.
struct NewConfig {
    channels: NotificationChannels,
    config: NotificationChannelConfig,
    /// The sealed configuration; `None` if it is not changed.
    sealed: Option<Vec<u8>>,
    link: Option<LinkCode>,
    verification: Option<VerificationLink>,
}

struct ChangeChannel {
    /// The channel as it was read.
    found: NotificationChannel,
    name: Option<String>,
    is_enabled: Option<bool>,
    /// The checked templates. `None` keeps them, null removes them.
    templates: Option<Option<Map<String, Value>>>,
    throttle: ThrottleChange,
    now: Timestamp,
    new_config: Option<NewConfig>,
}

impl ChangeChannel {
    async fn run(&self, unit: &mut UnitOfWork) -> Result<NotificationChannel, Abort<ServiceError>> {
        let account = self.found.account;
        lock_active_account(unit, account).await?;
        let locked = unit.lock_notification_channel(account, self.found.id).await?;
        let mut channel = locked.ok_or_else(no_such_channel)?;
        if let Some(name) = &self.name {
            channel.name.clone_from(name);
        }
        if let Some(is_enabled) = self.is_enabled {
            channel.is_enabled = is_enabled;
        }
        if let Some(sent) = &self.templates {
            channel.templates = sent.as_ref().and_then(|sent| {
                let templates = channel.templates.take().unwrap_or_default();
                templates.merged(sent).none_if_empty()
            });
        }
        let former = channel.throttle;
        channel.throttle = self.throttle.apply(former);
        throttle::check(channel.channel_type, channel.throttle)?;
        if let Some(new) = &self.new_config {
            if channel.config != self.found.config {
                let message = "the channel was changed at the same time; read it and try again";
                return Err(Abort::Refused(ServiceError::Conflict(message.to_owned())));
            }
            let same = new.channels.same_subscription(unit, account, &new.config).await?;
            if same.is_some_and(|same| same.id != channel.id) {
                let error = "is the subscription of another channel of this account; delete one of the channels";
                return Err(Abort::Refused(ServiceError::field("config.endpoint", error)));
            }
            new.apply(&mut channel);
            if let Some(verification) = &new.verification {
                verification.send(unit, account).await?;
            }
        }
        unit.update_notification_channel(&channel).await?;
        if channel.throttle != former {
            unit.release_held_messages(&channel, self.now).await?;
        }
        Ok(channel)
    }
}

impl NewConfig {
    fn apply(&self, channel: &mut NotificationChannel) {
        if let Some(sealed) = &self.sealed {
            channel.config = Some(sealed.clone());
            channel.webhook = self.config.webhook();
            // The results belong to the previous destination.
            channel.verified_at = None;
            channel.last_success_at = None;
            channel.last_error = None;
            channel.link = None;
        }
        if let Some(link) = &self.link {
            channel.link = Some(link.stored());
        }
    }
}
