//! Reading notification channels.

use jiff::Timestamp;

use super::row::{NotificationChannelRow, select};
use crate::bulk::{Statement, query_many};
use crate::columns::values;
use crate::database::query;
use crate::model::{AccountId, NotificationChannel, NotificationChannelId};
use crate::{Store, StoreError};

const BY_SEQ: Statement = Statement {
    before: select!("seq IN (VALUES "),
    columns: 1,
    after: ")",
};

impl Store {
    /// Returns an account's notification channels, oldest first.
    pub async fn notification_channels(&self, account: AccountId) -> Result<Vec<NotificationChannel>, StoreError> {
        let sql = select!("account_id = $1 ORDER BY seq");
        values(query!(fetch_all NotificationChannelRow, &self.pools, sql, account.0)?)
    }

    /// Returns a notification channel of an account.
    pub async fn notification_channel(
        &self,
        account: AccountId,
        id: NotificationChannelId,
    ) -> Result<Option<NotificationChannel>, StoreError> {
        let sql = select!("account_id = $1 AND id = $2");
        let row = query!(fetch_optional NotificationChannelRow, &self.pools, sql, account.0, id.0)?;
        row.map(NotificationChannel::try_from).transpose()
    }

    /// Returns the notification channels with these `seq`, of any account and in any order, also disabled ones. Deleted channels are
    /// missing.
    pub(crate) async fn notification_channels_by_seq(
        &self,
        seqs: &[i64],
    ) -> Result<Vec<NotificationChannel>, StoreError> {
        let rows = query_many!(NotificationChannelRow, &self.pools, BY_SEQ, seqs, |query, seq| query
            .bind(*seq));
        values(rows)
    }

    /// Returns the Telegram channels with a linked chat, of all accounts.
    pub async fn linked_telegram_channels(&self) -> Result<Vec<NotificationChannel>, StoreError> {
        let sql = select!("type = 'telegram' AND verified_at IS NOT NULL ORDER BY seq");
        values(query!(fetch_all NotificationChannelRow, &self.pools, sql)?)
    }

    /// Returns the channels whose link code is valid at `now`.
    pub async fn channels_awaiting_link(&self, now: Timestamp) -> Result<Vec<NotificationChannel>, StoreError> {
        let sql = select!("link_hash IS NOT NULL AND link_expires_at > $1 ORDER BY seq");
        values(query!(fetch_all NotificationChannelRow, &self.pools, sql, now.as_microsecond())?)
    }
}
