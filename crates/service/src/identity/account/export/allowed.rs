//! What the owner has allowed apps, and what agents wanted to change.

use serde_json::{Value, json};
use store::model::{Approval, Grant};

use super::{at, at_if_any};

pub(super) fn grant(grant: &Grant) -> Value {
    json!({
        "id": grant.id.0,
        "client_id": grant.client_id,
        "client_name": grant.client_name,
        "scopes": grant.scopes,
        "created_at": at(grant.created_at),
        "last_used_at": at_if_any(grant.last_used_at),
        "expires_at": at(grant.expires_at),
        "ended_at": at_if_any(grant.ended_at),
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
        "created_at": at(approval.created_at),
        "expires_at": at(approval.expires_at),
        "decided_at": at_if_any(approval.decided_at),
    })
}
