//! OAuth grants and approvals in an export.

use serde_json::{Value, json};
use store::model::{Approval, Grant};

use super::rows::{optional_timestamp, timestamp};

pub(super) fn grant(grant: &Grant) -> Value {
    json!({
        "id": grant.id.0,
        "client_id": grant.client_id,
        "client_name": grant.client_name,
        "scopes": grant.scopes,
        "created_at": timestamp(grant.created_at),
        "last_used_at": optional_timestamp(grant.last_used_at),
        "expires_at": timestamp(grant.expires_at),
        "ended_at": optional_timestamp(grant.ended_at),
    })
}

pub(super) fn approval(approval: &Approval) -> Value {
    json!({
        "id": approval.id.0,
        "tool": approval.tool,
        "arguments": approval.arguments,
        "preview": approval.preview,
        "asked_by": approval.asked_by,
        "status": approval.status.name(),
        "created_at": timestamp(approval.created_at),
        "expires_at": timestamp(approval.expires_at),
        "decided_at": optional_timestamp(approval.decided_at),
    })
}
