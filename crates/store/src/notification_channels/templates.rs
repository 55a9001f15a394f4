//! The templates of the bodies of deliveries. That of the alert takes the place of that of a channel of the webhook.

use std::collections::HashMap;

use ::alerts::AlertId;
use uuid::Uuid;

use super::row::TABLE;
use crate::alerts;
use crate::bulk::{Statement, query_many};
use crate::database::query;
use crate::model::{DeliveryId, NotificationChannelId, PayloadTemplate, TemplateOwner, WebhookId};
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
        let payload = TABLE
            .templates(Some(&self.templates))?
            .and_then(|templates| templates.payload);
        Ok(payload.map(|source| PayloadTemplate {
            owner: TemplateOwner::Channel {
                id: NotificationChannelId(self.id),
                name: self.name,
            },
            source,
        }))
    }
}

/// Returns the payload template of an alert.
pub(crate) fn alert_payload(alert: AlertId, templates: Option<&str>) -> Result<Option<PayloadTemplate>, StoreError> {
    let payload = alerts::TABLE
        .templates(templates)?
        .and_then(|templates| templates.payload);
    Ok(payload.map(|source| PayloadTemplate {
        owner: TemplateOwner::Alert(alert),
        source,
    }))
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

    /// Returns the payload template of a delivery to a webhook.
    pub async fn payload_template(
        &self,
        webhook: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Option<PayloadTemplate>, StoreError> {
        let of_alert = "SELECT COALESCE(parents.id, a.id) AS id, COALESCE(parents.templates, a.templates) AS templates
                        FROM deliveries d JOIN events e ON e.seq = d.event_seq JOIN alerts a ON a.seq = e.alert_seq
                        LEFT JOIN alerts parents ON parents.seq = a.parent_seq WHERE d.id = $1";
        let row = query!(fetch_optional(Uuid, Option<String>), &self.pools, of_alert, delivery.0)?;
        if let Some((id, templates)) = row
            && let Some(template) = alert_payload(AlertId(id), templates.as_deref())?
        {
            return Ok(Some(template));
        }
        let sql = select!("= (SELECT seq FROM webhooks WHERE id = $1) ORDER BY seq DESC");
        let rows = query!(fetch_all TemplatesRow, &self.pools, sql, webhook.0)?;
        let mut found = None;
        for row in rows {
            found = row.into_payload()?.or(found);
        }
        Ok(found)
    }
}
