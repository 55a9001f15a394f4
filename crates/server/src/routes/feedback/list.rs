//! `GET /feedback`

use axum::extract::State;
use utoipa::IntoParams;

use super::view::Feedback;
use crate::answer::{Envelope, Pagination, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::error::ApiError;
use crate::query::Query;

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 100;

/// Which page.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct FeedbackParams {
    /// The page, from 1.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_294_u64, default = 1)]
    page: Option<u32>,
    /// How many a page has; more than 100 are cut to 100.
    #[param(value_type = Option<u64>, minimum = 1, default = 20)]
    limit: Option<u32>,
}

/// List feedback
///
/// Everybody's, what most people like first; of equals the newest. Whose it is, nobody is told.
#[utoipa::path(
    get,
    path = "/feedback",
    tag = "Feedback",
    params(FeedbackParams),
    responses((status = 200, description = "A page of feedback", body = Envelope<Vec<Feedback>>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_feedback(
    State(app): State<App>,
    who: WithSession,
    mut query: Query,
) -> Result<Reply<Vec<Feedback>>, ApiError> {
    let request = query.page(DEFAULT_LIMIT, MAX_LIMIT);
    query.finish()?;
    let page = app.service().feedback.feedback(&who.actor, request).await?;
    let pagination = Pagination::of(request, page.total);
    let shown = page.items.into_iter().map(|seen| Feedback::of(seen, &who.actor));
    Ok(Reply::page(shown.collect(), pagination))
}
