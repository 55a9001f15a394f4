//! `POST /alerts/batch`

use service::alerts::{BatchResult, BatchedAlert};

use super::delete::DeletedAlert;
use super::view::AlertFields;
use crate::document::alert_body::ChangeAlerts;
use crate::routes::prelude::*;

/// The alerts after a batch. Each list has the order of the request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangedAlerts)]
pub struct ChangedAlertsView {
    /// The created alerts.
    pub create: Vec<BatchedAlertView>,
    /// The updated alerts.
    pub update: Vec<BatchedAlertView>,
    /// The deleted alerts.
    pub delete: Vec<DeletedAlert>,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// The revision of the source after the batch; null without `source`. It grows with each change of the alerts of the source,
    /// except those of their status.
    #[schema(required, minimum = 0, example = 13)]
    pub source_revision: Option<i64>,
}

/// An alert after a batch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BatchedAlert)]
pub struct BatchedAlertView {
    /// `created`, or `existing` for an equivalent alert that is unchanged; `updated`, or `unchanged`.
    pub result: BatchedAlertResult,
    /// The alert. The id of one that a dry run would create belongs to no alert.
    pub alert: AlertFields,
}

/// The result of a change of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchedAlertResult {
    /// The alert was created.
    Created,
    /// An equivalent alert exists and is unchanged.
    Existing,
    /// The alert was updated.
    Updated,
    /// The alert already was as requested.
    Unchanged,
}

impl ChangedAlertsView {
    fn of(result: BatchResult) -> Self {
        use BatchedAlertResult::{Created, Existing, Unchanged, Updated};
        let view = |alerts: Vec<BatchedAlert>, (changed, same): (BatchedAlertResult, BatchedAlertResult)| {
            let views = alerts.into_iter().map(|alert| BatchedAlertView {
                result: if alert.is_changed { changed } else { same },
                alert: AlertFields::of(alert.detail.stored),
            });
            views.collect()
        };
        Self {
            create: view(result.create, (Created, Existing)),
            update: view(result.update, (Updated, Unchanged)),
            delete: result.delete.into_iter().map(DeletedAlert::of).collect(),
            dry_run: result.is_dry_run,
            source_revision: result.source_revision.map(|revision| revision.0),
        }
    }
}

/// Change many alerts at once
///
/// Creates, updates and deletes alerts in one transaction: all of them, or none. Each change follows the rules of the single request
/// (`POST /alerts`, `PUT /alerts/{id}`, `DELETE /alerts/{id}`) and has its errors. All changes are judged: if some are refused, nothing
/// is changed, and `details.refused` has the error of each. The status is then that of the first of them.
///
/// Deletes come first, then updates, then creates, so that the limits of the plan count after the deletes, and a new alert can have the
/// `managed_by` of a deleted one. At most 1,000 changes; an alert occurs once. Unknown fields of the batch are refused.
///
/// With `dry_run`, the changes are judged in the same way and nothing is written.
///
/// To change the alerts of a source without overwriting the changes of somebody else, read its revision with a dry run
/// (`{"source": "trading-alerts", "dry_run": true}`), then its alerts (`GET /alerts?source=trading-alerts`), and send the revision as
/// `expected_source_revision`: if the alerts of the source have changed since, the response is 409.
#[utoipa::path(
    post,
    path = "/alerts/batch",
    tag = "Alerts",
    request_body(content = ChangeAlerts, description = "The changes"),
    responses(
        (status = 200, description = "All changes are made, or would be in a dry run", body = Envelope<ChangedAlertsView>),
        (status = 404, description = "The first refused change names an unknown alert or stock"),
        (status = 409, description = "The source has changed since the expected revision, or a `managed_by` belongs to another alert"),
        (status = 503, description = "A percent change has no price of the stock, or the service is not available"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn change_alerts(
    State(app): State<App>,
    caller: Authorized<AlertsWrite>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<ChangedAlertsView>, ApiError> {
    let result = app.service().alerts.change_batch(&caller.actor, &body).await?;
    Ok(ApiResponse::ok(ChangedAlertsView::of(result)))
}
