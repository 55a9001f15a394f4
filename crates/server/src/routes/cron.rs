//! `POST /cron/{job}`

use axum::extract::{FromRequestParts, Path, State};
use http::request::Parts;
use serde::Serialize;
use service::ServiceError;
use service::cron::{Job, JobReport};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::Scheduler;
use crate::body::NoBody;
use crate::document::names::JobName;
use crate::error::ApiError;

/// What a job came to.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobView {
    /// Which job.
    #[schema(value_type = JobName, example = "evaluate")]
    pub job: &'static str,
    /// Whether there was anything to do.
    pub has_run: bool,
    /// What was done, or why there was nothing to do.
    #[schema(example = "all alerts that were due were judged, those that go by the clock among them")]
    pub detail: String,
}

impl JobView {
    fn of(report: JobReport) -> Self {
        Self {
            job: report.job.name(),
            has_run: report.has_run,
            detail: report.detail,
        }
    }
}

/// The job in the path; what is none is not found.
#[derive(Clone, Copy, Debug)]
pub struct JobPath(Job);

impl FromRequestParts<App> for JobPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let name = Path::<String>::from_request_parts(parts, app).await;
        let job = name.ok().and_then(|Path(name)| Job::from_name(&name));
        job.map(Self).ok_or_else(|| ServiceError::NotFound("job").into())
    }
}

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(run_job))
}

/// Do a job now
///
/// For those who drive schedules from outside; the service does all of this by itself as well. It takes the operator's secret
/// (`operator.cron_secret`) as a bearer token, and is not limited then. A job without anything to do says so.
#[utoipa::path(
    post,
    path = "/cron/{job}",
    tag = "Cron",
    params(("job" = JobName, Path, description = "The job")),
    responses(
        (status = 200, description = "The job is done", body = Envelope<JobView>),
        (status = 404, description = "No such job"),
    ),
    security(("CronSecret" = []))
)]
pub(super) async fn run_job(
    State(app): State<App>,
    _who: Scheduler,
    JobPath(job): JobPath,
    _body: NoBody,
) -> Result<Reply<JobView>, ApiError> {
    let report = app.service().jobs.run_job(job).await?;
    Ok(Reply::ok(JobView::of(report)))
}
