//! `POST /cron/{job}`

use service::cron::JobReport;

use crate::auth::Scheduler;
use crate::document::names::JobName;
use crate::query::JobPath;
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
