//! Creates, changes and deletes notification channels, and records the results of their messages.

use jiff::Timestamp;
use uuid::Uuid;

use super::row::{NotificationChannelRow, TABLE, select};
use crate::bulk::{Statement, fetch_many};
use crate::columns::{templates_column, text, values};
use crate::model::{
    AccountId, ChannelResult, Digest, NotificationChannel, NotificationChannelId, NotificationChannelType,
};
use crate::unit_of_work::{fetch, select_locked, write_rows};
use crate::{StoreError, UnitOfWork};

/// The owners of channels.
const OWNERS: Statement = Statement {
    before: "SELECT id, account_id FROM notification_channels WHERE deleted_at IS NULL AND id IN (VALUES ",
    columns: 1,
    after: ")",
};

/// Deletes the channels that a condition selects: at `$1`, with `$2` as false.
macro_rules! delete {
    ($condition:literal) => {
        concat!(
            "UPDATE notification_channels SET deleted_at = $1, is_enabled = $2, config = NULL, templates = NULL, link_hash = NULL
             WHERE deleted_at IS NULL AND ",
            $condition
        )
    };
}

impl UnitOfWork {
    /// Counts an account's notification channels. The count holds until the end of the transaction only if the account is locked.
    pub async fn count_notification_channels(&mut self, account: AccountId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM notification_channels WHERE account_id = $1 AND deleted_at IS NULL";
        let (count,) = fetch!(self, fetch_one(i64,), sql, account.0);
        TABLE.narrow("COUNT(*)", count)
    }

    /// Returns whether an account has all of some notification channels.
    pub async fn has_notification_channels(&mut self, account: AccountId, ids: &[Uuid]) -> Result<bool, StoreError> {
        let found = fetch_many!(self, (Uuid, Uuid), OWNERS, ids, |query, id| query.bind(*id));
        Ok(found.iter().filter(|(_, owner)| *owner == account.0).count() == ids.len())
    }

    /// Returns an account's notification channel and locks it until the end of the transaction.
    pub async fn lock_notification_channel(
        &mut self,
        account: AccountId,
        id: NotificationChannelId,
    ) -> Result<Option<NotificationChannel>, StoreError> {
        let sql = select_locked!(self, select!("account_id = $1 AND id = $2"));
        let row = fetch!(self, fetch_optional NotificationChannelRow, sql, account.0, id.0);
        row.map(NotificationChannel::try_from).transpose()
    }

    /// Returns the notification channels of an account with a type, oldest first, and locks them until the end of the transaction.
    pub async fn lock_notification_channels_of_type(
        &mut self,
        account: AccountId,
        channel_type: NotificationChannelType,
    ) -> Result<Vec<NotificationChannel>, StoreError> {
        let sql = select_locked!(self, select!("account_id = $1 AND type = $2 ORDER BY seq"));
        values(fetch!(self, fetch_all NotificationChannelRow, sql, account.0, channel_type.name()))
    }

    /// Inserts a notification channel. The database assigns its `seq`.
    pub async fn insert_notification_channel(&mut self, channel: &NotificationChannel) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO notification_channels (id, account_id, type, name, config, webhook_seq, created_at, verified_at,
             is_enabled, link_hash, link_expires_at, templates, burst_limit, digest, daily_budget)
             VALUES ($1, $2, $3, $4, $5, (SELECT seq FROM webhooks WHERE id = $6), $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            channel.id.0,
            channel.account.0,
            channel.channel_type.name(),
            text(&channel.name),
            channel.config.as_deref(),
            channel.webhook.map(|webhook| webhook.0),
            channel.created_at.as_microsecond(),
            channel.verified_at.map(Timestamp::as_microsecond),
            channel.is_enabled,
            channel.link.as_ref().map(|link| &link.hash[..]),
            channel.link.map(|link| link.expires_at.as_microsecond()),
            templates_column(channel.templates.as_ref()),
            channel.throttle.burst_limit.map(i64::from),
            channel.throttle.digest.map(Digest::name),
            channel.throttle.daily_budget.map(i64::from),
        );
        Ok(())
    }

    /// Overwrites a notification channel's fields.
    pub async fn update_notification_channel(&mut self, channel: &NotificationChannel) -> Result<(), StoreError> {
        write_rows!(
            self,
            "UPDATE notification_channels SET name = $2, config = $3, webhook_seq = (SELECT seq FROM webhooks WHERE id = $4),
             verified_at = $5, last_success_at = $6, last_error = $7, is_enabled = $8, link_hash = $9, link_expires_at = $10, templates = $11,
             burst_limit = $12, digest = $13, daily_budget = $14
             WHERE id = $1 AND deleted_at IS NULL",
            channel.id.0,
            text(&channel.name),
            channel.config.as_deref(),
            channel.webhook.map(|webhook| webhook.0),
            channel.verified_at.map(Timestamp::as_microsecond),
            channel.last_success_at.map(Timestamp::as_microsecond),
            channel.last_error.as_deref().map(text),
            channel.is_enabled,
            channel.link.as_ref().map(|link| &link.hash[..]),
            channel.link.map(|link| link.expires_at.as_microsecond()),
            templates_column(channel.templates.as_ref()),
            channel.throttle.burst_limit.map(i64::from),
            channel.throttle.digest.map(Digest::name),
            channel.throttle.daily_budget.map(i64::from),
        );
        Ok(())
    }

    /// Deletes an account's notification channel with its configuration. Returns `false` if the account has no such channel.
    pub async fn delete_notification_channel(
        &mut self,
        account: AccountId,
        id: NotificationChannelId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = delete!("account_id = $3 AND id = $4");
        Ok(write_rows!(self, sql, now.as_microsecond(), false, account.0, id.0) == 1)
    }

    /// Records the result of a message that was sent to a channel as it was read. If its configuration has changed since, the result is
    /// that of another destination and is not recorded. A channel whose destination no longer exists is deleted. The first accepted message verifies a channel, unless its type is
    /// verified otherwise: `email` by a link and `telegram` by a code.
    pub async fn record_channel_result(
        &mut self,
        channel: &NotificationChannel,
        result: &ChannelResult,
    ) -> Result<(), StoreError> {
        let (seq, config) = (channel.seq, channel.config.as_deref());
        match result {
            ChannelResult::Accepted(at) => {
                let sql = "UPDATE notification_channels SET last_success_at = $2, last_error = NULL,
                           verified_at = CASE WHEN type IN ('email', 'telegram') THEN verified_at ELSE COALESCE(verified_at, $2) END
                           WHERE seq = $1 AND deleted_at IS NULL AND config = $3";
                write_rows!(self, sql, seq, at.as_microsecond(), config);
            }
            ChannelResult::Failed(error) => {
                let sql = "UPDATE notification_channels SET last_error = $2 WHERE seq = $1 AND deleted_at IS NULL AND config = $3";
                write_rows!(self, sql, seq, text(error), config);
            }
            ChannelResult::Gone(at) => {
                let sql = delete!("seq = $3 AND config = $4");
                write_rows!(self, sql, at.as_microsecond(), false, seq, config);
            }
        }
        Ok(())
    }

    /// Disables a channel whose configuration is lost.
    pub(crate) async fn discard_channel_config(&mut self, id: NotificationChannelId) -> Result<(), StoreError> {
        let sql =
            "UPDATE notification_channels SET config = NULL, is_enabled = $2, verified_at = NULL, link_hash = NULL,
                   last_error = 'the configuration was lost with its key; set `config` again, and `enabled` to true' WHERE id = $1";
        write_rows!(self, sql, id.0, false);
        Ok(())
    }
}
