//! Notification channel rows.

use uuid::Uuid;

use crate::StoreError;
use crate::columns::Table;
use crate::model::{
    AccountId, ChannelLink, ChannelThrottle, Digest, NotificationChannel, NotificationChannelId,
    NotificationChannelType, WebhookId,
};
use crate::sqlite::row;

pub(super) const TABLE: Table = Table("notification_channels");

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT seq, id, account_id, type AS channel_type, name, config, \
             (SELECT webhooks.id FROM webhooks WHERE webhooks.seq = webhook_seq) AS webhook_id, \
             templates, burst_limit, digest, daily_budget, created_at, verified_at, last_success_at, last_error, is_enabled, link_hash, link_expires_at \
             FROM notification_channels WHERE deleted_at IS NULL AND ",
            $rest
        )
    };
}
pub(super) use select;

row! {
    pub(super) struct NotificationChannelRow {
        seq: i64,
        id: Uuid,
        account_id: Uuid,
        channel_type: String,
        name: String,
        config: Option<Vec<u8>>,
        webhook_id: Option<Uuid>,
        templates: Option<String>,
        burst_limit: Option<i64>,
        digest: Option<String>,
        daily_budget: Option<i64>,
        created_at: i64,
        verified_at: Option<i64>,
        last_success_at: Option<i64>,
        last_error: Option<String>,
        is_enabled: bool,
        link_hash: Option<Vec<u8>>,
        link_expires_at: Option<i64>,
    }
}

impl TryFrom<NotificationChannelRow> for NotificationChannel {
    type Error = StoreError;

    fn try_from(row: NotificationChannelRow) -> Result<Self, StoreError> {
        let link = match (row.link_hash, row.link_expires_at) {
            (Some(hash), Some(expires_at)) => Some(ChannelLink {
                hash: hash
                    .try_into()
                    .map_err(|_| TABLE.corrupt("link_hash is not of 32 bytes"))?,
                expires_at: TABLE.instant(expires_at)?,
            }),
            _ => None,
        };
        Ok(Self {
            seq: row.seq,
            id: NotificationChannelId(row.id),
            account: AccountId(row.account_id),
            channel_type: TABLE.parse("type", &row.channel_type, NotificationChannelType::from_name)?,
            name: row.name,
            config: row.config,
            webhook: row.webhook_id.map(WebhookId),
            templates: TABLE.templates(row.templates.as_deref())?,
            throttle: throttle(row.burst_limit, row.digest.as_deref(), row.daily_budget)?,
            created_at: TABLE.instant(row.created_at)?,
            verified_at: TABLE.optional_instant(row.verified_at)?,
            last_success_at: TABLE.optional_instant(row.last_success_at)?,
            last_error: row.last_error,
            is_enabled: row.is_enabled,
            link,
        })
    }
}

/// Returns the throttle of a channel from its columns.
pub(crate) fn throttle(
    burst_limit: Option<i64>,
    digest: Option<&str>,
    daily_budget: Option<i64>,
) -> Result<ChannelThrottle, StoreError> {
    let limit = |column, limit: Option<i64>| limit.map(|limit| TABLE.narrow(column, limit)).transpose();
    Ok(ChannelThrottle {
        burst_limit: limit("burst_limit", burst_limit)?,
        digest: digest
            .map(|digest| TABLE.parse("digest", digest, Digest::from_name))
            .transpose()?,
        daily_budget: limit("daily_budget", daily_budget)?,
    })
}
