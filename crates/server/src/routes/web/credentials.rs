//! Responses with a form for credentials.

use foundation::ServiceError;
use web::screens::credentials::CredentialsPage;
use web::wording;

use crate::routes::pages::page::{FormTarget, Page, error_page, html_page, with_retry_after};
use crate::routes::prelude::*;

/// Returns the page for a form that does not come from this service's own pages. It names the fix if the page was opened at an
/// address of which the service does not know that it is its own.
pub(super) fn foreign_form_page(app: &App, headers: &HeaderMap) -> Response {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_host = |origin: &&str| origin.split_once("://").is_some_and(|(_, opened)| Some(opened) == host);
    let opened_at = origin.filter(is_host);
    let public_url = app.service().identity.public_url();
    let text = match opened_at {
        Some(opened_at) => format!(
            "The page was opened at {opened_at}, but the address of this service is {public_url}. Open it there. Its operator sets \
             the address as server.public_url."
        ),
        None => "The form does not come from this service's page, or the page was open for too long. Open the page or the link in \
                 the email again with cookies enabled."
            .to_owned(),
    };
    Page::message("The request failed", text).with_status(StatusCode::FORBIDDEN)
}

/// Returns a form.
pub(super) fn credentials_response(page: &CredentialsPage, status: StatusCode) -> Response {
    let mut response = html_page(page.html(), FormTarget::SameOrigin);
    *response.status_mut() = status;
    response
}

/// Returns a form with the errors of its input, or an error page if another input would not help.
pub(super) fn with_errors(mut page: CredentialsPage, error: ServiceError) -> Response {
    let retry_after_s = match &error {
        ServiceError::RateLimited { retry_after_s, .. } | ServiceError::Overloaded { retry_after_s, .. } => {
            Some(*retry_after_s)
        }
        _ => None,
    };
    match error {
        ServiceError::Invalid { fields, .. } => {
            let of = |name: &str| fields.get(name).map(|errors| wording::at_input(errors));
            page.email_error = of("email");
            page.password_error = of("password");
            page.code_error = of("code");
            credentials_response(&page, StatusCode::UNPROCESSABLE_ENTITY)
        }
        error @ (ServiceError::Unauthenticated(_)
        | ServiceError::Forbidden { .. }
        | ServiceError::RateLimited { .. }
        | ServiceError::Conflict(_)
        | ServiceError::Unavailable(_)
        | ServiceError::Overloaded { .. }) => {
            let error = ApiError::from(error);
            page.error = Some(wording::message(error.message()));
            let status = error.status();
            with_retry_after(credentials_response(&page, status), retry_after_s)
        }
        error => error_page(error),
    }
}
