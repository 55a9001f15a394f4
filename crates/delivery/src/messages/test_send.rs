//! Tests of a channel: a message to the owner, sent through the queue like any other.

use std::sync::Arc;

use alerts::Channel;
use foundation::account::lock_active_account;
use foundation::{Actor, Ports, ServiceError};
use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use store::Abort;
use store::model::{AccountId, MessageChannel, MessageId, MessageReceipt, NotificationChannelId};

use super::write::seal_message;

/// The period in which an account gets at most one test of each channel.
const TEST_PERIOD: SignedDuration = SignedDuration::from_mins(1);

/// Tests of the channels of messages.
#[derive(Clone)]
pub struct ChannelTests {
    pub(crate) ports: Ports,
}

impl ChannelTests {
    /// Queues a test message to the address or the verified number of the actor's account, and returns its id.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] without a verified number; [`ServiceError::RateLimited`] after another test in the same minute;
    /// [`ServiceError::Forbidden`] while the account is deactivated.
    pub async fn send_test(&self, actor: &Actor, channel: Channel) -> Result<MessageId, ServiceError> {
        let now = self.ports.clock.now();
        let id = MessageId::for_test(actor.account, period_start(now), channel);
        self.queue_test(actor.account, (id, now), channel, None).await
    }

    /// Queues a test message to the verified address of a notification channel of the actor, and returns its id.
    ///
    /// # Errors
    /// [`ServiceError::RateLimited`] after another test in the same minute; [`ServiceError::Forbidden`] while the account is
    /// deactivated.
    pub async fn send_test_to_address(
        &self,
        actor: &Actor,
        channel: NotificationChannelId,
        address: &str,
    ) -> Result<MessageId, ServiceError> {
        let now = self.ports.clock.now();
        let id = MessageId::for_channel_test(channel, period_start(now));
        let address = Some(address.to_owned());
        self.queue_test(actor.account, (id, now), Channel::Email, address).await
    }

    /// Queues a test message to an address, or else to that of the account.
    async fn queue_test(
        &self,
        account: AccountId,
        (id, now): (MessageId, Timestamp),
        channel: Channel,
        address: Option<String>,
    ) -> Result<MessageId, ServiceError> {
        let ports = &self.ports;
        let (vault, random) = (Arc::clone(&ports.vault), Arc::clone(&ports.random));
        let inputs = (account, channel, address, id, now, vault, random);
        let transaction = ports.transaction(
            inputs,
            |&(account, channel, ref address, id, now, ref vault, ref random), unit| {
                Box::pin(async move {
                    let account = lock_active_account(unit, account).await?;
                    let to = match (address, channel) {
                        (Some(address), _) => address.clone(),
                        (None, Channel::Email) => account.email,
                        (None, Channel::Sms) => {
                            let no_number = || ServiceError::field("phone", "must be verified first");
                            account.profile.phone.ok_or_else(no_number)?.number
                        }
                    };
                    let recipient = (MessageChannel::from(channel), to.as_str());
                    let test = &AccountEmail::ChannelTest;
                    let message = seal_message(vault, random, (id, now), recipient, Some(account.id), test);
                    if unit
                        .queue_message_once(&message.map_err(ServiceError::internal)?)
                        .await?
                    {
                        return Ok(());
                    }
                    Err(Abort::Refused(ServiceError::RateLimited {
                        message: "a test was sent within this minute; see its receipt, or try again in a minute"
                            .to_owned(),
                        retry_after_s: TEST_PERIOD.as_secs().unsigned_abs(),
                    }))
                })
            },
        );
        transaction.await?;
        Ok(id)
    }

    /// Returns what has happened to a message of the actor's account.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn receipt(&self, actor: &Actor, id: MessageId) -> Result<MessageReceipt, ServiceError> {
        let found = self.ports.store.message_receipt(actor.account, id).await?;
        found.ok_or(ServiceError::NotFound("message"))
    }
}

/// Returns the beginning of the period of an instant.
fn period_start(now: Timestamp) -> Timestamp {
    let into_the_period = now.as_second().rem_euclid(TEST_PERIOD.as_secs());
    Timestamp::from_second(now.as_second() - into_the_period).unwrap_or(now)
}
