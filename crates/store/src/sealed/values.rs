//! Statements that read, replace and discard sealed values.

use jiff::Timestamp;
use uuid::Uuid;

use super::{SealedLocation, SealedValue};
use crate::columns::Table;
use crate::model::{IdempotencyKey, MessageId, NotificationChannelId, RequesterId, WebhookId};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{StoreError, UnitOfWork};

/// The columns that contain sealed values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SealedColumn {
    WebhookSecret,
    FormerWebhookSecret,
    ChannelConfig,
    WebPushKey,
    Message,
    OutboxMessage,
    StoredResponse,
}

/// The row after which a page begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SealedCursor {
    Seq(i64),
    Request(Uuid, Vec<u8>),
}

row! {
    struct SealedRow {
        seq: i64,
        id: Uuid,
        sealed: Vec<u8>,
    }
}

row! {
    struct StoredResponseRow {
        requester_id: Uuid,
        key_hash: Vec<u8>,
        body_hash: Vec<u8>,
        body: Vec<u8>,
    }
}

impl SealedColumn {
    pub(super) const ALL: [Self; 7] = [
        Self::WebhookSecret,
        Self::FormerWebhookSecret,
        Self::ChannelConfig,
        Self::WebPushKey,
        Self::Message,
        Self::OutboxMessage,
        Self::StoredResponse,
    ];

    pub(super) const fn start(self) -> SealedCursor {
        match self {
            Self::StoredResponse => SealedCursor::Request(Uuid::nil(), Vec::new()),
            _ => SealedCursor::Seq(0),
        }
    }

    /// Selects a page of rows with a `seq`.
    const fn select(self) -> &'static str {
        match self {
            Self::WebhookSecret => {
                "SELECT seq, id, secret AS sealed FROM webhooks WHERE secret IS NOT NULL AND seq > $1 ORDER BY seq LIMIT 500"
            }
            Self::FormerWebhookSecret => {
                "SELECT f.seq, w.id, f.secret AS sealed FROM webhook_former_secrets f JOIN webhooks w ON w.seq = f.webhook_seq
                 WHERE f.seq > $1 ORDER BY f.seq LIMIT 500"
            }
            Self::ChannelConfig => {
                "SELECT seq, id, config AS sealed FROM notification_channels
                 WHERE config IS NOT NULL AND seq > $1 ORDER BY seq LIMIT 500"
            }
            Self::WebPushKey => {
                "SELECT seq, id, private_key AS sealed FROM web_push_keys WHERE seq > $1 ORDER BY seq LIMIT 500"
            }
            Self::Message => {
                "SELECT seq, id, content AS sealed FROM messages WHERE content IS NOT NULL AND seq > $1 ORDER BY seq LIMIT 500"
            }
            Self::OutboxMessage | Self::StoredResponse => {
                "SELECT seq, id, content AS sealed FROM outbox WHERE seq > $1 ORDER BY seq LIMIT 500"
            }
        }
    }

    const fn location(self, seq: i64, id: Uuid) -> SealedLocation {
        match self {
            Self::WebhookSecret => SealedLocation::WebhookSecret(WebhookId(id)),
            Self::FormerWebhookSecret => SealedLocation::FormerWebhookSecret {
                webhook: WebhookId(id),
                seq,
            },
            Self::ChannelConfig => SealedLocation::ChannelConfig(NotificationChannelId(id)),
            Self::WebPushKey => SealedLocation::WebPushKey(id),
            Self::Message => SealedLocation::Message(MessageId(id)),
            Self::OutboxMessage | Self::StoredResponse => SealedLocation::OutboxMessage(MessageId(id)),
        }
    }
}

impl StoredResponseRow {
    fn read(self) -> Result<(SealedCursor, SealedValue), StoreError> {
        const TABLE: Table = Table("repeatable_requests");
        let cursor = SealedCursor::Request(self.requester_id, self.key_hash.clone());
        let hash = |bytes: Vec<u8>| bytes.try_into().map_err(|_| TABLE.corrupt("a hash is not of 32 bytes"));
        let request = IdempotencyKey {
            requester: RequesterId(self.requester_id),
            key_hash: hash(self.key_hash)?,
            body_hash: hash(self.body_hash)?,
        };
        let value = SealedValue {
            location: SealedLocation::StoredResponse(request),
            sealed: self.body,
        };
        Ok((cursor, value))
    }
}

