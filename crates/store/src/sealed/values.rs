//! Statements that read, replace and discard sealed values.

use jiff::Timestamp;
use uuid::Uuid;

use super::{SealedPlace, SealedValue};
use crate::columns::Table;
use crate::model::{MessageId, RepeatableRequest, RequesterId, WebhookId};
use crate::unit::{ask, write};
use crate::{StoreError, Unit};

/// The columns that hold sealed values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    WebhookSecret,
    FormerWebhookSecret,
    Message,
    OutboxMessage,
    RepeatedAnswer,
}

/// The row after which a page begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cursor {
    Seq(i64),
    Request(Uuid, Vec<u8>),
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    seq: i64,
    id: Uuid,
    sealed: Vec<u8>,
}

#[derive(sqlx_macros::FromRow)]
struct AnswerRow {
    requester_id: Uuid,
    key_hash: Vec<u8>,
    body_hash: Vec<u8>,
    body: Vec<u8>,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [
        Self::WebhookSecret,
        Self::FormerWebhookSecret,
        Self::Message,
        Self::OutboxMessage,
        Self::RepeatedAnswer,
    ];

    pub(super) const fn start(self) -> Cursor {
        match self {
            Self::RepeatedAnswer => Cursor::Request(Uuid::nil(), Vec::new()),
            _ => Cursor::Seq(0),
        }
    }

    /// Reads a page of those with a `seq`.
    const fn select(self) -> &'static str {
        match self {
            Self::WebhookSecret => {
                "SELECT seq, id, secret AS sealed FROM webhooks WHERE secret IS NOT NULL AND seq > $1 ORDER BY seq LIMIT 500"
            }
            Self::FormerWebhookSecret => {
                "SELECT f.seq, w.id, f.secret AS sealed FROM webhook_former_secrets f JOIN webhooks w ON w.seq = f.webhook_seq
                 WHERE f.seq > $1 ORDER BY f.seq LIMIT 500"
            }
            Self::Message => {
                "SELECT seq, id, content AS sealed FROM messages WHERE content IS NOT NULL AND seq > $1 ORDER BY seq LIMIT 500"
            }
            Self::OutboxMessage | Self::RepeatedAnswer => {
                "SELECT seq, id, content AS sealed FROM outbox WHERE seq > $1 ORDER BY seq LIMIT 500"
            }
        }
    }

    const fn place(self, seq: i64, id: Uuid) -> SealedPlace {
        match self {
            Self::WebhookSecret => SealedPlace::WebhookSecret(WebhookId(id)),
            Self::FormerWebhookSecret => SealedPlace::FormerWebhookSecret {
                webhook: WebhookId(id),
                seq,
            },
            Self::Message => SealedPlace::Message(MessageId(id)),
            Self::OutboxMessage | Self::RepeatedAnswer => SealedPlace::OutboxMessage(MessageId(id)),
        }
    }
}

impl AnswerRow {
    fn read(self) -> Result<(Cursor, SealedValue), StoreError> {
        const TABLE: Table = Table("repeatable_requests");
        let cursor = Cursor::Request(self.requester_id, self.key_hash.clone());
        let hash = |bytes: Vec<u8>| bytes.try_into().map_err(|_| TABLE.corrupt("a hash is not of 32 bytes"));
        let request = RepeatableRequest {
            requester: RequesterId(self.requester_id),
            key_hash: hash(self.key_hash)?,
            body_hash: hash(self.body_hash)?,
        };
        let value = SealedValue {
            place: SealedPlace::RepeatedAnswer(request),
            sealed: self.body,
        };
        Ok((cursor, value))
    }
}

impl Unit {
    /// The sealed values of a kind that follow `after`, in their order; none at the end.
    pub(super) async fn sealed_page(
        &mut self,
        kind: Kind,
        after: &Cursor,
    ) -> Result<Vec<(Cursor, SealedValue)>, StoreError> {
        match after {
            Cursor::Seq(seq) => {
                let rows = ask!(self, fetch_all Row, kind.select(), seq);
                let read = |row: Row| {
                    let place = kind.place(row.seq, row.id);
                    (
                        Cursor::Seq(row.seq),
                        SealedValue {
                            place,
                            sealed: row.sealed,
                        },
                    )
                };
                Ok(rows.into_iter().map(read).collect())
            }
            Cursor::Request(requester, key_hash) => {
                let sql = "SELECT requester_id, key_hash, body_hash, body FROM repeatable_requests
                           WHERE body IS NOT NULL AND (requester_id > $1 OR (requester_id = $1 AND key_hash > $2))
                           ORDER BY requester_id, key_hash LIMIT 500";
                let rows = ask!(self, fetch_all AnswerRow, sql, requester, &key_hash[..]);
                rows.into_iter().map(AnswerRow::read).collect()
            }
        }
    }

    /// Puts other bytes where a sealed value lies.
    pub(super) async fn replace_sealed(&mut self, place: &SealedPlace, sealed: &[u8]) -> Result<(), StoreError> {
        let (sql, id) = match place {
            SealedPlace::WebhookSecret(id) => ("UPDATE webhooks SET secret = $2 WHERE id = $1", id.0),
            SealedPlace::FormerWebhookSecret { seq, .. } => {
                let sql = "UPDATE webhook_former_secrets SET secret = $2 WHERE seq = $1";
                write!(self, sql, *seq, sealed);
                return Ok(());
            }
            SealedPlace::Message(id) => ("UPDATE messages SET content = $2 WHERE id = $1", id.0),
            SealedPlace::OutboxMessage(id) => ("UPDATE outbox SET content = $2 WHERE id = $1", id.0),
            SealedPlace::RepeatedAnswer(request) => {
                let sql = "UPDATE repeatable_requests SET body = $3 WHERE requester_id = $1 AND key_hash = $2";
                write!(self, sql, request.requester.0, &request.key_hash[..], sealed);
                return Ok(());
            }
        };
        write!(self, sql, id, sealed);
        Ok(())
    }

    /// Switches a webhook off and gives it another secret: the one that it had is lost.
    pub(super) async fn replace_lost_webhook_secret(
        &mut self,
        webhook: WebhookId,
        sealed: &[u8],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE webhooks SET secret = $2, is_active = $4, disabled_at = $3, disabled_reason = 'owner' WHERE id = $1";
        write!(self, sql, webhook.0, sealed, now.as_microsecond(), false);
        Ok(())
    }

    /// Discards a sealed value that cannot be opened.
    pub(super) async fn discard_sealed(&mut self, place: &SealedPlace) -> Result<(), StoreError> {
        let (sql, id) = match place {
            SealedPlace::WebhookSecret(id) | SealedPlace::FormerWebhookSecret { webhook: id, .. } => {
                return self.delete_former_secrets(*id).await;
            }
            SealedPlace::Message(id) => ("DELETE FROM messages WHERE id = $1", id.0),
            SealedPlace::OutboxMessage(id) => ("DELETE FROM outbox WHERE id = $1", id.0),
            // Without its answer the request would be done again. As it is, a repeat is refused, because the answer is unreadable.
            SealedPlace::RepeatedAnswer(_) => return Ok(()),
        };
        write!(self, sql, id);
        Ok(())
    }
}
