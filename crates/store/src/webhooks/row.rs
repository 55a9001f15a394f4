//! Webhook rows.

use uuid::Uuid;

use crate::StoreError;
use crate::columns::Table;
use crate::model::{AccountId, DisabledReason, SignatureForm, Webhook, WebhookId};
use crate::sqlite::row;

pub(super) const TABLE: Table = Table("webhooks");

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT id, account_id, url, events, is_active, signature, secret, \
             created_at, failing_since, last_success_at, disabled_at, disabled_reason \
             FROM webhooks WHERE deleted_at IS NULL AND ",
            $rest
        )
    };
}
pub(super) use select;

row! {
    pub(super) struct WebhookRow {
        id: Uuid,
        account_id: Uuid,
        url: String,
        events: String,
        is_active: bool,
        signature: String,
        secret: Option<Vec<u8>>,
        created_at: i64,
        failing_since: Option<i64>,
        last_success_at: Option<i64>,
        disabled_at: Option<i64>,
        disabled_reason: Option<String>,
    }
}

impl TryFrom<WebhookRow> for Webhook {
    type Error = StoreError;

    fn try_from(row: WebhookRow) -> Result<Self, StoreError> {
        let disabled = match (row.disabled_at, row.disabled_reason.as_deref()) {
            (Some(at), Some(reason)) => Some((
                TABLE.instant(at)?,
                TABLE.parse("disabled_reason", reason, DisabledReason::from_name)?,
            )),
            _ => None,
        };
        Ok(Self {
            id: WebhookId(row.id),
            account: AccountId(row.account_id),
            url: row.url,
            events: TABLE.list(&row.events)?,
            is_active: row.is_active,
            signature: TABLE.parse("signature", &row.signature, SignatureForm::from_name)?,
            secret: row.secret.unwrap_or_default(),
            created_at: TABLE.instant(row.created_at)?,
            failing_since: TABLE.optional_instant(row.failing_since)?,
            last_success_at: TABLE.optional_instant(row.last_success_at)?,
            disabled,
        })
    }
}
