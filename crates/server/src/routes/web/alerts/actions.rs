//! `POST /alerts/actions`: pauses, resumes, snoozes or deletes the selected alerts.

use alerts::AlertId;
use foundation::ServiceError;
use service::alerts::{BulkChange, SnoozeDuration};
use url::form_urlencoded;
use web::layout::Notice;
use web::local_time::LocalTime;
use web::return_path::ReturnPath;
use web::screens::alerts::{AlertOrder, BulkAction, ChangeCounts};

use super::list::{ListRequest, all_alerts};
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;
use crate::routes::web::notice;
use crate::routes::web::response::{message_at_field, see_other};
use crate::routes::web::visitor::Visitor;

/// Changes the selected alerts, or all alerts of the filter.
pub(in crate::routes::web) async fn change_alerts(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let next = form_field(&form, "next");
    let (change, action) = match requested_change(&form) {
        Ok(change) => change,
        Err(error) => return error_page(error),
    };
    let selected = match form_field(&form, "all") {
        "" => Ok(selected_alerts(&form)),
        _ => filtered_alerts(&app, &visitor, next).await,
    };
    let selected = match selected {
        Ok(selected) => selected,
        Err(error) => return api_error_page(&error),
    };
    let result = app
        .service()
        .alerts
        .change_many(&visitor.actor, &selected, change)
        .await;
    let result = match result {
        Ok(result) => result,
        Err(error) => return error_page(error),
    };
    let reason = result.refused.first().map(message_at_field).unwrap_or_default();
    let until = result
        .snoozed_until
        .map(|until| LocalTime::new(until, &visitor.actor.time_zone, app.now()).short)
        .unwrap_or_default();
    let counts = ChangeCounts {
        changed: result.changed,
        unchanged: result.unchanged,
        refused: result.refused.len(),
    };
    let notice = Notice {
        text: action.notice(counts, &reason, &until),
        is_error: result.changed + result.unchanged == 0,
        undo: result.undo.map(|undo| undo.0.to_string()),
    };
    // The page of a deleted alert exists no longer.
    let is_page_of_alert = next.strip_prefix("/alerts/").and_then(uuid).is_some();
    let next = if change == BulkChange::Delete && is_page_of_alert {
        "/alerts"
    } else {
        next
    };
    let mut response = see_other(&visitor.head, next);
    notice::set(&mut response, &notice);
    response
}

fn requested_change(form: &FormFields) -> Result<(BulkChange, BulkAction), ServiceError> {
    match form_field(form, "action") {
        "pause" => Ok((BulkChange::Pause, BulkAction::Pause)),
        "resume" => Ok((BulkChange::Activate, BulkAction::Resume)),
        "delete" => Ok((BulkChange::Delete, BulkAction::Delete)),
        "snooze" => {
            let name = form_field(form, "snooze");
            let duration = SnoozeDuration::ALL.into_iter().find(|duration| duration.name() == name);
            let duration = duration.ok_or_else(|| ServiceError::field("snooze", "must be 1h, 1d or 7d"))?;
            Ok((BulkChange::Snooze(duration), BulkAction::Snooze))
        }
        _ => Err(ServiceError::field("action", "must be pause, resume, snooze or delete")),
    }
}

fn selected_alerts(form: &FormFields) -> Vec<AlertId> {
    let ids = form.0.iter().filter(|(name, _)| name == "alert");
    ids.filter_map(|(_, id)| uuid(id)).map(AlertId).collect()
}

/// Returns the alerts of all pages of the list at an address.
async fn filtered_alerts(app: &App, visitor: &Visitor, address: &str) -> Result<Vec<AlertId>, ApiError> {
    let address = ReturnPath::parse(address).map_or_else(String::new, |path| path.as_str().to_owned());
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let request = ListRequest::read(Query::from_pairs(form_urlencoded::parse(query.as_bytes()).into_owned()))?;
    let found = all_alerts(app, visitor, &request.filter, AlertOrder::Created).await?;
    Ok(found.into_iter().map(|item| item.stored.alert.id).collect())
}
