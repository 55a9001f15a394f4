//! The templates of the bodies of deliveries.

use std::collections::HashMap;

use uuid::Uuid;

use super::row::TABLE;
use crate::bulk::{Statement, query_many};
use crate::database::query;
use crate::model::{ChannelTemplates, NotificationChannelId, PayloadTemplate, WebhookId};
use crate::sqlite::row;
use crate::{Store, StoreError};

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT webhook_seq, id, name, templates FROM notification_channels
             WHERE templates IS NOT NULL AND is_enabled AND deleted_at IS NULL AND webhook_seq ",
            $rest
        )
    };
}

const OF_WEBHOOKS: Statement = Statement {
    before: select!("IN (VALUES "),
    columns: 1,
    after: ") ORDER BY seq DESC",
};

row! {
    struct TemplatesRow {
        webhook_seq: i64,
        id: Uuid,
        name: String,
        templates: String,
    }
}

impl TemplatesRow {
    fn into_payload(self) -> Result<Option<PayloadTemplate>, StoreError> {
        let templates = ChannelTemplates::from_json(&self.templates).map_err(|error| TABLE.corrupt(error))?;
        Ok(templates.payload.map(|source| PayloadTemplate {
            channel: NotificationChannelId(self.id),
            channel_name: self.name,
            source,
        }))
    }
}

impl Store {
    /// Returns the payload template of each of some webhooks that has one. Of several channels of a webhook, the oldest one counts.
    pub(crate) async fn payload_templates(
        &self,
        webhooks: Vec<i64>,
    ) -> Result<HashMap<i64, PayloadTemplate>, StoreError> {
        let rows = query_many!(TemplatesRow, &self.pools, OF_WEBHOOKS, &webhooks, |query, seq| query
            .bind(*seq));
        // The oldest one is the last.
        let mut found = HashMap::new();
        for row in rows {
            let webhook = row.webhook_seq;
            if let Some(payload) = row.into_payload()? {
                found.insert(webhook, payload);
            }
        }
        Ok(found)
    }

    /// Returns the payload template of a webhook.
    pub async fn payload_template(&self, webhook: WebhookId) -> Result<Option<PayloadTemplate>, StoreError> {
        let sql = select!("= (SELECT seq FROM webhooks WHERE id = $1) ORDER BY seq DESC");
        let rows = query!(fetch_all TemplatesRow, &self.pools, sql, webhook.0)?;
        let mut found = None;
        for row in rows {
            found = row.into_payload()?.or(found);
        }
        Ok(found)
    }
}
