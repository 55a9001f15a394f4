//! `GET /feedback`

use service::feedback::FeedbackId;

use super::view::FeedbackView;
use crate::routes::prelude::*;

type FeedbackPage = ListParams<FeedbackId, 20, 100>;

/// List feedback
///
/// Returns the feedback of all accounts, most liked first, then newest first. Authors are not shown.
#[utoipa::path(
    get,
    path = "/feedback",
    tag = "Feedback",
    params(FeedbackPage),
    responses((status = 200, description = "A page of feedback", body = Envelope<Vec<FeedbackView>>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_feedback(
    State(app): State<App>,
    caller: AuthenticatedSession,
    ListParams(request): FeedbackPage,
) -> Result<ApiResponse<Vec<FeedbackView>>, ApiError> {
    let page = app.service().feedback.feedback(&caller.actor, request).await?;
    let view = |item| FeedbackView::of(item, &caller.actor);
    Ok(ApiResponse::page(ListPage::of(page, request, view)))
}
