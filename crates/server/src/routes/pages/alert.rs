//! `GET /alerts/{id}`: the HTML page behind the link in an alert email.

use alerts::AlertId;
use axum::extract::Path;
use foundation::ServiceError;
use market::display::Usd;
use service::alerts::AlertDetail;

use super::link;
use super::page::{Page, error_page};
use super::session::signed_in_actor;
use crate::query::uuid;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::prelude::*;

/// Show an alert
///
/// The page behind the link in an alert email. The owner must be signed in with this browser.
#[utoipa::path(
    get,
    path = "/alerts/{id}",
    tag = "Pages",
    params(("id" = uuid::Uuid, Path, description = "Alert id")),
    responses(
        (status = 200, description = "The page, or a page that asks the user to sign in first", content_type = "text/html", body = String),
        (status = 400, description = "Error page: alert not found", content_type = "text/html", body = String),
        (status = 429, description = "Error page: too many requests; it says when to try again", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_alert(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Some(refusal) = link::rate_limit_page(&app, address, RateLimitGroup::Authorize) {
        return refusal;
    }
    let Some(id) = uuid(&id) else {
        return alert_not_found_page();
    };
    let actor = match signed_in_actor(&app, &headers).await {
        Ok(Some(actor)) => actor,
        Ok(None) => {
            let page = Page::message(
                "Sign in to see this alert",
                "Sign in, then open the link in the email again.",
            );
            return page.with_link("../sign-in", "Sign in").ok();
        }
        Err(error) => return error_page(error),
    };
    match app.service().alerts.alert(&actor, AlertId(id)).await {
        Ok(detail) => alert_page(&detail).ok(),
        Err(ServiceError::NotFound(_)) => alert_not_found_page(),
        Err(error) => error_page(error),
    }
}

fn alert_not_found_page() -> Response {
    let text = "The alert was deleted or belongs to another account.";
    Page::message("Alert not found", text).with_status(StatusCode::BAD_REQUEST)
}

fn alert_page(detail: &AlertDetail) -> Page {
    let alert = &detail.stored.alert;
    let threshold = alert.condition.threshold();
    let threshold = threshold.map_or_else(String::new, |threshold| format!(" {threshold}"));
    let mut paragraphs = vec![
        format!("{} {}{threshold}", alert.symbol, alert.condition.kind().name()),
        format!("Status: {}", alert.status.name()),
        format!("Created: {}", timestamp(alert.created_at)),
    ];
    paragraphs.extend(
        alert
            .initial_price
            .map(|price| format!("Price when it became active: {} USD", Usd(price.decimal()))),
    );
    paragraphs.extend(alert.triggered_at.map(|at| format!("Last fired: {}", timestamp(at))));
    paragraphs.extend(alert.note.as_ref().map(|note| format!("Note: {}", note.as_str())));
    if !alert.tags.is_empty() {
        paragraphs.push(format!("Tags: {}", alert.tags.as_slice().join(", ")));
    }
    Page {
        title: "Your alert",
        paragraphs,
        ..Page::default()
    }
}
