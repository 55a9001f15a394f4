//! `POST /cron/{job}`

use axum::extract::{FromRequestParts, Path};
use foundation::ServiceError;
use http::request::Parts;
use service::cron::{Job, JobReport};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Scheduler;
use crate::body::IgnoredJsonBody;
use crate::document::names::JobName;
use crate::routes::prelude::*;

/// Result of a job.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobView {
    /// Job name.
    #[schema(value_type = JobName, example = "evaluate")]
    pub job: &'static str,
    /// Whether there was work to do.
    pub has_run: bool,
    /// Work that was done, or the reason why there was none.
    #[schema(example = "all due alerts were evaluated, including time alerts")]
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

/// Extractor: the job in the path. An unknown job is 404.
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

/// Run a job now
///
/// For external schedulers; the service also runs all jobs by itself. Requires the operator's secret (`operator.cron_secret`) as
/// a bearer token. With the secret, requests are not rate limited. `has_run` is false if the job has no work to do.
#[utoipa::path(
    post,
    path = "/cron/{job}",
    tag = "Cron",
    params(("job" = JobName, Path, description = "Job name")),
    responses(
        (status = 200, description = "The job has finished", body = Envelope<JobView>),
        (status = 404, description = "Job not found"),
    ),
    security(("CronSecret" = []))
)]
pub(super) async fn run_job(
    State(app): State<App>,
    _caller: Scheduler,
    JobPath(job): JobPath,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<JobView>, ApiError> {
    let report = app.service().jobs.run_job(job).await?;
    Ok(ApiResponse::ok(JobView::of(report)))
}