impl UnitOfWork {
    /// Returns a page of a column's sealed values after `after`, in order. Empty at the end.
    pub(super) async fn sealed_page(
        &mut self,
        column: SealedColumn,
        after: &SealedCursor,
    ) -> Result<Vec<(SealedCursor, SealedValue)>, StoreError> {
        match after {
            SealedCursor::Seq(seq) => {
                let rows = fetch!(self, fetch_all SealedRow, column.select(), seq);
                let read = |row: SealedRow| {
                    let location = column.location(row.seq, row.id);
                    (
                        SealedCursor::Seq(row.seq),
                        SealedValue {
                            location,
                            sealed: row.sealed,
                        },
                    )
                };
                Ok(rows.into_iter().map(read).collect())
            }
            SealedCursor::Request(requester, key_hash) => {
                let sql = "SELECT requester_id, key_hash, body_hash, body FROM repeatable_requests
                           WHERE body IS NOT NULL AND (requester_id > $1 OR (requester_id = $1 AND key_hash > $2))
                           ORDER BY requester_id, key_hash LIMIT 500";
                let rows = fetch!(self, fetch_all StoredResponseRow, sql, requester, &key_hash[..]);
                rows.into_iter().map(StoredResponseRow::read).collect()
            }
        }
    }

    /// Replaces the bytes of a sealed value.
    pub(super) async fn replace_sealed(&mut self, location: &SealedLocation, sealed: &[u8]) -> Result<(), StoreError> {
        let (sql, id) = match location {
            SealedLocation::WebhookSecret(id) => ("UPDATE webhooks SET secret = $2 WHERE id = $1", id.0),
            SealedLocation::FormerWebhookSecret { seq, .. } => {
                let sql = "UPDATE webhook_former_secrets SET secret = $2 WHERE seq = $1";
                write_rows!(self, sql, *seq, sealed);
                return Ok(());
            }
            SealedLocation::ChannelConfig(id) => ("UPDATE notification_channels SET config = $2 WHERE id = $1", id.0),
            SealedLocation::WebPushKey(id) => ("UPDATE web_push_keys SET private_key = $2 WHERE id = $1", *id),
            SealedLocation::Message(id) => ("UPDATE messages SET content = $2 WHERE id = $1", id.0),
            SealedLocation::OutboxMessage(id) => ("UPDATE outbox SET content = $2 WHERE id = $1", id.0),
            SealedLocation::StoredResponse(request) => {
                let sql = "UPDATE repeatable_requests SET body = $3 WHERE requester_id = $1 AND key_hash = $2";
                write_rows!(self, sql, request.requester.0, &request.key_hash[..], sealed);
                return Ok(());
            }
        };
        write_rows!(self, sql, id, sealed);
        Ok(())
    }

    /// Disables a webhook whose secret is lost and gives it a new secret.
    pub(super) async fn replace_lost_webhook_secret(
        &mut self,
        webhook: WebhookId,
        sealed: &[u8],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE webhooks SET secret = $2, is_active = $4, disabled_at = $3, disabled_reason = 'owner' WHERE id = $1";
        write_rows!(self, sql, webhook.0, sealed, now.as_microsecond(), false);
        Ok(())
    }

    /// Discards a sealed value that cannot be opened.
    pub(super) async fn discard_sealed(&mut self, location: &SealedLocation) -> Result<(), StoreError> {
        let (sql, id) = match location {
            SealedLocation::WebhookSecret(id) | SealedLocation::FormerWebhookSecret { webhook: id, .. } => {
                return self.delete_former_secrets(*id).await;
            }
            SealedLocation::ChannelConfig(id) => return self.discard_channel_config(*id).await,
            // The next start generates another one. The subscriptions are lost as well: they are sealed with the same key.
            SealedLocation::WebPushKey(id) => ("DELETE FROM web_push_keys WHERE id = $1", *id),
            SealedLocation::Message(id) => ("DELETE FROM messages WHERE id = $1", id.0),
            SealedLocation::OutboxMessage(id) => ("DELETE FROM outbox WHERE id = $1", id.0),
            // Deleting the row would let the request be processed again. With an unreadable response, a repeat is
            // rejected instead.
            SealedLocation::StoredResponse(_) => return Ok(()),
        };
        write_rows!(self, sql, id);
        Ok(())
    }
}
