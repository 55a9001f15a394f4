//! Creates messages together with their firings.

use alerts::Channel;
use uuid::Uuid;

use crate::bulk::{Statement, execute_many};
use crate::model::message::{FIRING_KIND, endpoint};
use crate::model::{EventId, MessageChannel, MessageId};
use crate::{StoreError, UnitOfWork};

const INSERT_MESSAGES: Statement = Statement {
    before: "INSERT INTO messages
             (id, channel, kind, lane, recipient, account_id, alert_seq, event_seq, status, tries, due_at, created_at)
             SELECT column1, column2, 'fired', column3, column4, column5, column6, column7, 'pending', 0, column8, column8
             FROM (VALUES ",
    columns: 8,
    after: ") AS made WHERE true",
};

/// A firing that needs a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FiringMessage<'a> {
    pub(crate) notification: Channel,
    pub(crate) account: Option<Uuid>,
    /// A guest's email address.
    pub(crate) guest: Option<&'a str>,
    pub(crate) alert_seq: i64,
    pub(crate) event: Uuid,
    pub(crate) event_seq: i64,
    pub(crate) at: i64,
}

impl FiringMessage<'_> {
    /// All messages to one account or guest share one endpoint.
    fn endpoint(&self) -> i64 {
        let account = self.account.as_ref().map(Uuid::as_bytes);
        endpoint(account.map_or_else(|| self.guest.unwrap_or_default().as_bytes(), |id| id.as_slice()))
    }
}

const fn channel(notification: Channel) -> MessageChannel {
    match notification {
        Channel::Email => MessageChannel::Email,
        Channel::Sms => MessageChannel::Sms,
    }
}

impl UnitOfWork {
    /// Creates one message for each firing.
    pub(crate) async fn create_messages(&mut self, firings: &[FiringMessage<'_>]) -> Result<(), StoreError> {
        debug_assert_eq!(FIRING_KIND, "fired");
        let made = execute_many!(&mut self.connection, INSERT_MESSAGES, firings, |query, message| {
            query
                .bind(MessageId::for_event(EventId(message.event)).0)
                .bind(channel(message.notification).name())
                .bind(message.endpoint())
                .bind(message.guest)
                .bind(message.account)
                .bind(message.alert_seq)
                .bind(message.event_seq)
                .bind(message.at)
        });
        self.track_rows(made)?;
        self.has_messages |= !firings.is_empty();
        Ok(())
    }
}
