//! Reading webhooks.

use super::row::{WebhookRow, select};
use crate::columns::values;
use crate::database::query;
use crate::model::{AccountId, Webhook, WebhookId};
use crate::{Store, StoreError};

impl Store {
    /// Returns an account's webhooks, oldest first.
    pub async fn webhooks(&self, account: AccountId) -> Result<Vec<Webhook>, StoreError> {
        let sql = select!("account_id = $1 ORDER BY seq");
        values(query!(fetch_all WebhookRow, &self.pools, sql, account.0)?)
    }

    /// Returns a webhook of an account.
    pub async fn webhook(&self, account: AccountId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        let sql = select!("account_id = $1 AND id = $2");
        let row = query!(fetch_optional WebhookRow, &self.pools, sql, account.0, id.0)?;
        row.map(Webhook::try_from).transpose()
    }
}
