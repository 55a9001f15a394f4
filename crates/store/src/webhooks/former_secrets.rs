//! Webhook secrets replaced by rotations, which remain valid for a while.

use std::collections::HashMap;

use jiff::Timestamp;

use super::row::TABLE;
use crate::bulk::{Statement, query_many};
use crate::model::{FormerSecret, WebhookId};
use crate::unit_of_work::write_rows;
use crate::{Store, StoreError, UnitOfWork};

const FORMER_SECRETS: Statement = Statement {
    before: "SELECT seq, webhook_seq, secret, expires_at FROM webhook_former_secrets WHERE webhook_seq IN (VALUES ",
    columns: 1,
    after: ")",
};

impl UnitOfWork {
    /// Inserts a replaced secret. Only the newest `max_kept` former secrets of the webhook remain, and none that has
    /// expired by `now`.
    pub async fn insert_former_secret(
        &mut self,
        webhook: WebhookId,
        former: &FormerSecret,
        max_kept: usize,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO webhook_former_secrets (webhook_seq, secret, expires_at)
             SELECT seq, $2, $3 FROM webhooks WHERE id = $1",
            webhook.0,
            &former.secret[..],
            former.expires_at.as_microsecond(),
        );
        write_rows!(
            self,
            "DELETE FROM webhook_former_secrets
             WHERE webhook_seq = (SELECT seq FROM webhooks WHERE id = $1)
               AND (expires_at <= $2 OR seq NOT IN
                    (SELECT f.seq FROM webhook_former_secrets f JOIN webhooks w ON w.seq = f.webhook_seq
                     WHERE w.id = $1 ORDER BY f.seq DESC LIMIT $3))",
            webhook.0,
            now.as_microsecond(),
            i64::try_from(max_kept).unwrap_or(i64::MAX),
        );
        Ok(())
    }

    pub(crate) async fn delete_former_secrets(&mut self, webhook: WebhookId) -> Result<(), StoreError> {
        write_rows!(
            self,
            "DELETE FROM webhook_former_secrets WHERE webhook_seq = (SELECT seq FROM webhooks WHERE id = $1)",
            webhook.0,
        );
        Ok(())
    }
}

impl Store {
    /// Returns the former secrets of webhooks, by the webhook's `seq`, newest first, including expired ones.
    pub(crate) async fn former_secrets(
        &self,
        mut webhooks: Vec<i64>,
    ) -> Result<HashMap<i64, Vec<FormerSecret>>, StoreError> {
        webhooks.sort_unstable();
        webhooks.dedup();
        let mut rows = query_many!(
            (i64, i64, Vec<u8>, i64),
            &self.pools,
            FORMER_SECRETS,
            &webhooks,
            |query, seq| query.bind(*seq)
        );
        rows.sort_unstable_by_key(|(seq, ..)| std::cmp::Reverse(*seq));
        let mut found: HashMap<i64, Vec<FormerSecret>> = HashMap::new();
        for (_, webhook, secret, expires_at) in rows {
            let expires_at = TABLE.instant(expires_at)?;
            let former = FormerSecret { secret, expires_at };
            found.entry(webhook).or_default().push(former);
        }
        Ok(found)
    }
}
