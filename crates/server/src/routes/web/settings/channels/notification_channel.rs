//! Forms about one notification channel: a test, another name, how many messages it gets, enabling, disabling, deleting, another link or code.

use std::net::IpAddr;
use std::sync::Arc;

use delivery::notification_channels::{NotificationChannelId, NotificationChannelType};
use foundation::ServiceError;
use serde_json::{Value, json};
use web::screens::settings::{ChannelTestLine, TelegramCode};
use web::texts;

use super::{Outcome, PageAnswer};
use crate::auth::Identity;
use crate::query::uuid;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::pages::link::{form_field, rate_limit_caller};
use crate::routes::prelude::*;
use crate::routes::web::form_value::{optional_number, optional_text};
use crate::routes::web::visitor::Visitor;

/// Returns a response if the actor has sent too many tests. They count together with tests of webhooks, as in the API.
pub(super) async fn rate_limit(app: &App, visitor: &Visitor, address: IpAddr, action: &str) -> Option<Response> {
    if action != "test-channel" {
        return None;
    }
    let caller = Identity::Authenticated(Arc::new(visitor.actor.clone()));
    rate_limit_caller(app, &caller, address, RateLimitGroup::WebhookTest).await
}

/// Tests, changes or deletes a channel.
pub(super) async fn change(
    app: &App,
    visitor: &Visitor,
    action: &str,
    form: &FormFields,
) -> Result<Outcome, ServiceError> {
    let (channels, actor) = (&app.service().notification_channels, &visitor.actor);
    let id = uuid(form_field(form, "id")).map(NotificationChannelId);
    let id = id.ok_or(ServiceError::NotFound("notification channel"))?;
    let body = match action {
        "test-channel" => return test(app, visitor, id).await,
        "delete" => {
            channels.delete(actor, id).await?;
            return Ok(Outcome::Changed(texts::text("channel-deleted-notice")));
        }
        "rename" => json!({"name": form_field(form, "name").trim()}),
        "limit" => json!({
            "burst_limit": optional_number(form, "burst_limit"),
            "digest": digest(form),
            "daily_budget": optional_number(form, "daily_budget"),
        }),
        "enable" | "disable" => json!({"enabled": action == "enable"}),
        // A change of the configuration returns another link or code, even if it changes nothing.
        "request-link" => json!({"config": {}}),
        _ => {
            let message = "the form is invalid; reload the page".to_owned();
            return Err(ServiceError::Malformed(message));
        }
    };
    let changed = channels.update(actor, id, &body).await?;
    let channel = changed.detail.channel;
    Ok(match changed.link {
        Some(link) => Outcome::answered(PageAnswer {
            telegram_code: Some(TelegramCode::of(&channel.name, link)),
            ..PageAnswer::default()
        }),
        None if action == "request-link" && channel.channel_type == NotificationChannelType::Email => {
            Outcome::Changed(texts::text("channel-email-link-sent"))
        }
        None => Outcome::Changed(texts::text("channel-changed")),
    })
}

/// Returns the digest of a form: that of each day has its time in another field.
fn digest(form: &FormFields) -> Value {
    match form_field(form, "digest") {
        "daily" => json!(format!("daily at {}", form_field(form, "digest_time").trim())),
        _ => optional_text(form, "digest"),
    }
}

async fn test(app: &App, visitor: &Visitor, id: NotificationChannelId) -> Result<Outcome, ServiceError> {
    let channels = &app.service().notification_channels;
    let detail = channels.get(&visitor.actor, id).await?;
    let result = channels.test(&visitor.actor, id).await?;
    Ok(Outcome::answered(PageAnswer {
        test: Some(ChannelTestLine::of(&detail.channel, &result)),
        ..PageAnswer::default()
    }))
}
