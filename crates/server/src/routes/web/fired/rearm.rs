//! `POST /fired/rearm`: activates a fired alert again, at a new level if it has one.

use alerts::condition::Side;
use alerts::{Alert, AlertId, Condition};
use foundation::ServiceError;
use market::Price;
use serde_json::json;
use web::screens::PassedLevel;
use web::screens::fired::RearmRefusal;
use web::texts;

use super::list::show_refusal;
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::response::{after_change, is_failure, message_at_field};
use crate::routes::web::visitor::Visitor;

/// Sets the level and activates the alert, unless it would fire at once. `flip` turns it to the other side of its level.
pub(in crate::routes::web) async fn rearm(State(app): State<App>, visitor: Visitor, form: FormFields) -> Response {
    let next = form_field(&form, "next");
    let Some(id) = uuid(form_field(&form, "alert")).map(AlertId) else {
        return after_change(&visitor.head, next, Err(ServiceError::NotFound("alert")));
    };
    let alert = match app.service().alerts.alert(&visitor.actor, id).await {
        Ok(detail) => detail.stored.alert,
        Err(error) => return after_change(&visitor.head, next, Err(error)),
    };
    let level = NewLevel::read(&alert, &form);
    let refused = |text: String, flip: Option<Side>| RearmRefusal {
        alert: id,
        level: form_field(&form, "level").to_owned(),
        text,
        flip,
    };
    let passed = level.and_then(|level| {
        let quote = app.service().stocks.figures().quote(alert.symbol);
        PassedLevel::of(alert.symbol, level.side, level.price, quote.price)
    });
    if let Some(passed) = passed {
        let refusal = refused(passed.text(), Some(passed.flipped()));
        return show_refusal(&app, &visitor, next, &refusal).await;
    }
    match rearmed(&app, &visitor, &alert, &form).await {
        Err(error) if alert_level(&alert).is_some() && !is_failure(&error) => {
            show_refusal(&app, &visitor, next, &refused(message_at_field(&error), None)).await
        }
        result => {
            let symbol = alert.symbol.to_string();
            let result = result.map(|()| texts::text_with("rearmed", [("symbol", symbol.into())]));
            after_change(&visitor.head, next, result)
        }
    }
}

/// The level of a price alert after the change.
#[derive(Clone, Copy)]
struct NewLevel {
    side: Side,
    price: Price,
}

impl NewLevel {
    /// Returns the level of a form; `None` if the alert has none, or if the entered one is no price.
    fn read(alert: &Alert, form: &FormFields) -> Option<Self> {
        let (side, present) = alert_level(alert)?;
        let price = match form_field(form, "level").trim() {
            "" => present,
            text => text.parse().ok()?,
        };
        let side = flipped_side(form).unwrap_or(side);
        Some(Self { side, price })
    }
}

const fn alert_level(alert: &Alert) -> Option<(Side, Price)> {
    match alert.condition {
        Condition::Price { side, threshold } => Some((side, threshold)),
        _ => None,
    }
}

fn flipped_side(form: &FormFields) -> Option<Side> {
    match form_field(form, "flip") {
        "above" => Some(Side::Above),
        "below" => Some(Side::Below),
        _ => None,
    }
}

/// Changes the level first, while the alert cannot fire.
async fn rearmed(app: &App, visitor: &Visitor, alert: &Alert, form: &FormFields) -> Result<(), ServiceError> {
    let alerts = &app.service().alerts;
    let level = form_field(form, "level").trim();
    if !level.is_empty() {
        let level: f64 = level
            .parse()
            .map_err(|_| ServiceError::field("level", "must be a price, such as 180.50"))?;
        let mut changed = json!({"threshold": level});
        if let Some(side) = flipped_side(form) {
            changed["condition"] = json!(format!("price_{side}"));
        }
        alerts.update_alert(&visitor.actor, alert.id, &changed).await?;
    }
    alerts.activate_alert(&visitor.actor, alert.id).await.map(drop)
}
