//! `GET /deliveries/{webhook}/{delivery}`: one delivery with its attempts and its body.

use delivery::webhooks::{DeliveryId, WebhookId};
use foundation::ServiceError;
use web::layout::Section;
use web::screens::deliveries::DeliveryPage;

use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;
use crate::routes::web::response::rendered;
use crate::routes::web::visitor::Visitor;

/// Shows the delivery.
pub(in crate::routes::web) async fn show_delivery(
    State(app): State<App>,
    visitor: Visitor,
    path: Result<DeliveryPath, ApiError>,
) -> Response {
    let DeliveryPath(webhook, delivery) = match path {
        Ok(path) => path,
        Err(error) => return api_error_page(&error),
    };
    match delivery_page(&app, &visitor, webhook, delivery).await {
        Ok(page) => visitor.after_notice(rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn delivery_page(
    app: &App,
    visitor: &Visitor,
    webhook: WebhookId,
    delivery: DeliveryId,
) -> Result<DeliveryPage, ServiceError> {
    let (service, actor) = (app.service(), &visitor.actor);
    let detail = service.webhooks.delivery(actor, webhook, delivery).await?;
    let sentences = service.alerts.alert_sentences(actor, &[detail.delivery.alert]).await?;
    let shell = visitor.shell(app, Some(Section::Deliveries));
    Ok(DeliveryPage::new(shell, &detail, &sentences))
}
