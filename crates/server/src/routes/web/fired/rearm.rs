//! `POST /fired/rearm`: activates a fired alert again, at a new level if it has one.

use alerts::AlertId;
use foundation::ServiceError;
use serde_json::json;
use service::alerts::AlertDetail;
use web::texts;

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::response::after_change;
use crate::routes::web::visitor::Visitor;

/// Sets the level and activates the alert.
pub(in crate::routes::web) async fn rearm(State(app): State<App>, visitor: Visitor, form: FormFields) -> Response {
    let rearmed = rearmed(&app, &visitor, &form).await;
    let result = rearmed.map(|detail| {
        let symbol = detail.stored.alert.symbol.to_string();
        texts::text_with("rearmed", [("symbol", symbol.into())])
    });
    after_change(&visitor.head, form_field(&form, "next"), result)
}

/// Changes the level first, while the alert cannot fire.
async fn rearmed(app: &App, visitor: &Visitor, form: &FormFields) -> Result<AlertDetail, ServiceError> {
    let alerts = &app.service().alerts;
    let id = uuid(form_field(form, "alert"))
        .ok_or(ServiceError::NotFound("alert"))
        .map(AlertId)?;
    let level = form_field(form, "level");
    if !level.is_empty() {
        let level: f64 = level
            .parse()
            .map_err(|_| ServiceError::field("level", "must be a price, such as 180.50"))?;
        alerts
            .update_alert(&visitor.actor, id, &json!({"threshold": level}))
            .await?;
    }
    alerts.activate_alert(&visitor.actor, id).await
}
