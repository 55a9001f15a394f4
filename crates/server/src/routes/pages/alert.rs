//! `GET /alerts/{id}`: an alert, as the link in a mail about it shows it.

use alerts::AlertId;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use market::display::Usd;
use service::ServiceError;
use service::alerts::AlertDetail;

use super::link;
use super::page::Page;
use super::visitor::{failed, who};
use crate::app::App;
use crate::layers::client::ClientAddress;
use crate::layers::limit::Group;
use crate::query::uuid;
use crate::values::timestamp;

/// Show an alert
///
/// The page that the link in a mail about an alert opens, for its owner in a browser that is signed in.
#[utoipa::path(
    get,
    path = "/alerts/{id}",
    tag = "Pages",
    params(("id" = uuid::Uuid, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "The page, or one that says to sign in first", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link leads to no alert", content_type = "text/html", body = String),
        (status = 429, description = "A page that says when to try again", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_alert(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Some(refusal) = link::refuse_beyond(&app, address, Group::Authorize) {
        return refusal;
    }
    let Some(id) = uuid(&id) else {
        return leads_nowhere();
    };
    let actor = match who(&app, &headers).await {
        Ok(Some(actor)) => actor,
        Ok(None) => {
            let page = Page::saying(
                "Sign in to see this alert",
                "Sign in here, then open the link in the mail again.",
            );
            return page.leading("../sign-in", "Sign in").ok();
        }
        Err(error) => return failed(error),
    };
    match app.service().alerts.alert(&actor, AlertId(id)).await {
        Ok(detail) => page(&detail).ok(),
        Err(ServiceError::NotFound(_)) => leads_nowhere(),
        Err(error) => failed(error),
    }
}

fn leads_nowhere() -> Response {
    let text = "The alert was deleted, or belongs to another account.";
    Page::saying("This link leads to no alert", text).with(StatusCode::BAD_REQUEST)
}

fn page(detail: &AlertDetail) -> Page {
    let alert = &detail.stored.alert;
    let threshold = alert.condition.threshold();
    let threshold = threshold.map_or_else(String::new, |threshold| format!(" {threshold}"));
    let mut paragraphs = vec![
        format!("{} {}{threshold}", alert.symbol, alert.condition.kind().name()),
        format!("Status: {}", alert.status.name()),
        format!("Made: {}", timestamp(alert.created_at)),
    ];
    paragraphs.extend(
        alert
            .initial_price
            .map(|price| format!("Price when it became active: {} USD", Usd(price.decimal()))),
    );
    paragraphs.extend(alert.triggered_at.map(|at| format!("Last fired: {}", timestamp(at))));
    Page {
        title: "Your alert",
        paragraphs,
        ..Page::default()
    }
}
