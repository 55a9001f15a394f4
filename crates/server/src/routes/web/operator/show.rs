//! `GET /operator`: the state of the service.

use delivery::messages::OutboxFilter;
use foundation::ServiceError;
use service::PageRequest;
use web::screens::operator::OperatorPage;

use crate::routes::pages::page::{error_page, not_found_page};
use crate::routes::prelude::*;
use crate::routes::web::response::rendered;
use crate::routes::web::visitor::Visitor;

/// The newest accounts on the page.
const ACCOUNTS: PageRequest = PageRequest { page: 1, limit: 100 };
/// The last stored messages on the page.
const OUTBOX: PageRequest = PageRequest { page: 1, limit: 20 };

/// Shows the state.
pub(in crate::routes::web) async fn show_operator(State(app): State<App>, visitor: Visitor) -> Response {
    match operator_page(&app, &visitor).await {
        Ok(page) => visitor.after_notice(rendered(&page)),
        Err(ServiceError::NotFound(_)) => not_found_page(),
        Err(error) => error_page(error),
    }
}

async fn operator_page(app: &App, visitor: &Visitor) -> Result<OperatorPage, ServiceError> {
    let (service, actor) = (app.service(), &visitor.actor);
    let overview = service.operators.overview(actor, ACCOUNTS).await?;
    let outbox = service.outbox.outbox(actor, OutboxFilter::default(), OUTBOX).await?;
    let not_ready = service.ready().await.err().map(|error| error.to_string());
    let shell = visitor.shell(app, None);
    Ok(OperatorPage::new(
        shell,
        &overview,
        not_ready,
        &outbox.items,
        &app.metrics(),
        &app.settings().effective_settings,
    ))
}
