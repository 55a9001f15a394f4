//! Creates, changes and deletes webhooks.

use jiff::Timestamp;
use uuid::Uuid;

use super::row::{TABLE, WebhookRow, select};
use crate::columns::json_list;
use crate::model::{AccountId, Webhook, WebhookId};
use crate::unit_of_work::{fetch, select_locked, write_rows};
use crate::{StoreError, UnitOfWork};

impl UnitOfWork {
    /// Counts an account's webhooks. The count holds until the end of the transaction only if the account is locked.
    pub async fn count_webhooks(&mut self, account: AccountId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM webhooks WHERE account_id = $1 AND deleted_at IS NULL";
        let (count,) = fetch!(self, fetch_one(i64,), sql, account.0);
        TABLE.narrow("COUNT(*)", count)
    }

    /// Returns an account's webhook and locks it until the end of the transaction.
    pub async fn lock_webhook(&mut self, account: AccountId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        let sql = select_locked!(self, select!("account_id = $1 AND id = $2"));
        let row = fetch!(self, fetch_optional WebhookRow, sql, account.0, id.0);
        row.map(Webhook::try_from).transpose()
    }

    /// Inserts a webhook.
    pub async fn insert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO webhooks (id, account_id, url, events, is_active, signature, secret, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            webhook.id.0,
            webhook.account.0,
            &webhook.url,
            json_list(&webhook.events),
            webhook.is_active,
            webhook.signature.name(),
            &webhook.secret[..],
            webhook.created_at.as_microsecond(),
        );
        Ok(())
    }

    /// Overwrites a webhook's fields. If it is not active, its pending deliveries fail.
    pub async fn update_webhook(&mut self, webhook: &Webhook, now: Timestamp) -> Result<(), StoreError> {
        write_rows!(
            self,
            "UPDATE webhooks SET url = $2, events = $3, is_active = $4, secret = $5, failing_since = $6,
             disabled_at = $7, disabled_reason = $8
             WHERE id = $1 AND deleted_at IS NULL",
            webhook.id.0,
            &webhook.url,
            json_list(&webhook.events),
            webhook.is_active,
            &webhook.secret[..],
            webhook.failing_since.map(Timestamp::as_microsecond),
            webhook.disabled.map(|(at, _)| at.as_microsecond()),
            webhook.disabled.map(|(_, reason)| reason.name()),
        );
        if !webhook.is_active {
            self.give_up_deliveries(webhook.id, now).await?;
        }
        Ok(())
    }

    /// Deletes an account's webhook with its secrets; its pending deliveries fail. Returns `false` if the account
    /// has no such webhook.
    pub async fn delete_webhook(
        &mut self,
        account: AccountId,
        id: WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let deleted = write_rows!(
            self,
            "UPDATE webhooks SET deleted_at = $3, is_active = $4, secret = NULL
             WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL",
            account.0,
            id.0,
            now.as_microsecond(),
            false,
        );
        if deleted == 0 {
            return Ok(false);
        }
        self.delete_former_secrets(id).await?;
        self.give_up_deliveries(id, now).await?;
        Ok(true)
    }

    /// Deletes all webhooks of an account, as [`delete_webhook`](Self::delete_webhook) does. Returns the number
    /// deleted.
    pub async fn delete_webhooks(&mut self, account: AccountId, now: Timestamp) -> Result<u64, StoreError> {
        let sql = "SELECT id FROM webhooks WHERE account_id = $1 AND deleted_at IS NULL";
        let ids = fetch!(self, fetch_all(Uuid,), sql, account.0);
        let mut deleted = 0;
        for (id,) in ids {
            deleted += u64::from(self.delete_webhook(account, WebhookId(id), now).await?);
        }
        Ok(deleted)
    }
}
