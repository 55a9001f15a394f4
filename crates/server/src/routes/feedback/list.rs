//! `GET /feedback`

use super::view::FeedbackView;
use crate::routes::prelude::*;

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 100;

/// Query parameters: pagination.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct FeedbackParams {
    /// Page number, starting at 1.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_294_u64, default = 1)]
    page: Option<u32>,
    /// Items per page. Values above 100 are clamped to 100.
    #[param(value_type = Option<u64>, minimum = 1, default = 20)]
    limit: Option<u32>,
}

/// List feedback
///
/// Returns the feedback of all accounts, most liked first, then newest first. Authors are not feedback.
#[utoipa::path(
    get,
    path = "/feedback",
    tag = "Feedback",
    params(FeedbackParams),
    responses((status = 200, description = "A page of feedback", body = Envelope<Vec<FeedbackView>>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_feedback(
    State(app): State<App>,
    caller: AuthenticatedSession,
    mut query: Query,
) -> Result<ApiResponse<Vec<FeedbackView>>, ApiError> {
    let request = query.page(DEFAULT_LIMIT, MAX_LIMIT);
    query.finish()?;
    let page = app.service().feedback.feedback(&caller.actor, request).await?;
    let pagination = Pagination::of(request, page.total);
    let feedback = page.items.into_iter().map(|item| FeedbackView::of(item, &caller.actor));
    Ok(ApiResponse::page(feedback.collect(), pagination))
}
