//! The rows of an account as JSON values in an export.

use alerts::json::in_javascript_order;
use jiff::Timestamp;
use serde_json::{Value, json};
use store::model::{
    Account, ApiKey, Delivery, Digest, ExportedAlert, FeedbackWithLike, HistoryRow, NotificationChannel, ScopeRole,
    SentMessage, UserSession, Webhook,
};

pub(super) fn timestamp(instant: Timestamp) -> Value {
    json!(format!("{instant:.3}"))
}

pub(super) fn optional_timestamp(instant: Option<Timestamp>) -> Value {
    instant.map_or(Value::Null, timestamp)
}

pub(super) fn account_value(account: &Account) -> Value {
    let profile = &account.profile;
    let phone = profile
        .phone
        .as_ref()
        .map(|phone| json!({"number": phone.number, "verified_at": timestamp(phone.verified_at)}));
    json!({
        "id": account.id.0,
        "email": account.email,
        "is_verified": account.is_verified,
        "full_name": account.full_name,
        "account_type": account.plan.name(),
        "is_operator": account.is_operator,
        "has_password": account.password_hash.is_some(),
        "created_at": timestamp(account.created_at),
        "deactivated_at": optional_timestamp(profile.deactivated_at),
        "phone": phone,
        "time_zone": account.time_zone,
        "quiet_hours": super::super::preferences::quiet_hours_value(profile.quiet_hours),
        "away_until": optional_timestamp(profile.away_until),
        "agents_wait": profile.agents_wait,
        "notify_blind": profile.notify_blind,
    })
}

pub(super) fn session(session: &UserSession) -> Value {
    json!({
        "id": session.id.0,
        "created_at": timestamp(session.created_at),
        "last_seen_at": timestamp(session.last_seen_at),
        "expires_at": timestamp(session.expires_at),
        "ended_at": optional_timestamp(session.ended_at),
        "address": session.client.map(|client| client.address.to_string()),
        "browser": session.client.map(|client| client.browser.name()),
        "system": session.client.map(|client| client.system.name()),
    })
}

pub(super) fn api_key(key: &ApiKey) -> Value {
    json!({
        "id": key.id.0,
        "name": key.name,
        "key_prefix": key.prefix,
        "scopes": key.scopes,
        "created_at": timestamp(key.created_at),
        "last_used_at": optional_timestamp(key.last_used_at),
    })
}

pub(super) fn feedback_value(seen: &FeedbackWithLike) -> Value {
    let feedback = &seen.feedback;
    json!({
        "id": feedback.id.0,
        "title": feedback.title,
        "body": feedback.body,
        "category": feedback.category.name(),
        "likes": feedback.likes,
        "created_at": timestamp(feedback.created_at),
    })
}

pub(super) fn webhook_value(webhook: &Webhook) -> Value {
    let disabled = webhook.disabled;
    json!({
        "id": webhook.id.0,
        "url": webhook.url,
        "events": webhook.events,
        "is_active": webhook.is_active,
        "signature": webhook.signature.name(),
        "created_at": timestamp(webhook.created_at),
        "failing_since": optional_timestamp(webhook.failing_since),
        "last_success_at": optional_timestamp(webhook.last_success_at),
        "disabled_at": optional_timestamp(disabled.map(|(at, _)| at)),
        "disabled_reason": disabled.map(|(_, reason)| reason.name()),
    })
}

/// A notification channel without its configuration, which has secrets.
pub(super) fn channel_value(channel: &NotificationChannel) -> Value {
    json!({
        "id": channel.id.0,
        "type": channel.channel_type.name(),
        "name": channel.name,
        "created_at": timestamp(channel.created_at),
        "verified_at": optional_timestamp(channel.verified_at),
        "last_success_at": optional_timestamp(channel.last_success_at),
        "last_error": channel.last_error,
        "templates": channel.templates.as_ref().map(|templates| {
            json!({"title": templates.title, "text": templates.text, "payload": templates.payload})
        }),
        "burst_limit": channel.throttle.burst_limit,
        "digest": channel.throttle.digest.map(Digest::name),
        "daily_budget": channel.throttle.daily_budget,
        "enabled": channel.is_enabled,
    })
}

pub(super) fn delivery(delivery: &Delivery) -> Value {
    let attempts = delivery.attempts.iter().map(|attempt| {
        json!({
            "at": timestamp(attempt.at),
            "outcome": attempt.outcome,
            "http_status": attempt.http_status,
            "duration_ms": attempt.duration_ms,
            "response": attempt.response,
        })
    });
    json!({
        "id": delivery.id.0,
        "alert_id": delivery.alert.0,
        "status": delivery.status.name(),
        "created_at": timestamp(delivery.created_at),
        "attempts": attempts.collect::<Vec<_>>(),
    })
}

pub(super) fn message(message: &SentMessage) -> Value {
    json!({
        "channel": message.type_name(),
        "channel_id": message.routed_to.as_ref().map(|route| route.id.0),
        "kind": message.kind,
        "recipient": message.recipient,
        "status": message.status,
        "created_at": timestamp(message.created_at),
        "finished_at": optional_timestamp(message.finished_at),
    })
}

pub(super) fn alert(kept: &ExportedAlert) -> Value {
    let alert = &kept.stored.alert;
    let mut value = json!({
        "id": alert.id.0,
        "symbol": kept.stored.scope().is_none().then(|| alert.symbol.to_string()),
        "condition": alert.condition.kind().name(),
        "threshold": alert.condition.threshold().map(market::Decimal::as_f64),
        "parameters": alert.parameters.clone().map(in_javascript_order),
        "notification": alert.notification.name(),
        "status": alert.status.name(),
        "initial_price": alert.initial_price.map(market::Price::as_f64),
        "created_at": timestamp(alert.created_at),
        "created_by": kept.stored.created_by,
        "triggered_at": optional_timestamp(alert.triggered_at),
        "deleted_at": optional_timestamp(kept.deleted_at),
    });
    if let Some(scope) = kept.stored.scope() {
        value["scope"] = scope.to_json();
    }
    if let Some(managed_by) = &kept.stored.managed_by {
        value["managed_by"] = managed_by.to_json();
    }
    if let ScopeRole::Member(parent) = kept.stored.role {
        value["member_of"] = json!(parent.0);
    }
    if !alert.options.are_default() {
        value["options"] = Value::from(alert.options.to_json());
    }
    for (name, member) in alert.routing.to_json() {
        value[name] = member;
    }
    if let Some(note) = &alert.note {
        value["note"] = json!(note.as_str());
    }
    if !alert.tags.is_empty() {
        value["tags"] = json!(alert.tags.as_slice());
    }
    value
}

pub(super) fn history(row: &HistoryRow) -> Value {
    json!({
        "action_type": row.entry.action.name(),
        "action_timestamp": timestamp(row.at),
        "previous_status": row.entry.previous_status.map(alerts::Status::name),
        "new_status": row.entry.new_status.name(),
        "trigger_price": row.price.map(market::Price::as_f64),
        "details": row.details.clone().map(in_javascript_order),
    })
}
