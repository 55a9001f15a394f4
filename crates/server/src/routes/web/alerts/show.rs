//! `GET /alerts/{id}`: one alert, why it fires or does not, its history and what followed.

use alerts::AlertId;
use axum::extract::Path;
use foundation::ServiceError;
use jiff::Timestamp;
use service::alerts::{AlertDetail, AlertSentences};
use service::firings::{FiringFilter, FiringWithMessages};
use service::{ListRequest, PageRequest};
use web::layout::Section;
use web::screens::alert::{
    AlertFacts, AlertPage, AlertRoute, ChannelNames, FiringReceipt, HistoryLine, MemberLine, OutcomeLine,
    PastMomentInput, Why,
};
use web::screens::deliveries::{AlertDeliveries, DeliveryLine, MessageLine};

use crate::query::uuid;
use crate::routes::pages::page::{Page, error_page};
use crate::routes::prelude::*;
use crate::routes::web::moment::local_moment;
use crate::routes::web::response::rendered;
use crate::routes::web::visitor::Visitor;

/// The number of history entries on the page.
const HISTORY: PageRequest = PageRequest { page: 1, limit: 50 };
/// The number of stocks on the page: as many as an alert may have.
const MEMBERS: PageRequest = PageRequest { page: 1, limit: 500 };
/// The number of latest firings whose deliveries are on the page.
const MAX_DELIVERED_FIRINGS: u32 = 50;
/// The number of latest firings with a receipt on the page.
const RECEIPTS: PageRequest = PageRequest { page: 1, limit: 5 };
/// Maximum length of a past moment, in characters.
const MAX_MOMENT_CHARS: usize = 40;

/// Shows an alert.
pub(in crate::routes::web) async fn show_alert(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    mut query: Query,
) -> Response {
    let at = query.text("at", MAX_MOMENT_CHARS).filter(|at| !at.is_empty());
    let Some(id) = uuid(&id) else {
        return alert_not_found_page();
    };
    match alert_page(&app, &visitor, AlertId(id), at).await {
        Ok(page) => visitor.after_notice(rendered(&page)),
        Err(ServiceError::NotFound(_)) => alert_not_found_page(),
        Err(error) => error_page(error),
    }
}

async fn alert_page(app: &App, visitor: &Visitor, id: AlertId, at: Option<String>) -> Result<AlertPage, ServiceError> {
    let (alerts, actor) = (&app.service().alerts, &visitor.actor);
    let now = app.now();
    let detail = alerts.alert(actor, id).await?;
    let is_scoped = detail.stored.scope().is_some();
    let history = alerts.alert_history(actor, id, HISTORY).await?;
    let members = match is_scoped {
        true => alerts.alert_members(actor, id, MEMBERS).await?.items,
        false => Vec::new(),
    };
    let outcomes = match is_scoped {
        true => Vec::new(),
        false => OutcomeLine::all_of(&alerts.alert_outcomes(actor, id, None).await?),
    };
    let (why, at) = why(app, visitor, &detail, at).await?;
    let sent = sent(app, visitor, id).await?;
    let channels = app.service().notification_channels.list(actor).await?;
    let names = ChannelNames::of(&channels);
    let default_route = app.service().notification_channels.route(actor).await?;
    let firings = latest_firings(app, visitor, id).await?;
    Ok(AlertPage {
        alert: AlertFacts::of(&detail, now),
        why,
        at,
        members: members.iter().map(|member| MemberLine::of(member, now)).collect(),
        history: history
            .items
            .iter()
            .map(|row| HistoryLine::of(row, is_scoped))
            .collect(),
        outcomes,
        sent,
        route: AlertRoute::of(&detail.stored.alert, default_route.as_ref(), &names),
        firings: firings
            .iter()
            .map(|firing| FiringReceipt::of(firing, &names, is_scoped))
            .collect(),
        shell: visitor.shell(app, Some(Section::Alerts)),
    })
}

/// Returns the latest firings of an alert with the messages about them.
async fn latest_firings(app: &App, visitor: &Visitor, id: AlertId) -> Result<Vec<FiringWithMessages>, ServiceError> {
    let filter = FiringFilter {
        alert: Some(id),
        since: None,
        unacknowledged: false,
    };
    let request = ListRequest {
        page: RECEIPTS,
        after: None,
    };
    let found = app.service().firings.firings(&visitor.actor, filter, request).await?;
    Ok(found.items)
}

/// Returns what was sent about the latest firings of an alert.
async fn sent(app: &App, visitor: &Visitor, id: AlertId) -> Result<AlertDeliveries, ServiceError> {
    let (service, actor) = (app.service(), &visitor.actor);
    let deliveries = service
        .webhooks
        .deliveries_of_alert(actor, id, MAX_DELIVERED_FIRINGS)
        .await?;
    let messages = service
        .sent_messages
        .messages_of_alert(actor, id, MAX_DELIVERED_FIRINGS)
        .await?;
    // The page is about this alert alone, so its rows do not name it.
    let sentences = AlertSentences::new();
    Ok(AlertDeliveries {
        deliveries: deliveries
            .iter()
            .map(|(webhook, delivery)| DeliveryLine::of(webhook, delivery, &sentences))
            .collect(),
        messages: messages
            .iter()
            .map(|message| MessageLine::of(message, &sentences))
            .collect(),
    })
}

/// Explains an alert on one stock at the present, or at the past moment that was entered.
async fn why(
    app: &App,
    visitor: &Visitor,
    detail: &AlertDetail,
    at: Option<String>,
) -> Result<(Option<Why>, PastMomentInput), ServiceError> {
    if detail.stored.scope().is_some() {
        return Ok((None, PastMomentInput::default()));
    }
    let (alerts, id) = (&app.service().alerts, detail.stored.alert.id);
    let value = at.unwrap_or_default();
    let moment = past_moment(visitor, &value);
    let explained = match moment {
        Ok(at) => alerts.explain_alert(&visitor.actor, id, None, at).await,
        Err(message) => Err(ServiceError::field("at", message)),
    };
    match explained {
        Ok(explained) => Ok((Some(Why::of(&explained)), PastMomentInput { value, error: None })),
        Err(ServiceError::Invalid { fields, .. }) => {
            let error = fields.into_values().flatten().collect::<Vec<_>>().join("; ");
            let explained = alerts.explain_alert(&visitor.actor, id, None, None).await?;
            let error = Some(error);
            Ok((Some(Why::of(&explained)), PastMomentInput { value, error }))
        }
        Err(error) => Err(error),
    }
}

fn past_moment(visitor: &Visitor, text: &str) -> Result<Option<Timestamp>, &'static str> {
    match text {
        "" => Ok(None),
        text => local_moment(&visitor.actor.time_zone, text).map(Some),
    }
}

pub(super) fn alert_not_found_page() -> Response {
    let text = "The alert was deleted or belongs to another account.";
    Page::message("Alert not found", text)
        .with_link("/alerts", "Alerts")
        .with_status(StatusCode::NOT_FOUND)
}
