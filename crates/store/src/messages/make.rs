//! Messages about firings are made with them.

use alerts::Channel;
use uuid::Uuid;

use crate::bulk::{Statement, execute_many};
use crate::model::message::{FIRED, lane};
use crate::model::{EventId, MessageChannel, MessageId};
use crate::{StoreError, Unit};

const MAKE: Statement = Statement {
    before: "INSERT INTO messages
             (id, channel, kind, lane, recipient, account_id, alert_seq, event_seq, status, tries, due_at, created_at)
             SELECT column1, column2, 'fired', column3, column4, column5, column6, column7, 'pending', 0, column8, column8
             FROM (VALUES ",
    columns: 8,
    after: ") AS made WHERE true",
};

/// A firing of which somebody is to be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told<'a> {
    pub(crate) notification: Channel,
    pub(crate) account: Option<Uuid>,
    /// A guest's address.
    pub(crate) guest: Option<&'a str>,
    pub(crate) alert_seq: i64,
    pub(crate) event: Uuid,
    pub(crate) event_seq: i64,
    pub(crate) at: i64,
}

impl Told<'_> {
    /// All that happens to one account or guest is in one lane.
    fn lane(&self) -> i64 {
        let account = self.account.as_ref().map(Uuid::as_bytes);
        lane(account.map_or_else(|| self.guest.unwrap_or_default().as_bytes(), |id| id.as_slice()))
    }
}

const fn channel(notification: Channel) -> MessageChannel {
    match notification {
        Channel::Email => MessageChannel::Email,
        Channel::Sms => MessageChannel::Sms,
    }
}

impl Unit {
    /// Makes the messages about firings: one for each.
    pub(crate) async fn make_messages(&mut self, firings: &[Told<'_>]) -> Result<(), StoreError> {
        debug_assert_eq!(FIRED, "fired");
        let made = execute_many!(&mut self.link, MAKE, firings, |query, told| {
            query
                .bind(MessageId::of(EventId(told.event)).0)
                .bind(channel(told.notification).name())
                .bind(told.lane())
                .bind(told.guest)
                .bind(told.account)
                .bind(told.alert_seq)
                .bind(told.event_seq)
                .bind(told.at)
        });
        self.noted_rows(made)?;
        self.has_messages |= !firings.is_empty();
        Ok(())
    }
}
