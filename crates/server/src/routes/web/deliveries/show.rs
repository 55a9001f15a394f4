//! `GET /deliveries/{webhook}/{delivery}`: one delivery with its attempts and its body.

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
    match app.service().webhooks.delivery(&visitor.actor, webhook, delivery).await {
        Ok(detail) => {
            let shell = visitor.shell(&app, Some(Section::Deliveries));
            visitor.after_notice(rendered(&DeliveryPage::new(shell, &detail)))
        }
        Err(error) => error_page(error),
    }
}
