//! `POST /operator/jobs`: runs a periodic job now.

use foundation::ServiceError;
use service::cron::Job;
use service::operator::require_operator;

use crate::routes::pages::link::form_field;
use crate::routes::pages::page::not_found_page;
use crate::routes::prelude::*;
use crate::routes::web::response::after_change;
use crate::routes::web::visitor::Visitor;

/// Runs the job and tells what it did.
pub(in crate::routes::web) async fn run_job(State(app): State<App>, visitor: Visitor, form: FormFields) -> Response {
    if require_operator(&visitor.actor).is_err() {
        return not_found_page();
    }
    let result = match Job::from_name(form_field(&form, "job")) {
        Some(job) => app.service().jobs.run_job(job).await,
        None => Err(ServiceError::NotFound("job")),
    };
    let result = result.map(|report| format!("{}: {}", report.job.name(), report.detail));
    after_change(&visitor.head, "/operator", result)
}
