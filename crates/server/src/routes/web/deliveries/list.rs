//! `GET /deliveries`: the deliveries to the account's webhooks, and the messages about its alerts.

use alerts::AlertId;
use delivery::webhooks::{Delivery, Webhook};
use foundation::ServiceError;
use service::PageRequest;
use web::layout::Section;
use web::screens::deliveries::{
    DeliveriesPage, DeliveriesPart, DeliveryLine, DeliveryList, DeliveryQuery, MessageLine, WebhookChoice,
};
use web::wording;

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;
use crate::routes::web::response::rendered;
use crate::routes::web::visitor::Visitor;
use crate::routes::webhooks::deliveries::DELIVERY_STATUSES;

/// The deliveries on the page: the newest of each webhook.
const NEWEST: PageRequest = PageRequest { page: 1, limit: 100 };
/// The number of messages on the page.
const MAX_MESSAGES: usize = 50;
const ID_CHARS: usize = 36;

/// Shows the list.
pub(in crate::routes::web) async fn list_deliveries(
    State(app): State<App>,
    visitor: Visitor,
    query: Query,
) -> Response {
    let mut query = query.without_empty();
    let filter = DeliveryQuery {
        webhook: query.text("webhook", ID_CHARS).unwrap_or_default(),
        status: query.choice("status", DELIVERY_STATUSES),
    };
    if let Err(error) = query.finish() {
        return api_error_page(&error);
    }
    let shell = visitor.shell(&app, Some(Section::Deliveries));
    let address = shell.address.clone();
    match list(&app, &visitor, filter, address).await {
        Ok(list) if visitor.is_part => rendered(&DeliveriesPart { shell, list }),
        Ok(list) => visitor.after_notice(rendered(&DeliveriesPage { shell, list })),
        Err(error) => error_page(error),
    }
}

async fn list(
    app: &App,
    visitor: &Visitor,
    query: DeliveryQuery,
    address: String,
) -> Result<DeliveryList, ServiceError> {
    let (service, actor) = (app.service(), &visitor.actor);
    let webhooks = service.webhooks.webhooks(actor).await?;
    let wanted = uuid(&query.webhook);
    let is_shown = |webhook: &&Webhook| wanted.is_none_or(|id| webhook.id.0 == id);
    let mut deliveries: Vec<(&Webhook, Delivery)> = Vec::new();
    for webhook in webhooks.iter().filter(is_shown) {
        let page = service
            .webhooks
            .deliveries(actor, webhook.id, query.status, NEWEST)
            .await?;
        deliveries.extend(page.items.into_iter().map(|delivery| (webhook, delivery)));
    }
    deliveries.sort_by_key(|(_, delivery)| std::cmp::Reverse(delivery.created_at));
    deliveries.truncate(NEWEST.limit as usize);
    let messages = service.sent_messages.latest_alert_messages(actor, MAX_MESSAGES).await?;
    let mut alerts: Vec<AlertId> = deliveries.iter().map(|(_, delivery)| delivery.alert).collect();
    alerts.extend(messages.iter().filter_map(|message| message.alert));
    alerts.sort_unstable();
    alerts.dedup();
    let sentences = service.alerts.alert_sentences(actor, &alerts).await?;
    Ok(DeliveryList {
        query,
        webhooks: webhooks.iter().map(WebhookChoice::of).collect(),
        deliveries: deliveries
            .iter()
            .map(|(webhook, delivery)| DeliveryLine::of(webhook, delivery, &sentences))
            .collect(),
        messages: messages
            .iter()
            .map(|message| MessageLine::of(message, &sentences))
            .collect(),
        address,
        since: (String::new(), String::new()),
    })
}

/// Shows the list of a webhook with the error of "Resend all since…" at its input.
pub(super) async fn show_refusal(app: &App, visitor: &Visitor, form: &FormFields, reason: &[String]) -> Response {
    let query = DeliveryQuery {
        webhook: form_field(form, "webhook").to_owned(),
        status: None,
    };
    let mut list = match list(app, visitor, query, "/deliveries".to_owned()).await {
        Ok(list) => list,
        Err(error) => return error_page(error),
    };
    list.since = (form_field(form, "since").to_owned(), wording::at_input(reason));
    let shell = visitor.shell(app, Some(Section::Deliveries));
    let mut page = rendered(&DeliveriesPage { shell, list });
    *page.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    page
}
