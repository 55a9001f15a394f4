//! `POST /deliveries/recover`: sends the failed deliveries of a webhook again.

use delivery::webhooks::WebhookId;
use foundation::ServiceError;
use serde_json::json;
use web::texts;

use super::list::show_refusal;
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::moment::local_moment;
use crate::routes::web::response::after_change;
use crate::routes::web::visitor::Visitor;

/// Queues the failed deliveries since a moment again.
pub(in crate::routes::web) async fn recover(State(app): State<App>, visitor: Visitor, form: FormFields) -> Response {
    let recovered = recovered(&app, &visitor, &form).await;
    if let Err(ServiceError::Invalid { fields, .. }) = &recovered
        && let Some(reason) = fields.get("since")
    {
        return show_refusal(&app, &visitor, &form, reason).await;
    }
    let result = recovered.map(|count| texts::text_with("resent-many", [("count", count.into())]));
    after_change(&visitor.head, form_field(&form, "next"), result)
}

async fn recovered(app: &App, visitor: &Visitor, form: &FormFields) -> Result<u64, ServiceError> {
    let webhook = uuid(form_field(form, "webhook")).ok_or(ServiceError::NotFound("webhook"))?;
    let since = local_moment(&visitor.actor.time_zone, form_field(form, "since"))
        .map_err(|message| ServiceError::field("since", message))?;
    let body = json!({"since": timestamp(since)});
    let webhooks = &app.service().webhooks;
    webhooks
        .recover_deliveries(&visitor.actor, WebhookId(webhook), &body)
        .await
}
